"""A normalizer that is killed again and again in the middle of streams writes what an undisturbed one writes."""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from schemas.headers import HeaderReader
from schemas.inbox import ChunkBatch
from schemas.registry import decode
from services.normalizer.worker import SPEC, Normalizer
from services.normalizer.written import InboxReader, Written
from services.runtime.assembly import WorkerSpec
from services.runtime.inbound import Inbound
from services.runtime.log import Log, LogRecord, NewRecord

DATA = Path(__file__).parent.parent / "data" / "normalizer"
STREAMS = 100
CHANNELS_A_PARTITION = 5
PARTITIONS = 4
PATIENCE_S = 40.0

Copy = tuple[bytes | None, Any]
BatchId = tuple[str, str]
Place = tuple[str, str, str]


class Unread(InboxReader):
    """Knows of nothing in the inbox, so that every batch is written again and can be compared."""

    def ask(self, partition: int, written: Written, cause: int | None) -> None:
        written.known.set()


class Dying(Normalizer):
    """Handles so many records and then none: what has been written by then, and what has not, is left to the sender."""

    def __init__(self, after: int, log: Log) -> None:
        super().__init__(Unread(log))
        self.handled: list[str] = []
        self.is_dying = asyncio.Event()
        self._after = after

    async def handle(self, inbound: Inbound) -> None:
        if len(self.handled) == self._after:
            self.is_dying.set()
            await asyncio.Event().wait()
        self.handled.append(inbound.facts.id)
        await super().handle(inbound)

    def spec(self) -> WorkerSpec:
        async def build(_: object) -> "Dying":
            return self

        return WorkerSpec(SPEC.name, SPEC.reads, build)


def novelai(number: int) -> bytes:
    """Of NovelAI's streams none is recorded; these follow its description, one of each kind in turn."""
    words = [f"word{number}-{at} é" for at in range(12)]
    if number % 2:
        events = [f'event:newToken\nid:{at}\ndata:{{"token":"{word}","ptr":{at}}}\n\n' for at, word in enumerate(words)]
        return "".join([*events, 'event:newToken\ndata:{"token":".","ptr":12,"final":true}\n\n']).encode()
    events = [f'data: {{"id":"n{number}","choices":[{{"index":0,"text":"{word}"}}]}}\n\n' for word in words]
    finish = 'data: {"choices":[{"index":0,"text":"","finish_reason":"stop"}],"usage":{"prompt_tokens":3}}\n\n'
    return "".join([*events, finish, "data: [DONE]\n\n"]).encode()


def bodies() -> Iterator[tuple[str, str, bytes]]:
    """(dialect, provider, bytes) without end: NovelAI's ten, each recorded stream, then these again for guarded streams."""
    for number in range(10):
        yield "novelai", "", novelai(number)
    recorded = sorted(DATA.glob("*/*.sse"))
    for provider in ("", "custom:home"):
        yield from ((path.parent.name, provider, path.read_bytes()) for path in recorded)


def records_of(stream: Any, body: bytes, dice: random.Random) -> list[NewRecord]:
    """The stream cut into four to twelve slices, also inside of events and characters, and its end."""
    edges = sorted({0, len(body), *(dice.randrange(len(body)) for _ in range(dice.randint(3, 11)))})
    slices = [body[start:end] for start, end in itertools.pairwise(edges)]
    records = [stream.slice(sequence, data) for sequence, data in enumerate(slices)]
    return [*records, stream.end(len(records))]


def interleaved(streams: Iterable[list[NewRecord]], dice: random.Random) -> list[NewRecord]:
    """All records in one order, by dice, each stream's own in theirs."""
    waiting = [iter(records) for records in streams]
    order = [at for at, records in enumerate(streams) for _ in records]
    dice.shuffle(order)
    return [next(waiting[at]) for at in order]


class Batches:
    """The first copy of each batch in an inbox that grows."""

    def __init__(self, inbox: list[LogRecord]) -> None:
        self._inbox = inbox
        self._read = 0
        self._firsts: dict[BatchId, Copy] = {}

    def now(self) -> dict[BatchId, Copy]:
        for record in self._inbox[self._read :]:
            facts = HeaderReader(record.headers).facts()
            self._firsts.setdefault((facts.channel, facts.id), (record.value, record.headers))
            self._read += 1
        return self._firsts

    def places(self) -> set[Place]:
        return {place_of(name) for _, name in self.now()}


def place_of(name: str) -> Place:
    """Turn, generation and sequence, out of the id of a raw record or of its batch."""
    _, turn, generation, *_, sequence = name.split(":")
    return turn, generation, sequence


async def test_a_kill_in_the_middle_of_100_streams_changes_no_byte_of_any_batch(
    cluster: Any, other_cluster: Any, new_stream: Any, channels_of: Callable[..., list[str]]
) -> None:
    """Six lives of the normalizer: three that stop at a certain record, two that SIGKILL ends, and one that finishes."""
    dice = random.Random(7)
    channels = [channel for partition in range(PARTITIONS) for channel in channels_of(partition, CHANNELS_A_PARTITION)]
    whole: list[list[NewRecord]] = []
    dialects: dict[str, str] = {}
    for number, (dialect, provider, body) in zip(range(STREAMS), bodies(), strict=False):
        turn = f"m{number}"
        stream = new_stream(channels[number % len(channels)], turn, dialect=dialect, provider=provider)
        whole.append(records_of(stream, body, dice))
        dialects[turn] = dialect
    records = interleaved(whole, dice)
    quarter = len(records) // 4
    quarters = [records[:quarter], records[quarter : 2 * quarter], records[2 * quarter : 3 * quarter]]
    rest = records[3 * quarter :]

    await other_cluster.follow("inbox")
    undisturbed = await other_cluster.worker(SPEC)
    await other_cluster.send(*records)
    await other_cluster.until(lambda: len(other_cluster.records["inbox"]) >= len(records), "the undisturbed run")
    await undisturbed.stop()
    expected = Batches(other_cluster.records["inbox"]).now()
    assert len(expected) == len(other_cluster.records["inbox"]) == len(records)

    await cluster.follow("inbox")
    inbox = cluster.records["inbox"]
    batches = Batches(inbox)

    async def live(records_handled: int, *, written: int = 0) -> Dying:
        """A life in this process that ends without commit or clean-up, once so many batches are in the inbox."""
        handler = Dying(records_handled, cluster.log)
        worker = await cluster.worker(handler.spec())
        async with asyncio.timeout(PATIENCE_S):
            await handler.is_dying.wait()
        await cluster.until(lambda: len(inbox) >= written, "the first batches")
        await worker.crash()
        return handler

    await cluster.send(*quarters[0])
    await live(quarter * 7 // 8, written=quarter * 3 // 4)
    before = batches.places()
    again = {place_of(name) for name in (await live(quarter // 2)).handled}
    assert again & before, "it died before it had read anything again"
    assert before - again, "it died when all had been read again"
    await cluster.send(*quarters[1])
    await live(quarter * 3 // 2)

    slot = {"instance": cluster.settings.prefix.strip("-")[-30:], "exclusive_instance": True}
    await cluster.send(*quarters[2])
    process = await cluster.spawn("normalizer", **slot)
    await cluster.until(lambda: len(batches.now()) >= 0.6 * len(records), "some more batches")
    await process.kill()
    written = len(inbox)
    await cluster.send(*rest[: len(rest) // 2])
    process = await cluster.spawn("normalizer", **slot)
    await process.said("assigned")
    await cluster.until(lambda: len(inbox) > written, "its first batch")
    await process.kill()
    assert len(batches.now()) < len(records)
    await cluster.send(*rest[len(rest) // 2 :])
    await cluster.spawn("normalizer", **slot)
    await cluster.until(lambda: len(batches.now()) == len(records), "all batches")

    found = batches.now()
    assert [place for place in expected if found.get(place) != expected[place]] == []
    assert cluster.copies_are_equal("inbox")
    read = [decode(headers, value)[1] for value, headers in found.values()]
    ended = Counter(dialects[batch.turn] for batch in read if isinstance(batch, ChunkBatch) and batch.end == "eof")
    assert ended.total() == STREAMS
    assert len(ended) == 5
