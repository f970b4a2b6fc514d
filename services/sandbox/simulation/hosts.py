"""Hosts: the simulated processes, each a set of callbacks in one event loop that can be killed or frozen as a whole.

Every callback runs in a context that names its host. A killed host's callbacks are never run again, not even for
clean-up, as after SIGKILL; a frozen one's are kept and run on in their order once it thaws, as after SIGSTOP and SIGCONT.
"""

from asyncio import Handle
from collections import deque
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(eq=False, slots=True)
class Host:
    """One life of a process. `skew_ms` is how far its wall clock is from the world's."""

    name: str
    life: int
    skew_ms: int = 0
    dead: bool = False
    frozen: bool = False
    parked: deque[Handle] = field(default_factory=deque[Handle])
    tasks: list[object] = field(default_factory=list[object])

    def run(self, call: Callable[[], Result]) -> Result:
        """Call something as this host: the tasks and timers that it makes belong to the host."""
        context = copy_context()
        context.run(CURRENT.set, self)
        return context.run(call)


CURRENT: ContextVar[Host | None] = ContextVar("host", default=None)
"""The host whose callback runs; None for the world itself."""
