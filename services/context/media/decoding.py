"""A few processes that decode images, so that no image holds up the loop and one that takes too long can be killed.

A thread would share the interpreter with the loop, and nobody can stop one. A process that took too long, died or answered
nonsense is replaced; the image is at fault, not the process, so nothing is tried twice.
"""

import asyncio
import json
import os
import signal
import struct
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from services.context.media.formats import ImageType
from services.context.media.rules import FailedStage, Frame, ImageRules, KeyframeRules, Unshowable
from services.runtime.errors import Unavailable

PROCESSES = 2
IMAGE_CPU_S = 10.0
IMAGE_S = 30.0
"""The most that one image takes, of a processor and of time, which a busy machine stretches."""

_START_S = 60.0
_OVER_S = 10.0
_JOBS_A_PROCESS = 200
_MOST_HEADER = 64 * 1024
_MOST_ANSWER = 64 * 1024 * 1024
_LENGTH = struct.Struct(">I")


@dataclass(frozen=True, slots=True)
class Made:
    """An image for a target."""

    data: bytes
    media_type: str


class _Answer(BaseModel):
    """What a process answers, checked, since it may speak for the image that took it over."""

    model_config = ConfigDict(strict=True, hide_input_in_errors=True)

    ready: bool = False
    failed: FailedStage | None = None
    media_type: ImageType | None = None
    is_animated: bool = True
    numbers: list[int] = []
    sizes: Annotated[list[Annotated[int, Field(ge=0, le=_MOST_ANSWER)]], Field(max_length=100)] = []


class Decoders:
    """Up to `processes` of them, started when needed. Raises Unshowable for an image, Unavailable where none starts."""

    def __init__(self, processes: int = PROCESSES, *, image_s: float = IMAGE_S) -> None:
        self._image_s = image_s
        self._free = asyncio.Semaphore(processes)
        self._idle: list[_Process] = []

    async def image(self, data: bytes, media_type: str, rules: ImageRules) -> Made:
        """The image as a target takes it."""
        answer, pieces = await self._run("image", data, media_type=media_type, rules=asdict(rules))
        if answer.media_type is None or len(pieces) != 1:
            raise Unshowable("decode")
        return Made(pieces[0], answer.media_type)

    async def is_animated(self, data: bytes, media_type: str) -> bool:
        """Whether it has a second frame."""
        answer, _ = await self._run("is_animated", data, media_type=media_type)
        return answer.is_animated

    async def keyframes(self, data: bytes, rules: KeyframeRules) -> list[Frame]:
        """The frames that stand for a GIF."""
        cpu_s = rules.seconds + _OVER_S
        answer, pieces = await self._run("keyframes", data, cpu_s=cpu_s, total_s=cpu_s, rules=asdict(rules))
        if not pieces or len(answer.numbers) != len(pieces):
            raise Unshowable("decode")
        return [Frame(number, piece) for number, piece in zip(answer.numbers, pieces, strict=True)]

    async def aclose(self) -> None:
        """End the idle processes; those that work end with their jobs' cancellation."""
        while self._idle:
            await self._idle.pop().kill()

    async def _run(
        self,
        kind: Literal["image", "is_animated", "keyframes"],
        data: bytes,
        *,
        cpu_s: float = IMAGE_CPU_S,
        total_s: float | None = None,
        **job: object,
    ) -> tuple[_Answer, list[bytes]]:
        async with self._free:
            process = self._idle.pop() if self._idle else await _Process.start()
            try:
                async with asyncio.timeout(total_s or self._image_s):
                    answer, pieces = await process.work({"kind": kind, "cpu_s": cpu_s, **job}, data)
            except TimeoutError:
                await process.kill()
                raise Unshowable("limit") from None
            except (OSError, EOFError, ValueError):
                out_of_time = await process.kill() == -signal.SIGXCPU
                raise Unshowable("limit" if out_of_time else "decode") from None
            except BaseException:
                await process.kill()
                raise
            if process.jobs >= _JOBS_A_PROCESS:
                await process.kill()
            else:
                self._idle.append(process)
        if answer.failed is not None:
            raise Unshowable(answer.failed)
        return answer, pieces


class _Process:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._jobs = cast(asyncio.StreamWriter, process.stdin)
        self._answers = cast(asyncio.StreamReader, process.stdout)
        self.jobs = 0

    @classmethod
    async def start(cls) -> "_Process":
        """A process that has said that it is ready; raises Unavailable."""
        try:
            started = cls(
                await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "services.context.media.decoder"),
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.DEVNULL,
                    env={"PYTHONPATH": os.pathsep.join(sys.path)},
                    start_new_session=True,
                )
            )
        except OSError as error:
            raise Unavailable("the image decoder", error.strerror or type(error).__name__) from error
        try:
            async with asyncio.timeout(_START_S):
                await started._receive()
        except (TimeoutError, OSError, EOFError, ValueError):
            await started.kill()
            raise Unavailable("the image decoder", "it does not start") from None
        except BaseException:
            await started.kill()
            raise
        return started

    async def work(self, job: dict[str, object], data: bytes) -> tuple[_Answer, list[bytes]]:
        """One job; raises OSError, EOFError or ValueError where the process died or answers nonsense."""
        self.jobs += 1
        header = json.dumps({**job, "size": len(data)}).encode()
        self._jobs.write(_LENGTH.pack(len(header)) + header)
        self._jobs.write(data)
        await self._jobs.drain()
        return await self._receive()

    async def kill(self) -> int:
        """End it at once, whatever it does, and wait until it is gone; returns how it ended."""
        with suppress(ProcessLookupError):
            self._process.kill()
        self._jobs.close()
        return await asyncio.shield(self._process.wait())

    async def _receive(self) -> tuple[_Answer, list[bytes]]:
        length = _LENGTH.unpack(await self._answers.readexactly(_LENGTH.size))[0]
        if length > _MOST_HEADER:
            raise ValueError("an answer with too long a header")
        answer = _Answer.model_validate_json(await self._answers.readexactly(length))
        if sum(answer.sizes) > _MOST_ANSWER:
            raise ValueError("an answer that is too long")
        return answer, [await self._answers.readexactly(size) for size in answer.sizes]
