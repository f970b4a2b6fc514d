"""The spool: the newest turns and their records, wound on from topics that are read side by side, in any order."""

from dataclasses import dataclass

from schemas.headers import Headers
from services.runtime.log import LogRecord
from services.sandbox.page.glance import json_object
from services.sandbox.page.hops import message_ms
from services.sandbox.page.jsontypes import RecordView, RowView, TurnView
from services.sandbox.page.turn import ReadRecord, Turn, effect_of

TURNS = 50
_ID_CHARS = 64
_TYPE_CHARS = 60
_HEADER_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Wound:
    """What a record changed: the turn, and the new row where there was room for one."""

    turn: TurnView
    row: RowView | None


class Spool:
    """The newest 50 turns by the time of their message, with 500 records each. Records may be hostile: none raises."""

    def __init__(self) -> None:
        self._turns: dict[str, Turn] = {}
        self._read_up_to: dict[tuple[str, int], tuple[int, int]] = {}

    def add(self, record: LogRecord) -> Wound | None:
        """Wind a record on; None where it belongs to no turn that is kept, or was wound before."""
        if self._is_again(record):
            return None
        headers = _texts(record.headers)
        read = ReadRecord(record, headers.get("type", "?")[:_TYPE_CHARS], headers, json_object(record.value))
        turn = self._turn_of(read)
        if turn is None:
            return None
        row = turn.wind(read)
        return Wound(self._view(turn), row)

    def turns(self) -> list[TurnView]:
        """All turns, the newest first."""
        return [self._view(turn) for turn in sorted(self._turns.values(), key=_began, reverse=True)]

    def rows(self, turn: str) -> list[RowView] | None:
        """The turn's records as they were read; None where the turn is not kept."""
        found = self._turns.get(turn)
        return None if found is None else [kept.row for kept in found.kept.values()]

    def record(self, turn: str, key: str) -> RecordView | None:
        """One record in full; None where it is not kept."""
        found = self._turns.get(turn)
        return None if found is None else found.record(key)

    def _is_again(self, record: LogRecord) -> bool:
        """Whether a reader that began anew brings what it brought before. A log that was born anew has newer times."""
        place = (record.topic, record.partition)
        offset, at_ms = self._read_up_to.get(place, (-1, -1))
        if record.offset <= offset and record.timestamp_ms <= at_ms:
            return True
        self._read_up_to[place] = (record.offset, max(at_ms, record.timestamp_ms))
        return False

    def _turn_of(self, read: ReadRecord) -> Turn | None:
        headers, at_ms = read.headers, read.record.timestamp_ms
        channel = headers.get("channel", "")[:_ID_CHARS]
        name = headers.get("turn") or headers.get("original-turn") or effect_of(read.content)[0]
        if not name:
            return None if read.type == "Alive" else self._newest_at(channel, at_ms)
        if len(name) > _ID_CHARS:
            return None
        known = self._turns.get(name)
        if known is not None:
            return known
        made_ms = message_ms(name)
        turn = Turn(name, channel, at_ms if made_ms is None else made_ms, dated=made_ms is not None, last_ms=at_ms)
        self._turns[name] = turn
        if len(self._turns) > TURNS:
            oldest = min(self._turns.values(), key=_began)
            del self._turns[oldest.turn]
            return None if oldest is turn else turn
        return turn

    def _view(self, turn: Turn) -> TurnView:
        return turn.view(self._waited_until_ms(turn))

    def _waited_until_ms(self, turn: Turn) -> int | None:
        """When the turn before ended, if this one's message came earlier: a channel's turns run one after the other."""
        received_ms = turn.hops.first_ms("MessageReceived")
        started = turn.hops.first_ms("GenerationRequested") is not None
        if received_ms is None or (turn.ended_ms is not None and not started):
            return None
        ends = (
            before.ended_ms
            for before in self._turns.values()
            if before.channel == turn.channel and before.began_ms < turn.began_ms and before.ended_ms is not None
        )
        return max((ended_ms for ended_ms in ends if ended_ms > received_ms), default=None)

    def _newest_at(self, channel: str, at_ms: int) -> Turn | None:
        """Where a record goes that names no turn, such as a channel-wide stop: to the channel's newest turn by then."""
        of_channel = [turn for turn in self._turns.values() if turn.channel == channel and turn.began_ms <= at_ms]
        return max(of_channel, key=_began, default=None)


def _began(turn: Turn) -> int:
    return turn.began_ms


def _texts(headers: Headers) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in headers:
        found.setdefault(name, (value or b"")[:_HEADER_CHARS].decode("utf-8", "replace"))
    return found
