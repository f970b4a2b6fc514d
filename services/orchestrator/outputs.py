"""What a fold puts out: a record, the topic it belongs to, and an id that a repetition has too."""

from dataclasses import dataclass
from typing import Literal, assert_never

from schemas.deliveries import Cancel, ClearStopButton, SendText, Typing
from schemas.generations import GenerationRequested
from schemas.stops import TurnInterrupted
from schemas.turns import TurnFinished

OutputRecord = GenerationRequested | SendText | Typing | ClearStopButton | Cancel | TurnInterrupted | TurnFinished
OutputTopic = Literal["generations", "deliveries", "control", "turns"]


@dataclass(frozen=True, slots=True)
class Output:
    """A record to write. `cause` is the inbox offset of the event that led to it; `id` comes from the turn alone.

    A fold of the same events at the same offsets makes the same outputs, so a repeated record is equal byte for byte.
    """

    topic: OutputTopic
    record: OutputRecord
    id: str
    cause: int
    generation: int | None = None
    sequence: int | None = None


def output(record: OutputRecord, *, cause: int) -> Output:
    """The record as an output. Ids: `turn/g<generation>`, `turn/d<sequence>`, `turn/interrupted`, `turn/finished`."""
    match record:
        case GenerationRequested():
            number = record.generation
            return Output("generations", record, f"{record.turn}/g{number}", cause, generation=number)
        case SendText() | Typing() | ClearStopButton() | Cancel():
            sequence = record.sequence
            return Output("deliveries", record, f"{record.turn}/d{sequence}", cause, sequence=sequence)
        case TurnInterrupted():
            return Output("control", record, f"{record.turn}/interrupted", cause)
        case TurnFinished():
            return Output("turns", record, f"{record.turn}/finished", cause)
        case _:
            assert_never(record)
