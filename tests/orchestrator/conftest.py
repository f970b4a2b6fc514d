"""A channel whose events a test tells in a few words, folded as the worker does it."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from schemas.attempts import AttemptFacts, Uncalled
from schemas.channels import ChannelSnapshot
from schemas.chunks import DoneChunk, DoneMetadata, ErrorChunk, ProcessedChunk, ProviderError, TextChunk
from schemas.deliveries import Cancel, ClearStopButton, SendText, Typing
from schemas.generations import GenerationRequested
from schemas.inbox import (
    Author,
    ChunkBatch,
    DeliveryReceipt,
    Failed,
    FoldSettings,
    GenerationFailed,
    MessageReceived,
    Outcome,
    Refused,
    Sent,
)
from schemas.stops import ChannelTurns, OneTurn, StopRequested, TurnInterrupted
from schemas.turns import TurnFinished
from services.orchestrator.deadlines import Armed, deadlines
from services.orchestrator.fold import Event, fold
from services.orchestrator.outputs import Output
from services.orchestrator.state import ChannelState, from_snapshot, to_snapshot
from services.orchestrator.step import Position

CHANNEL = "500"
START_MS = 1_700_000_000_000


@dataclass
class Channel:
    """One channel. Every event is folded twice, and once more from a snapshot: all three must agree."""

    state: ChannelState = field(default_factory=lambda: ChannelState(channel_id=CHANNEL))
    now: int = START_MS
    offset: int = 0
    outputs: list[Output] = field(default_factory=list)
    history: list[tuple[Event, int]] = field(default_factory=list)
    largest_snapshot: int = 0
    rules: int = 2

    def tell(self, event: Event) -> list[Output]:
        at = Position(self.offset, self.now)
        folded = fold(self.state, event, at)
        assert folded == fold(self.state, event, at)
        value = to_snapshot(self.state, self.offset).model_dump_json()
        self.largest_snapshot = max(self.largest_snapshot, len(value.encode()))
        restored = from_snapshot(ChannelSnapshot.model_validate_json(value))
        assert restored == self.state
        assert fold(restored, event, at) == folded
        self.history.append((event, self.now))
        self.offset += 1
        self.now += 10
        self.state = folded.state
        self.outputs += folded.outputs
        return list(folded.outputs)

    def message(
        self,
        number: int,
        *,
        author: str = "1",
        guild: str | None = None,
        refused: str | None = None,
        content: str = "hello",
        rules_version: int | None = None,
        **settings: object,
    ) -> list[Output]:
        return self.tell(
            MessageReceived(
                channel_id=CHANNEL,
                guild_id=guild,
                message_id=str(number),
                author=Author(id=author, name=f"user {author}"),
                content=content,
                source="direct",
                settings=FoldSettings.model_validate(settings),
                rules_version=rules_version or self.rules,
                **({} if refused is None else {"admission": Refused(reason="cooldown", notice=refused)}),
            )
        )

    def batch(self, *chunks: ProcessedChunk, end: str | None = None, **changes: object) -> list[Output]:
        """The next batch of the current generation."""
        turn = self.state.turn
        assert turn is not None
        values = {
            "turn": turn.id,
            "generation": turn.generation.number,
            "sequence": turn.generation.next_batch,
            "instance": turn.generation.instance or "provider-0",
            "chunks": chunks,
            "end": end,
        }
        return self.tell(ChunkBatch.model_validate(values | changes))

    def text(self, content: str) -> list[Output]:
        return self.batch(TextChunk(content=content))

    def done(self, **metadata: object) -> list[Output]:
        return self.batch(DoneChunk(metadata=DoneMetadata(**({"finish_reason": "stop"} | metadata))), end="eof")

    def error(self, code: str = "boom", **changes: object) -> list[Output]:
        values = {"type": "api_error", "code": code, "message": "it broke", "retryable": False}
        return self.batch(ErrorChunk(error=ProviderError.model_validate(values | changes)), end="eof")

    def lost(self) -> list[Output]:
        error = ProviderError(type="api_error", code="lost", message="lost", retryable=True)
        return self.batch(ErrorChunk(error=error), end="lost")

    def used(self, end: str, *chunks: ProcessedChunk, status: int | None = None, **facts: object) -> list[Output]:
        """The end of the current stream, which says what its call used."""
        chosen = {"provider": "home", "model": "m", "credential": "key"}
        attempt = AttemptFacts.model_validate({"chosen": chosen} | facts)
        return self.batch(*chunks, end=end, attempt=attempt, http_status=status)

    def refused(self, status: int, message: str = "no", **facts: object) -> list[Output]:
        """The provider refuses the current call."""
        values = {"type": "api_error", "code": str(status), "message": message, "retryable": False}
        error = {name: facts.pop(name) for name in list(facts) if name in ProviderError.model_fields}
        chunk = ErrorChunk(error=ProviderError.model_validate(values | error))
        return self.used("http_error", chunk, status=status, **facts)

    def failed(self, code: str, attempt: AttemptFacts | None = None, uncalled: Uncalled | None = None) -> list[Output]:
        """No call could be made for the current generation."""
        turn = self.state.turn
        assert turn is not None
        error = ProviderError(type="api_error", code=code, message=code, retryable=False)
        number = turn.generation.number
        return self.tell(
            GenerationFailed(turn=turn.id, generation=number, error=error, attempt=attempt, uncalled=uncalled)
        )

    def wait(self) -> list[Output]:
        """Let the pause before the current attempt end."""
        return self.fire(self.armed("generation")[0])

    def reply(self, *texts: str) -> None:
        """The whole stream of the current turn, and the receipts of its messages."""
        for text in texts:
            self.text(text)
        self.done()
        self.receive_all()

    def stop(self, number: int, *, turn: str | None = None, manner: str = "graceful") -> list[Output]:
        target = ChannelTurns(before=str(number)) if turn is None else OneTurn(turn=turn)
        return self.tell(
            StopRequested.model_validate(
                {
                    "channel_id": CHANNEL,
                    "stop_id": str(number),
                    "target": target,
                    "manner": manner,
                    "requested_by": "1",
                }
            )
        )

    def receipt(self, turn: str, sequence: int, outcome: Outcome | None = None) -> list[Output]:
        sent = Sent(message_id=str(10_000 + self.offset))
        return self.tell(DeliveryReceipt(turn=turn, sequence=sequence, outcome=outcome or sent))

    def refuse_first(self, code: str) -> list[Output]:
        first = self.state.outstanding[0]
        return self.receipt(first.turn, first.sequence, Failed(code=code, reason="Discord said no"))

    def receive_all(self) -> list[Output]:
        outputs: list[Output] = []
        while self.state.outstanding:
            first = self.state.outstanding[0]
            outputs += self.receipt(first.turn, first.sequence)
        return outputs

    def armed(self, timer: str) -> list[Armed]:
        return [armed for armed in deadlines(self.state) if armed.timer == timer]

    def fire(self, armed: Armed, *, after_ms: int = 0) -> list[Output]:
        """Let a timer fire so long after (or before) its deadline."""
        self.now = max(self.now, armed.due_ms + after_ms) if after_ms >= 0 else armed.due_ms + after_ms
        return self.tell(armed.fired())

    def records(self, kind: type, turn: str | None = None) -> list:
        found = [output.record for output in self.outputs if isinstance(output.record, kind)]
        return [record for record in found if turn is None or record.turn == turn]

    def sent(self, turn: str | None = None) -> list[SendText]:
        return self.records(SendText, turn)

    def texts(self, turn: str | None = None) -> list[str]:
        """The reply as shown, without notices."""
        return [record.text for record in self.sent(turn) if record.start is not None]

    def notices(self, turn: str | None = None) -> list[str]:
        return [record.text for record in self.sent(turn) if record.start is None]

    def requested(self) -> list[GenerationRequested]:
        return self.records(GenerationRequested)

    def interrupts(self) -> list[str]:
        return [f"{record.turn} {record.reason}" for record in self.records(TurnInterrupted)]

    def cancels(self) -> list[Cancel]:
        return self.records(Cancel)

    def cleared(self) -> list[ClearStopButton]:
        return self.records(ClearStopButton)

    def typing(self, turn: str | None = None) -> list[bool]:
        return [record.active for record in self.records(Typing, turn)]

    def finished(self) -> list[str]:
        return [f"{record.turn} {record.status}" for record in self.records(TurnFinished)]

    def last_finished(self) -> TurnFinished:
        return self.records(TurnFinished)[-1]


@pytest.fixture
def channel() -> Channel:
    return Channel()


@pytest.fixture(scope="session")
def new_channel() -> Callable[[], Channel]:
    """For properties, whose examples need a channel each."""
    return Channel
