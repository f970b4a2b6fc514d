"""A run told by hand: every worker's records, made by the real fold, the real normalizer and the real encoders."""

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from schemas.base import Record
from schemas.claims import Claimed, Closed, Closing
from schemas.deliveries import SendText
from schemas.headers import Facts
from schemas.identities import nonce, stream_effect, traceparent, turn_of_message
from schemas.inbox import Author, DeliveryReceipt, FoldSettings, MessageReceived, Outcome, Sent, Skipped
from schemas.prompts import CredentialRef, ProviderRequest
from schemas.raw import END, SLICE, VERSION, Ending, RawEnd, RawOrigin, RawSlice
from schemas.stops import ChannelTurns, OneTurn, StopRequested
from services.normalizer.streams import Counted, Streams
from services.orchestrator.deadlines import Armed
from services.orchestrator.fold import Event, fold
from services.orchestrator.state import ChannelState, to_snapshot
from services.orchestrator.step import Position
from services.runtime.dead_letters import dead_letter
from services.runtime.log import LogRecord, NewRecord
from services.runtime.outputs import bare, output
from services.runtime.partitions import partition_of
from services.sandbox.checking.history import (
    Commit,
    History,
    Kept,
    Owned,
    ProviderCall,
    ShownMessage,
    SnapshotLoaded,
    Written,
)

PARTITIONS = 2
CHANNEL = "101"
EPOCH_MS = 1_780_000_000_000
CONSUMED = {
    "inbox": "orchestrator",
    "generations": "context",
    "prompts": "provider",
    "raw": "normalizer",
    "deliveries": "delivery",
}


def sse(text: str | None = None, **choice: object) -> bytes:
    delta = {} if text is None else {"content": text}
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, **choice}]}).encode() + b"\n\n"


DONE = sse(finish_reason="stop") + b"data: [DONE]\n\n"


@dataclass
class Run:
    """Times go on by 10 ms an append."""

    now: float = 1.0
    writes: list[Written] = field(default_factory=list)
    calls: list[ProviderCall] = field(default_factory=list)
    shown: list[ShownMessage] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    states: dict[str, ChannelState] = field(default_factory=dict)
    folded: dict[str, int] = field(default_factory=dict)
    ends: dict[tuple[str, int], int] = field(default_factory=lambda: defaultdict(int))
    streams: Streams[None] = field(default_factory=Streams)
    pending: list[tuple[SendText, int]] = field(default_factory=list)

    # -- the log ---------------------------------------------------------------------------------------------------

    def append(self, new: NewRecord) -> Written:
        self.now += 0.01
        partition = partition_of(new.key, 1 if new.topic == "control" else PARTITIONS)
        if new.partition is not None:
            partition = new.partition
        place = (new.topic, partition)
        record = LogRecord(
            topic=new.topic,
            partition=partition,
            offset=self.ends[place],
            timestamp_ms=EPOCH_MS + round(self.now * 1000),
            key=new.key,
            value=new.value,
            headers=new.headers,
        )
        self.ends[place] += 1
        written = Written(self.now, len(self.writes), record)
        self.writes.append(written)
        return written

    def again(self, written: Written) -> Written:
        """The same record once more."""
        old = written.record
        copy = self.append(NewRecord(old.topic, old.key or b"", old.value, old.headers, old.partition))
        if old.topic == "inbox":
            self._fold_copy(copy)
        return copy

    def _fold_copy(self, written: Written) -> None:
        """A repetition changes nothing, which the fold sees for itself."""
        channel = dict(written.record.headers)["channel"].decode()
        self.folded[channel] = written.record.offset

    def find(self, kind: str, number: int = 0) -> Written:
        return [w for w in self.writes if dict(w.record.headers).get("type") == kind.encode()][number]

    def event(self, event: Event, event_id: str, channel: str = CHANNEL, **facts: object) -> Written:
        """Append to inbox, fold, and append what comes out."""
        written = self.append(output("inbox", event, channel=channel, event_id=event_id, **facts))  # type: ignore[arg-type]
        state = self.states.get(channel, ChannelState(channel_id=channel))
        folded = fold(state, event, Position(written.record.offset, written.record.timestamp_ms))
        self.states[channel], self.folded[channel] = folded.state, written.record.offset
        for out in folded.outputs:
            self.append(
                output(
                    out.topic, out.record, channel=channel, event_id=out.id, turn=out.record.turn,
                    generation=out.generation, sequence=out.sequence, cause=out.cause,
                )
            )  # fmt: skip
            if isinstance(out.record, SendText):
                self.pending.append((out.record, out.cause))
        return written

    def snapshot(self, channel: str = CHANNEL) -> Written:
        settled = self.folded[channel]
        snapshot = to_snapshot(self.states[channel], settled)
        return self.append(
            output("channels", snapshot, channel=channel, event_id=f"snapshot:{channel}:{settled}", cause=settled)
        )

    def commit(self) -> None:
        self.now += 0.01
        for (topic, partition), end in self.ends.items():
            if topic in CONSUMED:
                self.commits.append(Commit(self.now, CONSUMED[topic], topic, partition, end))

    # -- users -----------------------------------------------------------------------------------------------------

    def say(self, number: int, channel: str = CHANNEL, author: str = "1", **settings: object) -> str:
        message = MessageReceived(
            channel_id=channel,
            guild_id=None,
            message_id=str(number),
            author=Author(id=author, name=f"user {author}"),
            content="hello",
            source="direct",
            settings=FoldSettings.model_validate(settings),
        )
        turn = turn_of_message(str(number))
        self.event(message, f"message:{number}", channel, turn=turn)
        return turn

    def stop(
        self, number: int, turn: str | None = None, manner: str = "graceful", channel: str = CHANNEL,
        topics: tuple[str, ...] = ("control", "inbox"),
    ) -> None:  # fmt: skip
        stop = StopRequested.model_validate(
            {
                "channel_id": channel,
                "stop_id": str(number),
                "target": OneTurn(turn=turn) if turn is not None else ChannelTurns(before=str(number)),
                "manner": manner,
                "requested_by": "1",
            }
        )
        if "control" in topics:
            self.append(output("control", stop, channel=channel, event_id=f"stop:{number}", turn=turn))
        if "inbox" in topics:
            self.event(stop, f"stop:{number}", channel, turn=turn)

    # -- streams ---------------------------------------------------------------------------------------------------

    def prompt(self, turn: str, generation: int = 1, channel: str = CHANNEL) -> Written:
        request = ProviderRequest(
            channel_id=channel,
            turn=turn,
            generation=generation,
            caused_by=turn[1:],
            dialect="openai-chat",
            provider="127.0.0.1",
            model="m",
            url="http://127.0.0.1:9/v1",
            body={},
            credential=CredentialRef(name="", placement="none"),
        )
        return self.append(
            output("prompts", request, channel=channel, event_id=f"prompt:{turn}:{generation}", turn=turn,
                   generation=generation)
        )  # fmt: skip

    def claim(self, turn: str, generation: int = 1, instance: str = "provider-0", channel: str = CHANNEL) -> None:
        effect = stream_effect(turn, generation)
        claimed = Claimed(effect=effect, instance=instance, incarnation=f"{instance}:1")
        self.append(output("claims", claimed, channel=channel, event_id=f"{effect}:claimed:{instance}:1"))

    def close(
        self, turn: str, outcome: Closing, generation: int = 1, instance: str = "provider-0", channel: str = CHANNEL
    ) -> None:
        effect = stream_effect(turn, generation)
        closed = Closed(effect=effect, outcome=outcome, by=f"{instance}:1")
        self.append(output("claims", closed, channel=channel, event_id=f"{effect}:closed:{instance}:1"))

    def slice(
        self, turn: str, sequence: int, data: bytes, generation: int = 1, instance: str = "provider-0",
        channel: str = CHANNEL, masked: bool = False,
    ) -> Written:  # fmt: skip
        raw = RawSlice(_origin(turn, generation, instance), sequence, 200, "text/event-stream", masked)
        return self._raw(raw, SLICE, sequence, data, channel)

    def end(
        self, turn: str, sequence: int | None, ending: Ending, generation: int = 1, instance: str = "provider-0",
        channel: str = CHANNEL,
    ) -> Written:  # fmt: skip
        raw = RawEnd(_origin(turn, generation, instance), sequence, ending, 200)
        return self._raw(raw, END, sequence, b"", channel)

    def _raw(self, raw: RawSlice | RawEnd, kind: str, sequence: int | None, data: bytes, channel: str) -> Written:
        origin = raw.origin
        event_id = f"raw:{origin.turn}:{origin.generation}:{origin.instance}:{sequence}"
        facts = Facts(
            type=kind, version=VERSION, id=event_id, channel=channel, turn=origin.turn, generation=origin.generation,
            sequence=sequence, traceparent=traceparent(origin.turn, event_id),
        )  # fmt: skip
        written = self.append(bare("raw", data, facts, raw.headers()))
        if isinstance(raw, RawSlice):
            outcome = self.streams.slice(raw, data, lambda: None)
        else:
            outcome = self.streams.end(raw, written.record.timestamp_ms)
        if isinstance(outcome, Counted):
            batch = outcome.batch
            self.event(
                batch, f"batch:{batch.turn}:{batch.generation}:{batch.sequence}", channel, turn=batch.turn,
                generation=batch.generation, sequence=batch.sequence,
            )  # fmt: skip
        return written

    def call(
        self, turn: str, *texts: str, generation: int = 1, instance: str = "provider-0", channel: str = CHANNEL,
        ending: Ending = "eof", lasts: float = 0.0,
    ) -> None:  # fmt: skip
        """A generation from its prompt to its end. `lasts`: seconds between the last text and the end."""
        self.prompt(turn, generation, channel)
        self.claim(turn, generation, instance, channel)
        opened = self.now
        parts = [sse(text) for text in texts]
        if ending == "eof":
            parts.append(DONE)
        for sequence, part in enumerate(parts):
            if sequence == len(parts) - 1:
                self.now += lasts
            self.slice(turn, sequence, part, generation, instance, channel)
        whole = ending == "eof"
        self.calls.append(ProviderCall(turn, generation, instance, opened, self.now, b"".join(parts), finished=whole))
        self.now += 0.01
        if ending == "lost":
            self.close(turn, "lost", generation, "provider-1", channel)
            self.end(turn, None, "lost", generation, "provider-1", channel)
        else:
            self.end(turn, len(parts), ending, generation, instance, channel)
            self.close(turn, "done" if whole else "stopped", generation, instance, channel)

    def begin(self, turn: str, text: str = "One.\n\n", generation: int = 1, instance: str = "provider-0") -> None:
        """A generation up to its first text."""
        self.prompt(turn, generation)
        self.claim(turn, generation, instance)
        self.calls.append(ProviderCall(turn, generation, instance, self.now, None, sse(text), finished=False))
        self.slice(turn, 0, sse(text), generation, instance)

    def halt(self, turn: str, generation: int = 1, instance: str = "provider-0", after: float = 0.1) -> None:
        """The holder of a generation that has begun closes it `after` seconds from now, as stopped."""
        self.now += after
        self.calls[-1] = replace(self.calls[-1], closed_at=self.now)
        self.end(turn, 1, "stopped", generation, instance)
        self.close(turn, "stopped", generation, instance)

    # -- Discord ---------------------------------------------------------------------------------------------------

    def deliver(self, outcome: Outcome | None = None) -> None:
        """Show and receipt what was put out, and what comes out because of it; `outcome` for all instead of sent."""
        while self.pending:
            send, cause = self.pending.pop(0)
            result = outcome
            if result is None:
                self.now += 0.01
                message_id = str(9_000_000 + len(self.shown))
                mark = nonce(send.turn, send.sequence)
                self.shown.append(ShownMessage(send.channel_id, message_id, send.text, mark, self.now))
                result = Sent(message_id=message_id)
            self.event(
                DeliveryReceipt(turn=send.turn, sequence=send.sequence, outcome=result),
                f"receipt:{send.turn}:{send.sequence}", send.channel_id, turn=send.turn, sequence=send.sequence,
                cause=cause,
            )  # fmt: skip

    def skip(self) -> None:
        """The receipts of what a Cancel hit."""
        self.deliver(Skipped(reason="cancelled"))

    # -- trouble ---------------------------------------------------------------------------------------------------

    def fire(self, armed: Armed, channel: str = CHANNEL) -> Written:
        event_id = f"timer:{armed.turn}:{armed.timer}:{armed.armed_by}"
        return self.event(armed.fired(), event_id, channel, turn=armed.turn, generation=armed.generation)

    def bury(self, written: Written, service: str, reason: str = "invalid_value") -> Written:
        return self.append(
            dead_letter(written.record, service=service, reason=reason, message="no", max_bytes=1_000_000)
        )

    def poison(self, topic: str, facts: Facts) -> Written:
        return self.append(bare(topic, b"{}", facts))

    # -- the outcome -----------------------------------------------------------------------------------------------

    def record(self, topic: str, record: Record, event_id: str, channel: str = CHANNEL, **facts: object) -> Written:
        """Any record of JSON, as nobody would write it."""
        return self.append(output(topic, record, channel=channel, event_id=event_id, **facts))  # type: ignore[arg-type]

    def rest(self) -> History:
        """Snapshots of all channels, the last commits, and the history so far, at rest."""
        for channel in self.states:
            self.snapshot(channel)
        self.commit()
        loads = [
            SnapshotLoaded(self.now, channel, settled, self.ends["inbox", partition_of(channel.encode(), PARTITIONS)])
            for channel, settled in self.folded.items()
        ]
        return History(
            partitions=PARTITIONS,
            at_rest=True,
            writes=list(self.writes),
            calls=list(self.calls),
            shown=list(self.shown),
            commits=list(self.commits),
            ends=dict(self.ends),
            owners=[Owned(0.1, "inbox", 0, "member-1"), Owned(0.1, "inbox", 1, "member-1")],
            kept=[Kept(5.0, "inbox", 0, "member-1", since=0.2)],
            loads=loads,
        )


def _origin(turn: str, generation: int, instance: str) -> RawOrigin:
    return RawOrigin(turn, generation, instance, "openai-chat", "m")


def a_turn(run: Run, number: int = 1, channel: str = CHANNEL) -> str:
    """A whole turn whose reply is three messages."""
    turn = run.say(number, channel)
    run.call(turn, "One.\n\n", "Two.\n\n", "Three.", channel=channel)
    run.deliver()
    return turn


@pytest.fixture
def run() -> Run:
    return Run()


@pytest.fixture
def whole_turn() -> Callable[..., str]:
    return a_turn
