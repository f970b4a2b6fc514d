"""Watermarks from the log, so that a restart knows which channels to read again."""

from collections.abc import Callable

from schemas.generations import GenerationRequested
from schemas.identities import turn_of_message
from schemas.inbox import Author, MessageReceived
from services.gateway.admission import inbox_record
from services.gateway.recent import GENERATIONS_MS, INBOX_MS, read_recent
from services.gateway.watermarks import Watermarks
from services.runtime.log import LogRecord
from services.runtime.outputs import output

GUILD_OF_SHARD_1 = 1 << 22
NOW_MS = 1_800_000_000_000


class Tail:
    """One topic's tail, which is at the end as soon as it has started."""

    def __init__(self, topics: "Topics", topic: str, on_record: Callable[[LogRecord], None]) -> None:
        self._topics, self._topic, self._on_record = topics, topic, on_record

    async def start(self) -> None:
        self._topics.open += 1
        for record in self._topics.records:
            if record.topic == self._topic:
                self._on_record(record)

    async def caught_up(self) -> None: ...

    async def stop(self) -> None:
        self._topics.open -= 1


class Topics:
    """Topics that hold some records; keeps what it was asked for."""

    def __init__(self, records: list[LogRecord]) -> None:
        self.records = records
        self.since_ms: dict[str, int] = {}
        self.open = 0

    def tail(self, topic: str, *, since_ms: int, on_record: Callable[[LogRecord], None]) -> Tail:
        self.since_ms[topic] = since_ms
        return Tail(self, topic, on_record)


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


def requested(channel: int, message: int, guild: int | None) -> LogRecord:
    generation = GenerationRequested(
        channel_id=str(channel),
        guild_id=None if guild is None else str(guild),
        turn=turn_of_message(str(message)),
        generation=1,
        message_id=str(message),
        author=Author(id="9", name="Ada"),
        content="hi",
        deadline_ms=1,
    )
    record = output("generations", generation, channel=str(channel), event_id=f"generation:{message}")
    return LogRecord("generations", 0, message, 0, record.key, record.value, record.headers)


async def read(records: list[LogRecord], shard_id: int, shard_count: int) -> tuple[Watermarks, Topics]:
    marks, tail = Watermarks(), Topics(records)
    await read_recent(tail, marks, now_ms=NOW_MS, shard_id=shard_id, shard_count=shard_count)  # type: ignore[arg-type]
    return marks, tail


async def test_the_newest_message_of_each_channel_counts() -> None:
    marks, tail = await read([received(1, 10, None), received(2, 11, None), received(1, 12, None)], 0, 1)
    assert [(mark.channel_id, mark.seen) for mark in marks.latest(50)] == [(1, 12), (2, 11)]
    assert tail.since_ms == {"generations": NOW_MS - GENERATIONS_MS, "inbox": NOW_MS - INBOX_MS}
    assert tail.open == 0


async def test_a_message_counts_by_its_generation_or_while_it_is_young_by_itself() -> None:
    marks, _ = await read(
        [requested(1, 10, None), requested(2, 11, None), received(1, 12, None), received(3, 9, None)], 0, 1
    )
    assert [(mark.channel_id, mark.seen) for mark in marks.latest(50)] == [(1, 12), (2, 11), (3, 9)]


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
