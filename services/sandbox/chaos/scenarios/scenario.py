"""What a scenario is: it plays on a stage with slots, keeps note of what it did, and reads its own figures afterwards."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Protocol, cast

from services.sandbox.chaos.clock import RunClock
from services.sandbox.chaos.people import Asked
from services.sandbox.chaos.rest import EndedTurns
from services.sandbox.chaos.slots import Slots
from services.sandbox.chaos.stage import Scene, Stage
from services.sandbox.chaos.strikes import Struck
from services.sandbox.chaos.wishes import Wishes
from services.sandbox.checking.index import Index


@dataclass(frozen=True, slots=True)
class Run:
    """What a scenario plays with: all processes are ready when it gets it."""

    wishes: Wishes
    stage: Stage
    slots: Slots
    ended: EndedTurns
    clock: RunClock
    say: Callable[[str], None]


class Crowd(Protocol):
    """Who chats: every turn that they asked for by its id, and what they did for the story."""

    asked: dict[str, Asked]
    events: list[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Figures:
    """A scenario's own figures: an object for the JSON report, lines for the text one, and what must not be so.

    Each `failures` entry makes the run fail, as a violation does.
    """

    report: Mapping[str, object]
    lines: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


class Scenario(Protocol):
    """One scenario in one run."""

    @property
    def crowd(self) -> Crowd:
        """Who chats."""
        ...

    @property
    def struck(self) -> Struck:
        """What has been done to the processes and to what they depend on."""
        ...

    async def play(self) -> None:
        """Let people chat and faults strike; returns when both are over and every slot may be filled."""
        ...

    def figures(self, index: Index) -> Figures | None:
        """What this scenario is about, from the run's history; None where the common figures say it all."""
        ...


@dataclass(frozen=True, slots=True)
class Kind:
    """A row of the table. `about` is for the help, `scene` says what the stage needs to have."""

    about: str
    scene: Callable[[Wishes], Scene]
    make: Callable[[Run], Scenario]


async def together(*doing: Coroutine[None, None, None]) -> None:
    """Run all of them; what one raises ends the others and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            for one in doing:
                group.create_task(one)
    except ExceptionGroup as failures:
        raise _first(failures) from failures


def _first(failures: "ExceptionGroup[Exception]") -> Exception:
    failure = failures.exceptions[0]
    return _first(cast("ExceptionGroup[Exception]", failure)) if isinstance(failure, ExceptionGroup) else failure
