"""The normalizer on a real log: what counts, what ends a stream, and that one stream's trouble is no other's."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from prometheus_client import REGISTRY

from schemas.inbox import ChunkBatch, GenerationFailed
from schemas.prompts import KnownTool
from schemas.registry import decode
from services.normalizer.rules import RULES
from services.normalizer.stream import StreamNormalizer
from services.normalizer.worker import SPEC, build
from services.runtime.assembly import WorkerSpec
from services.runtime.errors import Unavailable
from services.runtime.log import LogRecord, NewRecord


def batches(records: list[LogRecord], turn: str | None = None) -> list[ChunkBatch]:
    found = [decode(record.headers, record.value)[1] for record in records]
    return [r for r in found if isinstance(r, ChunkBatch) and (turn is None or r.turn == turn)]


def shape(records: list[LogRecord], turn: str) -> list[tuple[int, str, str | None]]:
    return [
        (b.sequence, "".join(getattr(chunk, "content", "") for chunk in b.chunks), b.end)
        for b in batches(records, turn)
    ]


async def test_a_take_over_writes_only_what_is_missing_and_settles_streams_that_ended(
    cluster: Any, new_stream: Any, channels_of: Any
) -> None:
    """The open stream holds the commit back, so both are read again; of one the end is missing, of the other nothing."""
    await cluster.follow("inbox")
    open_channel, ended_channel = channels_of(0, 2)
    records = new_stream(open_channel, "m1").whole(["one ", "two ", "three "])
    first = await cluster.worker(SPEC)
    await cluster.send(*records[:2], *new_stream(ended_channel, "m2").whole(["all of it"]))
    await cluster.until(lambda: len(cluster.records["inbox"]) == 5, "five batches")
    await first.assembly.context.sender.flush()
    await first.crash()
    second = await cluster.worker(SPEC)
    await cluster.send(*records[2:], *new_stream(ended_channel, "m3", cause=5).whole(["next"]))
    await cluster.until(lambda: len(batches(cluster.records["inbox"], "m3")) == 3, "the next stream")
    await cluster.until(lambda: len(cluster.firsts("inbox")) == 11, "all batches")
    await second.assembly.context.sender.flush()
    assert len(cluster.records["inbox"]) == 11
    assert shape(cluster.records["inbox"], "m1") == [
        (0, "one ", None), (1, "two ", None), (2, "three ", None), (3, "", None), (4, "", "eof"),
    ]  # fmt: skip
    assert second.feed._owned[0].acks.open == 0
    assert second.feed._owned[0].acks.committable == 11


async def test_batches_are_written_again_and_equal_where_the_inbox_cannot_be_read(
    cluster: Any, new_stream: Any, channels_of: Any
) -> None:
    def away(log: Any) -> None:
        def read_to_end(*_: object, **__: object) -> Any:
            raise Unavailable("Kafka", "away")

        log.read_to_end = read_to_end

    await cluster.follow("inbox")
    records = new_stream(channels_of(0, 1)[0], "m1").whole(["one ", "two "])
    first = await cluster.worker(SPEC)
    await cluster.send(*records[:-1])
    await cluster.until(lambda: len(cluster.records["inbox"]) == 3, "three batches")
    await first.crash()
    second = await cluster.worker(SPEC, adapt=away)
    await cluster.send(records[-1])
    await cluster.until(lambda: len(cluster.records["inbox"]) == 7, "copies and the end")
    assert cluster.copies_are_equal("inbox")
    assert [sequence for sequence, _, _ in shape(cluster.firsts("inbox"), "m1")] == [0, 1, 2, 3]
    await second.assembly.context.sender.flush()
    assert second.feed._owned[0].acks.open == 0


async def test_repetitions_and_losers_change_nothing_and_are_settled(
    cluster: Any, new_stream: Any, channels_of: Any
) -> None:
    await cluster.follow("inbox")
    worker = await cluster.worker(SPEC)
    channel = channels_of(0, 1)[0]
    records = new_stream(channel, "m1").whole(["one ", "two "])
    loser = new_stream(channel, "m1", instance="provider-1")
    await cluster.send(
        records[0], loser.text(0, "other "), records[0], records[1], records[0], records[1], *records[2:]
    )
    await cluster.send(*records, loser.text(1, "other "), loser.end(2))
    await cluster.send(*new_stream(channel, "m2").whole(["next"]))
    await cluster.until(lambda: len(batches(cluster.records["inbox"], "m2")) == 3, "the next stream")
    assert shape(cluster.records["inbox"], "m1") == [
        (0, "one ", None),
        (1, "two ", None),
        (2, "", None),
        (3, "", "eof"),
    ]
    await worker.assembly.context.sender.flush()
    assert worker.feed._owned[0].acks.open == 0


async def test_the_records_of_an_open_stream_stay_unfinished_until_its_end(
    cluster: Any, new_stream: Any, channels_of: Any
) -> None:
    await cluster.follow("inbox")
    worker = await cluster.worker(SPEC)
    channel, other = channels_of(0, 2)
    records = new_stream(channel, "m1").whole(["one "])
    await cluster.send(*records[:-1], *new_stream(other, "m2").whole(["two"]))
    await cluster.until(lambda: len(cluster.records["inbox"]) == 5, "five batches")
    await worker.assembly.context.sender.flush()
    assert worker.feed._owned[0].acks.committable is None
    await cluster.send(records[-1])
    await cluster.until(lambda: len(cluster.records["inbox"]) == 6, "the end")
    await worker.assembly.context.sender.flush()
    assert worker.feed._owned[0].acks.committable == 6


async def test_a_stream_with_a_gap_ends_as_lost(cluster: Any, new_stream: Any, channels_of: Any) -> None:
    await cluster.follow("inbox")
    worker = await cluster.worker(SPEC)
    records = new_stream(channels_of(1, 1)[0], "m1").whole(["one ", "two ", "three "])
    await cluster.send(records[0], records[2], *records[3:])
    await cluster.until(lambda: len(cluster.records["inbox"]) == 2, "two batches")
    first, last = batches(cluster.records["inbox"])
    assert (first.sequence, last.sequence, last.end) == (0, 1, "lost")
    await worker.assembly.context.sender.flush()
    assert worker.feed._owned[1].acks.open == 0


async def test_an_end_that_somebody_else_declared_ends_the_stream_as_lost(
    cluster: Any, new_stream: Any, channels_of: Any
) -> None:
    await cluster.follow("inbox")
    worker = await cluster.worker(SPEC)
    channel = channels_of(2, 1)[0]
    stream = new_stream(channel, "m1")
    await cluster.send(stream.text(0, "one "), new_stream(channel, "m1", instance="provider-1").end(None, "lost"))
    await cluster.send(stream.text(1, "too late "), stream.end(2))
    await cluster.send(new_stream(channel, "m2").end(None, "lost"))
    await cluster.until(lambda: batches(cluster.records["inbox"], "m2"), "the second stream")
    ended = batches(cluster.records["inbox"], "m1")
    assert [(b.sequence, b.end) for b in ended] == [(0, None), (1, "lost")]
    assert [(b.sequence, b.end) for b in batches(cluster.records["inbox"], "m2")] == [(0, "lost")]
    await worker.assembly.context.sender.flush()
    assert worker.feed._owned[2].acks.open == 0


async def test_a_stream_that_cannot_be_named_in_the_inbox_does_not_hold_its_partition(
    cluster: Any, new_stream: Any, channels_of: Any
) -> None:
    """A turn id over 64 characters and a generation 0 are headers that no record of the inbox may have."""
    await cluster.follow("inbox", "dead-letters")
    worker = await cluster.worker(SPEC)
    channel = channels_of(3, 1)[0]
    for bad in (new_stream(channel, "m" * 65), new_stream(channel, "m1", generation=0)):
        await cluster.send(*bad.whole(["one "]))
    await cluster.send(*new_stream(channel, "m2").whole(["two"]))
    await cluster.until(lambda: len(batches(cluster.records["inbox"], "m2")) == 3, "the good stream")
    await cluster.until(lambda: cluster.records["dead-letters"], "dead letters")
    await worker.assembly.context.sender.flush()
    assert worker.feed._owned[3].acks.open == 0
    handler: Any = worker.feed._handler
    assert handler.open_streams() == 0


async def test_a_raw_record_that_is_poison_ends_its_generation(
    cluster: Any, new_stream: Any, channels_of: Callable[..., list[str]]
) -> None:
    await cluster.follow("inbox", "dead-letters")
    worker = await cluster.worker(SPEC)
    good = new_stream(channels_of(3, 1)[0], "m1").text(0, "one")
    headers = tuple((name, b"klingon" if name == "dialect" else value) for name, value in good.headers)
    await cluster.send(NewRecord("raw", good.key, good.value, headers))
    await cluster.until(lambda: cluster.records["inbox"] and cluster.records["dead-letters"], "both records")
    [record] = cluster.records["inbox"]
    _, failed = decode(record.headers, record.value)
    assert isinstance(failed, GenerationFailed)
    assert (failed.turn, failed.generation, failed.error.code) == ("m1", 1, "header_invalid")
    await worker.assembly.context.sender.flush()
    assert worker.feed._owned[3].acks.open == 0


async def test_calls_in_the_text_are_read_with_the_tools_of_the_first_slice_and_truncated_ones_are_counted(
    cluster: Any, new_stream: Any, channels_of: Any
) -> None:
    await cluster.follow("inbox")
    await cluster.worker(SPEC)
    before = truncated()
    channel = channels_of(0, 1)[0]
    written = [*"So: draw({", '\\"a\\":1})', " <|tool_call>call:f{a:1,b:2"]
    stream = new_stream(channel, "m1", provider="custom:home", verbatim_tools=(KnownTool(name="draw"),))
    await cluster.send(*stream.whole(written))
    await cluster.until(lambda: len(batches(cluster.records["inbox"], "m1")) == len(written) + 2, "the end")
    chunks = [chunk for batch in batches(cluster.records["inbox"], "m1") for chunk in batch.chunks]
    calls = [chunk.function_call for chunk in chunks if chunk.type == "function_call"]
    assert [(call.name, call.args, call.arguments_truncated) for call in calls] == [
        ("draw", {"a": 1}, False),
        ("f", {"a": 1}, True),
    ]
    assert "".join(chunk.content for chunk in chunks if chunk.type == "text") == "So:  "
    assert truncated() == before + 1


def truncated() -> float:
    labels = {"dialect": "openai-chat"}
    return REGISTRY.get_sample_value("odradek_tool_arguments_truncated_total", labels) or 0.0


class Louder(StreamNormalizer):
    """Other rules, which nobody can overlook."""

    def feed(self, data: bytes) -> list[Any]:
        return [
            replace(chunk, content=chunk.content.upper()) if hasattr(chunk, "content") else chunk
            for chunk in super().feed(data)
        ]


async def test_each_stream_is_read_by_the_rules_of_its_stamp_and_an_unknown_stamp_waits_for_its_code(
    cluster: Any, new_stream: Any, channels_of: Any
) -> None:
    await cluster.follow("inbox", "dead-letters")
    old, new, other = channels_of(0, 3)
    unknown = max(RULES) + 1
    first = await cluster.worker(SPEC)
    stamped = new_stream(new, "m2", rules=unknown).whole(["two"])
    await cluster.send(*stamped, *new_stream(old, "m1").whole(["one"]), *new_stream(other, "m3").whole(["three"]))
    await cluster.until(lambda: len(cluster.records["inbox"]) == 6, "the streams of before")
    await first.assembly.context.sender.flush()
    assert first.feed._owned[0].acks.committable is None
    await first.crash()
    code = WorkerSpec(SPEC.name, SPEC.reads, lambda context: build(context, {**RULES, unknown: Louder}))
    second = await cluster.worker(code)
    await cluster.until(lambda: len(cluster.firsts("inbox")) == 9, "the stream that waited")
    texts = [shape(cluster.firsts("inbox"), turn)[0][1] for turn in ("m1", "m2", "m3")]
    assert texts == ["one", "TWO", "three"]
    assert cluster.records["dead-letters"] == []
    await second.assembly.context.sender.flush()
    assert second.feed._owned[0].acks.open == 0
