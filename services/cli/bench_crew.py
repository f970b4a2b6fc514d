"""The worker processes of a benchmark, kept by supervisors."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from services.cli.supervisor import Command, Supervisor
from services.sandbox.benchmark.crew import Member
from services.sandbox.brokers.ports import free_port

READY_WITHIN_S = 90.0
END_WITHIN_S = 4.0


class SupervisedCrew:
    """See `services.sandbox.benchmark.crew.Crew`. `directory` gets the logs, `say` a line whenever a process dies."""

    def __init__(self, directory: Path, say: Callable[[str], None]) -> None:
        self._directory = directory
        self._say = say
        self._supervisor = Supervisor(directory, say)
        self._kinds: dict[str, str] = {}
        self._guests = 0

    async def start(self, kind: str, count: int, environment: Mapping[str, str]) -> None:
        """Start `count` more processes of a kind, and wait until each says that it is ready."""
        there = sum(of == kind for of in self._kinds.values())
        for number in range(there, there + count):
            slot = f"{kind}-{number}"
            self._kinds[slot] = kind
            self._supervisor.start(_command(kind, slot, environment))
        await self._supervisor.all_ready(within_s=READY_WITHIN_S)

    async def guests(self, kinds: Collection[str], environment: Mapping[str, str]) -> "SupervisedGuests":
        """Start one more process of each kind, which are no members, and wait until each is ready."""
        self._guests += 1
        supervisor = Supervisor(self._directory, self._say)
        guests = SupervisedGuests(supervisor)
        for kind in kinds:
            supervisor.start(_command(kind, f"{kind}-guest-{self._guests}", environment))
        try:
            await supervisor.all_ready(within_s=READY_WITHIN_S)
        except BaseException:
            await guests.leave()
            raise
        return guests

    def members(self, kind: str | None = None) -> tuple[Member, ...]:
        """The processes that run now, of one kind or of all."""
        return tuple(
            Member(self._kinds[slot], child.pid, child.command.ready_url.removesuffix("/readyz"))
            for slot, child in self._supervisor.children.items()
            if child.pid is not None and kind in (None, self._kinds[slot])
        )

    async def end(self) -> None:
        """End all members."""
        await self._supervisor.stop(within_s=END_WITHIN_S)


class SupervisedGuests:
    """See `services.sandbox.benchmark.crew.Guests`."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor

    async def leave(self) -> None:
        """Tell all of them to end, as an orderly stop does, and wait until they have."""
        await self._supervisor.stop(within_s=END_WITHIN_S)


def _command(kind: str, slot: str, environment: Mapping[str, str]) -> Command:
    port = free_port()
    own = {"ODRADEK_INSTANCE": slot, "ODRADEK_HTTP_PORT": str(port)}
    return Command(slot, ("worker", kind), {**environment, **own}, f"http://127.0.0.1:{port}/readyz")
