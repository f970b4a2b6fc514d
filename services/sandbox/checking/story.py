"""What led to a violation, told in a few lines: the records of its turn or channel, its calls, and the faults around.

12.345 s  prompts/1@4          ProviderRequest       m77 g1      openai-chat · …
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from schemas.claims import Alive, Claimed, Closed
from schemas.deliveries import SendText
from schemas.identities import nonce, turn_of_message
from schemas.inbox import ChunkBatch, MessageReceived
from schemas.raw import RawEnd, RawSlice
from schemas.stops import StopRequested
from services.sandbox.checking.history import History, Violation
from services.sandbox.checking.reading import DeadLetter, Read, read_all
from services.sandbox.page.glance import glance, json_object

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class _Line:
    at: float
    order: int
    text: str


def tell(history: History, violation: Violation, lines: int = 40) -> str:
    """The violation, and at most `lines` lines of what stands around it in time, the larger part of them before it.

    Of a violation that names a turn the turn's records are told, else those of its channel, else all.
    """
    told = sorted(_told(history, violation), key=lambda line: (line.at, line.order))
    until = inf if violation.at is None else violation.at
    place = sum(line.at <= until for line in told)
    after = max(lines // 8, lines - place)
    begin = max(0, place - (lines - min(after, len(told) - place)))
    shown = told[begin : begin + lines]
    where = " ".join(
        f"{name} {value}" for name, value in (("channel", violation.channel), ("turn", violation.turn)) if value
    )
    head = f"invariant {violation.invariant}{f' ({where})' if where else ''}: {violation.what}"
    left = [f"({begin} lines before)"] if begin else []
    rest = len(told) - begin - len(shown)
    return "\n".join([head, *left, *(line.text for line in shown), *([f"({rest} lines after)"] if rest else [])])


def _told(history: History, violation: Violation) -> Iterator[_Line]:
    last = 0
    texts: dict[str, int] = {}
    for read in read_all(history):
        last = read.order
        if isinstance(read.content, SendText) and read.content.turn == violation.turn:
            texts[nonce(read.content.turn, read.content.sequence)] = read.content.sequence
        if _concerns(read, violation):
            yield _Line(read.at, read.order, _record(read))
    for at, what in history.events:
        yield _Line(at, last, f"{_time(at)}  *** {what}")
    for name, start, end in history.frozen:
        yield _Line(start, last, f"{_time(start)}  *** {name} cannot react until {_time(end).strip()}")
    for call in history.calls:
        if violation.turn not in (None, call.turn):
            continue
        name = f"call of {call.turn} g{call.generation} by {call.instance}"
        yield _Line(call.opened_at, last, f"{_time(call.opened_at)}  --> {name}")
        if call.closed_at is not None:
            ended = "ends" if call.finished else "is closed"
            yield _Line(call.closed_at, last, f"{_time(call.closed_at)}  <-- {name} {ended}, {len(call.sent)} bytes")
    yield from _shown(history, violation, last, texts)


def _shown(history: History, violation: Violation, last: int, texts: dict[str, int]) -> Iterator[_Line]:
    for message in history.shown:
        if violation.channel not in (None, message.channel):
            continue
        if violation.turn is not None and message.nonce is not None and message.nonce not in texts:
            continue
        number = texts.get(message.nonce or "", "?")
        text = f"{_time(message.at)}  ### shown: message {message.message_id}, text {number}: {message.text!r}"
        yield _Line(message.at, last, text[: _WIDTH + 40])


def _concerns(read: Read, violation: Violation) -> bool:
    content, facts = read.content, read.facts
    if isinstance(content, Alive):
        return False
    if violation.turn is None:
        return violation.channel is None or facts is None or facts.channel == violation.channel
    if isinstance(content, Claimed | Closed):
        return f":{violation.turn}:" in content.effect
    if isinstance(content, DeadLetter):
        return content.original is None or content.original.turn in (None, violation.turn)
    if isinstance(content, MessageReceived):
        return turn_of_message(content.message_id) == violation.turn
    if isinstance(content, StopRequested) or read.topic == "channels":
        return facts is not None and violation.channel in (None, facts.channel)
    return facts is None or facts.turn == violation.turn


def _record(read: Read) -> str:
    facts = read.facts
    kind = "?" if facts is None else facts.type
    names = [] if facts is None else [
        facts.turn or "",
        "" if facts.generation is None else f"g{facts.generation}",
        "" if facts.sequence is None else f"s{facts.sequence}",
        "" if facts.cause is None else f"because of {facts.cause}",
        _instance(read),
    ]  # fmt: skip
    if read.copy_of is not None:
        names.append(f"again ({read.copy_of.where})")
    if read.problem is not None:
        names.append(f"UNREADABLE ({read.problem})")
    headers = {name: value.decode("utf-8", "replace") for name, value in read.record.headers}
    seen = glance(kind, headers, read.record.value, json_object(read.record.value))
    facts_told = " ".join(name for name in names if name)
    return f"{_time(read.at)}  {read.where:18}  {kind:19}  {facts_told}  {seen[:_WIDTH]}".rstrip()


def _instance(read: Read) -> str:
    match read.content:
        case RawSlice() | RawEnd():
            return f"by {read.content.origin.instance}"
        case ChunkBatch() | Claimed():
            return f"by {read.content.instance}"
        case Closed():
            return f"by {read.content.by}"
        case _:
            return ""


def _time(at: float) -> str:
    return f"{at:10.3f} s"
