"""The worker processes of a benchmark, kept by the supervisor."""

import asyncio
from collections.abc import Mapping

from services.cli.supervisor import Command, Supervisor
from services.sandbox.benchmark.crew import Member
from services.sandbox.brokers.ports import free_port

READY_WITHIN_S = 90.0


class SupervisedCrew:
    """See `services.sandbox.benchmark.crew.Crew`. Gateways share the shards of the count they are started with."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._kinds: dict[str, str] = {}

    async def start(self, kind: str, count: int, environment: Mapping[str, str]) -> None:
        """Start `count` more processes of a kind, and wait until each says that it is ready."""
        there = sum(of == kind for of in self._kinds.values())
        for number in range(there, there + count):
            port = free_port()
            slot = f"{kind}-{number}"
            own = {
                "ODRADEK_INSTANCE": slot,
                "ODRADEK_HTTP_PORT": str(port),
                "ODRADEK_DISCORD_SHARDS": f"{number - there}/{count}" if kind == "gateway" else "0/1",
            }
            self._kinds[slot] = kind
            self._supervisor.start(
                Command(slot, ("worker", kind), {**environment, **own}, f"http://127.0.0.1:{port}/readyz")
            )
        await self._supervisor.all_ready(within_s=READY_WITHIN_S)

    async def succeeded(self, member: Member) -> None:
        """Wait until another process is ready in the place of one that was told to end."""
        # The supervisor tells nobody of a restart: looking again is the only way.
        while any(child.pid == member.pid for child in self._supervisor.children.values()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        await self._supervisor.all_ready(within_s=READY_WITHIN_S)

    def members(self, kind: str | None = None) -> tuple[Member, ...]:
        """The processes that run now, of one kind or of all."""
        return tuple(
            Member(self._kinds[slot], child.pid, child.command.ready_url.removesuffix("/readyz"))
            for slot, child in self._supervisor.children.items()
            if child.pid is not None and kind in (None, self._kinds[slot])
        )
