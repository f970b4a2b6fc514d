"""What one delivery process remembers of turns: outputs that were sent, and those that must not be any more."""

from collections import OrderedDict
from collections.abc import Set

from schemas.inbox import Outcome, Sent

_OUTCOMES_KEPT = 50_000
_OF_A_TURN_KEPT = 500
_CANCELS_KEPT = 10_000


class Outcomes:
    """The newest 50,000 outcomes, turn by turn, and of one turn the newest 500. They hold, whoever owns the partition."""

    def __init__(self, kept: int = _OUTCOMES_KEPT) -> None:
        self._kept = kept
        self._turns: OrderedDict[str, OrderedDict[int, Outcome]] = OrderedDict()
        self._ids: dict[str, None] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def get(self, turn: str, sequence: int) -> Outcome | None:
        """What became of an output, None where this process does not know."""
        of_turn = self._turns.get(turn)
        return None if of_turn is None else of_turn.get(sequence)

    def put(self, turn: str, sequence: int, outcome: Outcome) -> None:
        """Remember an outcome."""
        of_turn = self._turns.setdefault(turn, OrderedDict())
        self._count += sequence not in of_turn
        of_turn[sequence] = outcome
        if isinstance(outcome, Sent) and outcome.message_id is not None:
            self._ids[outcome.message_id] = None
        if len(of_turn) > _OF_A_TURN_KEPT:
            self._forget(of_turn.popitem(last=False)[1])
        self._turns.move_to_end(turn)
        while self._count > self._kept and len(self._turns) > 1:
            for forgotten in self._turns.popitem(last=False)[1].values():
                self._forget(forgotten)

    def _forget(self, outcome: Outcome) -> None:
        self._count -= 1
        if isinstance(outcome, Sent) and outcome.message_id is not None:
            self._ids.pop(outcome.message_id, None)

    def last_message(self, turn: str, before: int) -> str | None:
        """The message of the turn's last output before a sequence, of those that are known; None where none is."""
        of_turn = self._turns.get(turn)
        if of_turn is None:
            return None
        ids = [
            int(outcome.message_id)
            for sequence, outcome in of_turn.items()
            if sequence < before and isinstance(outcome, Sent) and outcome.message_id is not None
        ]
        return str(max(ids)) if ids else None

    def message_ids(self) -> Set[str]:
        """The messages that are known to be outputs, of whichever turn; it grows and shrinks with what is remembered."""
        return self._ids.keys()


class Cancels:
    """From which sequence on a turn's outputs are cancelled, and which outputs have begun and so are spared.

    Keeps the newest 10,000 turns, and the newest 10,000 outputs that have begun.
    """

    def __init__(self) -> None:
        self._first: OrderedDict[str, int] = OrderedDict()
        self._begun: OrderedDict[tuple[str, int], int] = OrderedDict()

    def put(self, turn: str, first: int) -> None:
        """Cancel the turn's outputs from `first` on; of several the lowest counts."""
        self._first[turn] = min(first, self._first.get(turn, first))
        if len(self._first) > _CANCELS_KEPT:
            self._first.popitem(last=False)

    def begun_ms(self, turn: str, sequence: int) -> int | None:
        """When this process first began to send the output, None where it has not."""
        return self._begun.get((turn, sequence))

    def begin(self, turn: str, sequence: int, now_ms: int) -> bool:
        """Whether the output may be sent; from then on no Cancel hits it, since Discord may have it already."""
        output = (turn, sequence)
        first = self._first.get(turn)
        if output not in self._begun and first is not None and sequence >= first:
            return False
        self._begun.setdefault(output, now_ms)
        if len(self._begun) > _CANCELS_KEPT:
            self._begun.popitem(last=False)
        return True
