"""A small file system in memory that a broker keeps its records on, so that it can be filled without harm to others."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

from services.sandbox.brokers.errors import BrokerUnavailable
from services.sandbox.brokers.jvm import JvmKafka

_PIECE = 1024 * 1024


class SmallDisk:
    """A mounted file system; `small_disk` makes one."""

    def __init__(self, at: Path) -> None:
        self.at = at
        self._filler = at / "filler"

    async def fill(self) -> None:
        """Take all space that is left."""
        await asyncio.to_thread(self._fill)

    def free(self) -> None:
        """Give it back."""
        self._filler.unlink(missing_ok=True)

    def _fill(self) -> None:
        piece = bytes(_PIECE)
        with self._filler.open("wb", buffering=0) as out:
            while piece:
                try:
                    written = out.write(piece)
                except OSError:
                    written = 0
                if written < len(piece):
                    piece = piece[: len(piece) // 2]


@contextlib.asynccontextmanager
async def small_disk(at: Path, *, mib: int) -> AsyncGenerator[SmallDisk]:
    """Mount one of `mib` MiB. Raises BrokerUnavailable where this user or this system may not."""
    at.mkdir(parents=True)
    why = await _run("mount", "-t", "tmpfs", "-o", f"size={mib}m", "odradek", str(at))
    if why:
        raise BrokerUnavailable(f"no file system can be mounted for the broker: {why}", "run as root on Linux")
    try:
        yield SmallDisk(at)
    finally:
        await _run("umount", "--lazy", str(at))


async def keep_data_on(disk: SmallDisk, directory: Path) -> None:
    """Let a `JvmKafka` that starts in `directory` keep its records on the disk."""
    installed = await JvmKafka.prepare()
    shutil.copytree(installed.formatted, disk.at / "data")
    (directory / "data").symlink_to(disk.at / "data", target_is_directory=True)


async def _run(*command: str) -> str:
    """Run a system's command; returns its complaint, an empty text if it has none."""
    try:
        process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    except OSError as error:
        return str(error)
    _, complaint = await process.communicate()
    return "" if process.returncode == 0 else complaint.decode(errors="replace").strip() or f"exit {process.returncode}"
