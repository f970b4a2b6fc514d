"""The index over a history: every record in the places where a check looks for it. Built once, linear in the history.

Of repeated records the first copy in the log counts, as it does for every reader; an event or a slice that its reader put
into the dead letters counts for nothing.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property

from schemas.channels import ChannelSnapshot
from schemas.claims import Claimed, Closed
from schemas.deliveries import Cancel, ClearStopButton, SendText, Typing
from schemas.generations import GenerationRequested
from schemas.identities import nonce, turn_of_message
from schemas.inbox import ChunkBatch, DeliveryReceipt, GenerationFailed, MessageReceived
from schemas.prompts import ProviderRequest
from schemas.raw import RawEnd, RawSlice
from schemas.stops import StopRequested, TurnInterrupted, selects
from schemas.turns import TurnFinished
from services.sandbox.checking.folding import EVENTS, Folding, fold_again
from services.sandbox.checking.history import History, ProviderCall, ShownMessage
from services.sandbox.checking.reading import CONSUMERS, DeadLetter, Place, Read, read_all
from services.sandbox.checking.streams import StreamId, StreamView


@dataclass(slots=True)
class TurnView:
    """One turn, by first copies. `batches` and `failures` are in inbox order, copies included."""

    id: str
    channel: str | None = None
    message: Read | None = None
    caused_by: str | None = None
    requests: dict[int, Read] = field(default_factory=dict[int, Read])
    prompts: dict[int, list[Read]] = field(default_factory=dict[int, list[Read]])
    batches: dict[int, list[Read]] = field(default_factory=dict[int, list[Read]])
    failures: dict[int, list[Read]] = field(default_factory=dict[int, list[Read]])
    sends: dict[int, Read] = field(default_factory=dict[int, Read])
    receipts: dict[int, Read] = field(default_factory=dict[int, Read])
    results: list[Read] = field(default_factory=list[Read])

    @property
    def finished(self) -> TurnFinished | None:
        """The result that counts."""
        content = self.results[0].content if self.results else None
        return content if isinstance(content, TurnFinished) else None


@dataclass(slots=True)
class ClaimView:
    """One effect: the claim that won, and the close that counts."""

    effect: str
    winner: Read | None = None
    closed: Read | None = None


@dataclass(frozen=True, slots=True)
class ControlStop:
    """A stop or interrupt as it stands in control, its first copy."""

    read: Read
    record: StopRequested | TurnInterrupted

    def hits(self, turn: str, caused_by: str | None) -> bool:
        """Whether it selects the turn."""
        match self.record:
            case TurnInterrupted():
                return self.record.turn == turn
            case StopRequested():
                return selects(self.record.target, turn=turn, caused_by=caused_by or "9" * 20)


class Index:
    """What the checks look at."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.reads = read_all(history)
        self.turns: dict[str, TurnView] = {}
        self.streams: dict[StreamId, StreamView] = {}
        self.claims: dict[str, ClaimView] = {}
        self.dead: dict[Place, list[Read]] = defaultdict(list)
        self.poisoned: set[str] = set()
        self.events: dict[str, list[Read]] = defaultdict(list)
        self.snapshots: dict[str, list[Read]] = defaultdict(list)
        self.requests: dict[str, list[Read]] = defaultdict(list)
        self.control: dict[str, list[ControlStop]] = defaultdict(list)
        self.consumed: dict[tuple[str, int], list[Read]] = defaultdict(list)
        self.outputs: list[Read] = []
        self.calls: dict[StreamId, list[ProviderCall]] = defaultdict(list)
        self._index_dead_letters()
        for read in self.reads:
            self._take(read)
        for call in history.calls:
            self.calls[call.turn, call.generation].append(call)

    # -- what is asked for -----------------------------------------------------------------------------------------

    @cached_property
    def foldings(self) -> dict[str, Folding]:
        """Every channel's inbox, folded again."""
        wanted = {
            channel: {read.content.settled for read in reads if isinstance(read.content, ChannelSnapshot)}
            for channel, reads in self.snapshots.items()
        }
        rules = self.history.rules
        return {
            channel: fold_again(channel, reads, wanted.get(channel, ()), rules)
            for channel, reads in self.events.items()
        }

    @cached_property
    def written(self) -> dict[tuple[str, str], Read]:
        """The orchestrator's outputs by topic and event id, first copies."""
        return {
            (read.topic, read.facts.id): read
            for read in self.outputs
            if read.copy_of is None and read.facts is not None
        }

    @cached_property
    def shown(self) -> dict[tuple[str, int], list[ShownMessage]]:
        """What Discord shows of each (turn, sequence), in Discord's order."""
        by_nonce: dict[str, tuple[str, int]] = {}
        by_message: dict[str, tuple[str, int]] = {}
        for turn in self.turns.values():
            for sequence in turn.sends:
                by_nonce[nonce(turn.id, sequence)] = (turn.id, sequence)
            for sequence, read in turn.receipts.items():
                message_id = _message_id(read)
                if message_id is not None:
                    by_message[message_id] = (turn.id, sequence)
        shown: dict[tuple[str, int], list[ShownMessage]] = defaultdict(list)
        for message in self.history.shown:
            # Discord's history tells no nonces, so an observer of the real one knows a message by its receipt alone.
            key = by_message.get(message.message_id) if message.nonce is None else by_nonce.get(message.nonce)
            if key is not None:
                shown[key].append(message)
        return shown

    @cached_property
    def until(self) -> float:
        """The time of the last thing that the history knows."""
        history = self.history
        times = [read.at for read in self.reads[-1:]]
        times += [call.opened_at for call in history.calls]
        times += [call.closed_at for call in history.calls if call.closed_at is not None]
        times += [message.at for message in history.shown]
        times += [commit.at for commit in history.commits or ()]
        return max(times, default=0.0)

    def turn(self, turn: str) -> TurnView:
        """The turn's view, made at its first use."""
        view = self.turns.get(turn)
        if view is None:
            view = self.turns[turn] = TurnView(turn)
        return view

    def refused(self, place: Place) -> Read | None:
        """The dead letter of the record at that place, its first copy."""
        letters = self.dead.get(place)
        return letters[0] if letters else None

    # -- building --------------------------------------------------------------------------------------------------

    def _index_dead_letters(self) -> None:
        for read in self.reads:
            if isinstance(read.content, DeadLetter):
                self.dead[read.content.origin].append(read)
                original = read.content.original
                if original is not None and original.turn is not None:
                    self.poisoned.add(original.turn)
            elif read.problem is not None and read.turn is not None:
                self.poisoned.add(read.turn)

    def _take(self, read: Read) -> None:
        if read.topic in CONSUMERS:
            self.consumed[read.topic, read.record.partition].append(read)
        content = read.content
        refused = read.place in self.dead
        if isinstance(content, RawSlice | RawEnd):
            self._take_raw(read, content, refused=refused)
            return
        if content is None or read.facts is None:
            return
        if read.topic == "inbox":
            if not refused:
                self._take_event(read)
            return
        match content:
            case GenerationRequested():
                self._place(read, content.turn, content.channel_id).requests.setdefault(content.generation, read)
                self.requests[content.channel_id].append(read)
                self.outputs.append(read)
            case ProviderRequest():
                turn = self._place(read, content.turn, content.channel_id)
                turn.caused_by = turn.caused_by or content.caused_by
                turn.prompts.setdefault(content.generation, []).append(read)
            case SendText():
                self._place(read, content.turn, content.channel_id).sends.setdefault(content.sequence, read)
                self.outputs.append(read)
            case Typing() | ClearStopButton() | Cancel():
                self._place(read, content.turn, content.channel_id)
                self.outputs.append(read)
            case TurnFinished():
                self._place(read, content.turn, content.channel_id).results.append(read)
                self.outputs.append(read)
            case TurnInterrupted():
                self.outputs.append(read)
                self._take_control(read, content)
            case StopRequested():
                self._take_control(read, content)
            case Claimed() | Closed():
                self._take_claim(read, content)
            case ChannelSnapshot():
                self.snapshots[content.channel_id].append(read)
            case _:
                pass

    def _place(self, read: Read, turn: str, channel: str) -> TurnView:
        view = self.turn(turn)
        view.channel = view.channel or channel
        return view

    def _take_raw(self, read: Read, content: RawSlice | RawEnd, *, refused: bool) -> None:
        stream_id = (content.origin.turn, content.origin.generation)
        stream = self.streams.get(stream_id)
        if stream is None:
            stream = self.streams[stream_id] = StreamView(stream_id)
        stream.take(read, refused=refused)

    def _take_event(self, read: Read) -> None:
        content, facts = read.content, read.facts
        if facts is None or not isinstance(content, EVENTS):
            return
        self.events[facts.channel].append(read)
        match content:
            case MessageReceived():
                view = self._place(read, turn_of_message(content.message_id), content.channel_id)
                view.caused_by = content.message_id
                view.message = view.message or read
            case ChunkBatch():
                self.turn(content.turn).batches.setdefault(content.generation, []).append(read)
            case GenerationFailed():
                self.turn(content.turn).failures.setdefault(content.generation, []).append(read)
            case DeliveryReceipt():
                self.turn(content.turn).receipts.setdefault(content.sequence, read)
            case _:
                pass

    def _take_control(self, read: Read, content: StopRequested | TurnInterrupted) -> None:
        if read.copy_of is None:
            self.control[content.channel_id].append(ControlStop(read, content))

    def _take_claim(self, read: Read, content: Claimed | Closed) -> None:
        view = self.claims.get(content.effect)
        if view is None:
            view = self.claims[content.effect] = ClaimView(content.effect)
        if isinstance(content, Closed):
            view.closed = view.closed or read
        elif view.winner is None and view.closed is None:
            view.winner = read


def _message_id(read: Read) -> str | None:
    content = read.content
    if isinstance(content, DeliveryReceipt) and content.outcome.kind == "sent":
        return content.outcome.message_id
    return None
