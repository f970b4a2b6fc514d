"""A worker of the next version of the code: orchestrator and normalizer carry one more version of the rules than today's.

`python -m services.sandbox.chaos.next_worker KIND` runs as `odradek worker KIND` does.
"""

import importlib
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

import uvloop

from services.normalizer import rules as reading
from services.normalizer import worker as normalizer
from services.normalizer.stream import StreamNormalizer
from services.orchestrator.actors import Actors
from services.orchestrator.rules import RULES, Rules, RulesByVersion
from services.orchestrator.worker import Orchestrator
from services.runtime.assembly import Context, WorkerSpec
from services.runtime.handler import Handler
from services.runtime.logs import configure_logs
from services.runtime.process import name_instance, run_worker
from services.runtime.settings import Settings
from services.runtime.slots import lock_folder

PRESENT, NEXT = max(RULES), max(RULES) + 1
NEXT_RULES: RulesByVersion = {**RULES, NEXT: Rules(segment_limit=70, line_group=30)}
"""The next rules cut a sentence of the local provider in two, so every text shows which rules it was cut by."""


_NEXT_READING: reading.RulesByVersion = {**reading.RULES, NEXT: StreamNormalizer}


async def _orchestrator(context: Context) -> Handler:
    return Orchestrator(Actors(context.log, context.sender, context.clock, NEXT_RULES))


async def _normalizer(context: Context) -> Handler:
    return await normalizer.build(context, _NEXT_READING)


NEXT_CODE: Mapping[str, Callable[[Context], Awaitable[Handler]]] = {
    "orchestrator": _orchestrator,
    "normalizer": _normalizer,
}
"""The kinds whose code knows of rules; a stamp that one of them does not carry waits until it does."""


def spec_of(kind: str) -> WorkerSpec:
    """The kind's own spec, with the next code where that differs."""
    spec: WorkerSpec = importlib.import_module(f"services.{kind}.worker").SPEC
    return replace(spec, build=NEXT_CODE[kind]) if kind in NEXT_CODE else spec


def program(kind: str) -> tuple[str, ...]:
    """What the Python interpreter is given to run one."""
    return ("-m", __name__, kind)


def main(arguments: Sequence[str]) -> None:
    """Run one worker until a signal ends it."""
    (kind,) = arguments
    settings = Settings()  # pyright: ignore[reportCallIssue]
    configure_logs(settings, service=kind, instance=name_instance(settings, kind))
    uvloop.run(run_worker(spec_of(kind), settings, run_dir=lock_folder()))


if __name__ == "__main__":
    main(sys.argv[1:])
