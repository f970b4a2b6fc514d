"""Who runs a turn from its cause to its end: the pipeline, by a message in Discord, or the reference, by an order."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncGenerator
from typing import Protocol

import orjson

from services.runtime.errors import OdradekError
from services.sandbox.benchmark.provider import Plan
from services.sandbox.benchmark.stage import Stage, Turn
from services.sandbox.discord.entities import Channel, User

TURN_PATIENCE_S = 120.0
"""How much longer than its bytes take a turn may be under way before the run is given up."""


class TurnHangs(OdradekError):
    """A turn of the benchmark did not come to its end."""


class Runner(Protocol):
    """Runs turns in channels."""

    async def run(self, channel: Channel, user: User, plan: Plan) -> tuple[str, Turn]:
        """One turn until it is over; raises TurnHangs."""
        ...


class Pipeline:
    """The workers: a message enters at Discord's gateway, and the turn is over when the log says so."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    async def run(self, channel: Channel, user: User, plan: Plan) -> tuple[str, Turn]:
        """One turn until it is over; raises TurnHangs."""
        turn_id, turn = self._stage.post(channel, user, plan)
        await over(turn_id, turn)
        return turn_id, turn


class Reference:
    """The process of `services.sandbox.benchmark.reference`."""

    def __init__(self, stage: Stage, process: asyncio.subprocess.Process) -> None:
        self._stage = stage
        self._process = process

    async def run(self, channel: Channel, user: User, plan: Plan) -> tuple[str, Turn]:
        """One turn until it is over; raises TurnHangs."""
        message = self._stage.discord.world.post_as(user, channel, "go on")
        turn_id = f"r{message.id}"
        turn = self._stage.expect(turn_id, plan)
        order = {"turn": turn_id, "channel": str(channel.id), "message": str(message.id)}
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
        self._process.stdin.write(orjson.dumps(order) + b"\n")
        await over(turn_id, turn)
        return turn_id, turn

    async def follow(self) -> None:
        """Note the turns that the process says are over."""
        assert self._process.stdout is not None  # noqa: S101 - it was asked for
        async for line in self._process.stdout:
            turn = self._stage.turns.get(line.decode().strip())
            if turn is not None:
                turn.over.set()


async def over(turn_id: str, turn: Turn) -> None:
    """Wait for a turn's end; raises TurnHangs."""
    within_s = TURN_PATIENCE_S + len(turn.plan.reply.deltas) * turn.plan.interval_s
    try:
        async with asyncio.timeout(within_s):
            await turn.over.wait()
    except TimeoutError:
        raise TurnHangs(
            f"turn {turn_id} is not over after {within_s:.0f} s; {len(turn.shown)} messages are shown",
            remedy="read the workers' logs",
        ) from None


@contextlib.asynccontextmanager
async def open_reference(stage: Stage) -> AsyncGenerator[Reference]:
    """The reference's process, ready for orders."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "services.sandbox.benchmark.reference",
        env={**os.environ, **stage.environment},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None  # noqa: S101 - it was asked for
    reference = Reference(stage, process)
    following: asyncio.Task[None] | None = None
    try:
        if await process.stdout.readline() != b"ready\n":
            raise OdradekError("the reference's process did not start", remedy="its error stands above")
        following = asyncio.create_task(reference.follow())
        yield reference
    finally:
        if following is not None:
            following.cancel()
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
