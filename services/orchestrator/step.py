"""One event's work: the state as it changes and the outputs as they come, in order."""

from dataclasses import dataclass, field
from typing import Any

from services.orchestrator.outputs import Output, OutputRecord, output
from services.orchestrator.rules import Rules, RulesByVersion, rules_of
from services.orchestrator.state import ChannelState, Turn


@dataclass(frozen=True, slots=True)
class Position:
    """Where an event stands in the inbox: its offset, and its append time in ms since 1970, the fold's only clock."""

    offset: int
    append_ms: int


@dataclass(slots=True)
class Step:
    """The fold's workbench for one event; nothing of it outlives the fold."""

    state: ChannelState
    at: Position
    rules: RulesByVersion
    outputs: list[Output] = field(default_factory=list[Output])
    stream_over: bool = False
    """The event holds the end of the current stream, so that a Stop button would have nothing to stop."""

    @property
    def channel_id(self) -> str:
        return self.state.channel_id

    @property
    def turn(self) -> Turn:
        """The current turn, where there must be one."""
        if self.state.turn is None:
            raise LookupError(f"channel {self.channel_id} has no current turn at inbox offset {self.at.offset}")
        return self.state.turn

    @property
    def turn_rules(self) -> Rules:
        """The rules that the current turn was stamped with."""
        return rules_of(self.rules, self.turn.cause.rules_version)

    def put(self, record: OutputRecord) -> None:
        """Add an output."""
        self.outputs.append(output(record, cause=self.at.offset))

    def change(self, **changes: Any) -> None:
        """Replace fields of the channel's state."""
        self.state = self.state.but(**changes)

    def change_turn(self, **changes: Any) -> None:
        """Replace fields of the current turn."""
        self.change(turn=self.turn.but(**changes))

    def next_sequence(self) -> int:
        """Take the current turn's next delivery sequence."""
        sequence = self.turn.next_sequence
        self.change_turn(next_sequence=sequence + 1)
        return sequence
