"""The worker that docs/writing-a-worker.md explains, run on a real broker."""

import asyncio
from collections.abc import AsyncIterator, Callable
from types import ModuleType
from typing import Any

import pytest

from schemas.headers import Facts, HeaderReader
from schemas.topics import Topics, load_topics
from schemas.turns import Timings, TurnFinished
from services.runtime.assembly import Assembly
from services.runtime.clock import SystemClock
from services.runtime.health import Health
from services.runtime.kafka.admin import provision
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.log import LogRecord, NewRecord
from services.runtime.outputs import bare, output
from services.runtime.settings import Settings

PATIENCE_S = 30.0
CHANNEL = "77"


@pytest.fixture(scope="session")
def example(load_example: Callable[[str], ModuleType]) -> ModuleType:
    """The module; a session's, since its metric can be registered once."""
    return load_example("pace_worker")


def with_paces() -> Topics:
    """The topics, and `paces` as the page's YAML adds it."""
    topics = load_topics()
    paces = topics.topics["turns"].model_copy(
        update={"purpose": "how fast replies came", "records": ("Pace",), "writers": ("pace",)}
    )
    return topics.model_copy(update={"topics": {**topics.topics, "paces": paces}})


class Bench:
    """The worker's surroundings: its log, what is written for it, and what it has written."""

    def __init__(self, log: KafkaLog, settings: Settings, topics: Topics) -> None:
        self.log = log
        self.settings = settings
        self.topics = topics
        self.seen: list[LogRecord] = []
        self._news = asyncio.Event()

    def note(self, record: LogRecord) -> None:
        self.seen.append(record)
        self._news.set()

    async def write(self, record: NewRecord) -> None:
        await (await self.log.send(record, 0))

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                self._news.clear()
                await self._news.wait()

    def of(self, topic: str) -> list[LogRecord]:
        return [record for record in self.seen if record.topic == topic]

    def assembly(self, spec: Any) -> Assembly:
        return Assembly(
            spec,
            settings=self.settings,
            topics=self.topics,
            cluster=self.log,
            clock=SystemClock(),
            health=Health(),
            instance="pace-0",
            incarnation="pace-0:1",
        )


@pytest.fixture
async def bench(kafka: Any, topic_prefix: str) -> AsyncIterator[Bench]:
    settings = Settings(kafka=kafka.bootstrap, broker=kafka.kind, prefix=topic_prefix, grace_s=2.0)
    topics = with_paces()
    await provision(settings, topics, partitions=1)
    log = KafkaLog(settings, topics)
    await log.start()
    bench = Bench(log, settings, topics)
    tails = [log.tail(name, since_ms=0, on_record=bench.note) for name in ("paces", "dead-letters")]
    for tail in tails:
        await tail.start()
    yield bench
    for tail in tails:
        await tail.stop()
    await log.stop()


def finished(number: int, *, first_chunk_ms: int | None = 1_000) -> NewRecord:
    turn = TurnFinished(
        channel_id=CHANNEL,
        guild_id=None,
        turn=f"m{number}",
        status="completed",
        generations=1,
        messages=1,
        characters=300,
        timings=Timings(received_ms=500, first_chunk_ms=first_chunk_ms, finished_ms=3_000),
    )
    return output("turns", turn, channel=CHANNEL, event_id=f"finished:m{number}", turn=turn.turn)


async def test_the_example_writes_the_pace_of_each_turn_once_a_turn(example: Any, bench: Bench) -> None:
    for number in (1, 2):
        await bench.write(finished(number))
    worker = bench.assembly(example.SPEC)
    await worker.start()
    try:
        await bench.until(lambda: len(bench.of("paces")) == 2)
    finally:
        await worker.stop()
    facts = [HeaderReader(record.headers).facts() for record in bench.of("paces")]
    assert [fact.id for fact in facts] == ["pace:m1", "pace:m2"]
    assert {fact.type for fact in facts} == {"Pace"}
    paces = [example.Pace.model_validate_json(record.value or b"") for record in bench.of("paces")]
    assert [pace.characters_per_s for pace in paces] == [150.0, 150.0]


async def test_what_the_example_cannot_read_is_a_dead_letter_and_the_next_turn_goes_on(
    example: Any, bench: Bench
) -> None:
    await bench.write(bare("turns", b"no turn", Facts(type="TurnFinished", version=1, id="bad", channel=CHANNEL)))
    await bench.write(finished(1, first_chunk_ms=None))
    await bench.write(finished(2))
    worker = bench.assembly(example.SPEC)
    await worker.start()
    try:
        await bench.until(lambda: bench.of("paces") and bench.of("dead-letters"))
    finally:
        await worker.stop()
    assert [HeaderReader(record.headers).need("turn") for record in bench.of("paces")] == ["m2"]
    assert [HeaderReader(record.headers).need("dead-letter-reason") for record in bench.of("dead-letters")] == [
        "invalid_value"
    ]


async def test_a_restarted_example_goes_on_behind_what_it_has_finished(example: Any, bench: Bench) -> None:
    for number in (1, 2):
        await bench.write(finished(number))
        worker = bench.assembly(example.SPEC)
        await worker.start()
        try:
            await bench.until(lambda n=number: len(bench.of("paces")) == n)
        finally:
            await worker.stop()
    assert [HeaderReader(record.headers).need("turn") for record in bench.of("paces")] == ["m1", "m2"]
