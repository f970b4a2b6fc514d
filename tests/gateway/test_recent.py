"""Watermarks from the inbox, so that a restart knows which channels to read again."""

from collections.abc import Callable

from schemas.inbox import Author, MessageReceived
from services.gateway.admission import inbox_record
from services.gateway.recent import RECENT_MS, read_recent
from services.gateway.watermarks import Watermarks
from services.runtime.log import LogRecord

GUILD_OF_SHARD_1 = 1 << 22


class InboxTail:
    """A topic that holds some records; keeps what it was asked for."""

    def __init__(self, records: list[LogRecord]) -> None:
        self._records = records
        self.since_ms = 0
        self.stopped = False

    def tail(self, topic: str, *, since_ms: int, on_record: Callable[[LogRecord], None]) -> "InboxTail":
        assert topic == "inbox"
        self.since_ms, self._on_record = since_ms, on_record
        return self

    async def start(self) -> None:
        for record in self._records:
            self._on_record(record)

    async def caught_up(self) -> None: ...

    async def stop(self) -> None:
        self.stopped = True


def received(channel: int, message: int, guild: int | None) -> LogRecord:
    record = inbox_record(
        MessageReceived(
            channel_id=str(channel),
            guild_id=None if guild is None else str(guild),
            message_id=str(message),
            author=Author(id="9", name="Ada"),
            content="hi",
            source="mention",
        )
    )
    return LogRecord("inbox", 0, message, 0, record.key, record.value, record.headers)


async def read(records: list[LogRecord], shard_id: int, shard_count: int) -> tuple[Watermarks, InboxTail]:
    marks, tail = Watermarks(), InboxTail(records)
    await read_recent(tail, marks, now_ms=RECENT_MS + 5, shard_id=shard_id, shard_count=shard_count)  # type: ignore[arg-type]
    return marks, tail


async def test_the_newest_message_of_each_channel_counts() -> None:
    marks, tail = await read([received(1, 10, None), received(2, 11, None), received(1, 12, None)], 0, 1)
    assert [(mark.channel_id, mark.seen) for mark in marks.latest(50)] == [(1, 12), (2, 11)]
    assert tail.since_ms == 5
    assert tail.stopped


async def test_only_channels_of_the_shard_are_read() -> None:
    records = [received(1, 10, None), received(2, 11, GUILD_OF_SHARD_1)]
    direct, _ = await read(records, 0, 2)
    guild, _ = await read(records, 1, 2)
    assert [mark.channel_id for mark in direct.latest(50)] == [1]
    assert [mark.channel_id for mark in guild.latest(50)] == [2]


async def test_records_that_cannot_be_read_are_passed_over() -> None:
    good = received(1, 10, None)
    broken = LogRecord("inbox", 0, 1, 0, b"1", b"{}", good.headers)
    bare = LogRecord("inbox", 0, 2, 0, b"1", None, ())
    marks, _ = await read([broken, bare, good], 0, 1)
    assert [mark.seen for mark in marks.latest(50)] == [10]


def test_talk_that_is_not_for_the_bot_moves_the_mark_of_a_known_channel_only() -> None:
    marks = Watermarks()
    marks.saw(1, None, 10, addressed=True)
    marks.saw(1, None, 11, addressed=False)
    marks.saw(2, None, 12, addressed=False)
    assert [(mark.channel_id, mark.seen, mark.addressed) for mark in marks.latest(50)] == [(1, 11, 10)]
