"""What the workers use and how far behind they are: CPU of their processes, records in the log, records not handled."""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import asyncio
import re
from dataclasses import dataclass

import aiohttp
import psutil
from aiokafka import AIOKafkaConsumer, TopicPartition

from schemas.topics import load_topics
from services.runtime.settings import Settings
from services.sandbox.benchmark.crew import READS, Crew

_READ = re.compile(r'^odradek_records_read_total\{topic="([a-z-]+)"\} (\S+)$', re.MULTILINE)
_UNPROCESSED = re.compile(r"^odradek_records_unprocessed (\S+)$", re.MULTILINE)


def cpu_s(crew: Crew) -> dict[str, float]:
    """CPU seconds that each kind's processes have used so far, in user and kernel mode."""
    used: dict[str, float] = {}
    for member in crew.members():
        times = psutil.Process(member.pid).cpu_times()
        used[member.kind] = used.get(member.kind, 0.0) + times.user + times.system
    return used


@dataclass(frozen=True, slots=True)
class Behind:
    """Records written to each topic so far, and of those that a kind reads the ones that it has not handled."""

    written: dict[str, int]
    waiting: dict[str, int]

    @property
    def all_waiting(self) -> int:
        """Over all topics."""
        return sum(self.waiting.values())


class LogWatch:
    """Looks at the ends of all topics and at the workers' own counts."""

    def __init__(self, settings: Settings, partitions: int, crew: Crew) -> None:
        self._crew = crew
        self._prefix = settings.prefix
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=settings.kafka, client_id="odradek-bench", enable_auto_commit=False
        )
        self._partitions = [
            TopicPartition(f"{settings.prefix}{name}", number)
            for name, spec in load_topics().topics.items()
            for number in range(partitions if spec.partitions == "shared" else 1)
        ]
        self._offset: dict[str, int] = {}

    async def start(self) -> None:
        """Connect; what is in the log now counts as handled."""
        await self._consumer.start()
        first = await self.look()
        self._offset = dict(first.waiting)

    async def stop(self) -> None:
        """Disconnect."""
        await self._consumer.stop()

    async def look(self) -> Behind:
        """How things stand; what is written while the workers are asked counts as waiting."""
        async with aiohttp.ClientSession() as session:
            pages = await asyncio.gather(*(_page(session, f"{one.http}/metrics") for one in self._crew.members()))
        ends = await self._consumer.end_offsets(self._partitions)
        written: dict[str, int] = {}
        for place in self._partitions:
            topic = str(place.topic).removeprefix(self._prefix)
            written[topic] = written.get(topic, 0) + int(ends[place])
        handled = dict.fromkeys(READS.values(), 0)
        for page in pages:
            for topic, count in _READ.findall(page):
                unprocessed = _UNPROCESSED.search(page)
                handled[topic] += int(float(count)) - (0 if unprocessed is None else int(float(unprocessed[1])))
        return Behind(written, {t: written[t] - n - self._offset.get(t, 0) for t, n in handled.items()})


async def _page(session: aiohttp.ClientSession, url: str) -> str:
    async with session.get(url) as response:
        return await response.text()
