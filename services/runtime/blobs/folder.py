"""Blobs in a folder of this machine, or one that several machines mount: a file a blob, by its SHA-256.

A file appears whole, by a rename. It is not forced to the disk: a power cut can lose or damage only blobs whose prompts have
expired by the time the machine is back, and damage is seen when a blob is read.

What goes: a blob that nobody has put again for `keep_s` seconds; and, while the folder holds more than `most_bytes`, the
oldest ones, but none younger than a quarter of an hour, whose prompts may still be sent.
"""

import asyncio
import os
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from schemas.context import BlobRef
from services.runtime.blobs.store import PIECE_BYTES, BlobMissing, BlobRefused, reference, verified
from services.runtime.errors import ConfigurationError, Unavailable

YOUNG_S = 900.0
_SWEEP_EVERY_S = 600.0
_SWEEP_WHEN_FULL_EVERY_S = 10.0
_ABANDONED_S = 3_600.0
_TEMPORARY = ".part-"


class FolderStore:
    """A folder that only its owner may read. Work on files is done in threads; any number of processes may share it."""

    def __init__(self, folder: Path, *, keep_s: float, most_bytes: int) -> None:
        self._folder = folder
        self._keep_s = keep_s
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._held = 0
        self._swept_at: float | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            owner = folder.stat().st_uid
        except OSError as error:
            raise ConfigurationError(f"the blobs' folder cannot be used: {error.strerror or error}") from error
        if owner not in (os.getuid(), 0):
            raise ConfigurationError(
                "the blobs' folder belongs to another user", remedy="set ODRADEK_BLOBS to a folder of your own"
            )

    async def put(self, data: bytes) -> BlobRef:
        """Keep the bytes, and make room where that is due; raises BlobRefused, or Unavailable where writing fails."""
        return await asyncio.to_thread(self._put, data)

    async def read(self, ref: BlobRef) -> AsyncGenerator[bytes]:
        """The bytes, a piece at a time; raises BlobMissing, or Unavailable where reading fails."""
        async with aclosing(verified(ref, self._pieces(self._path(ref.key)))) as pieces:
            async for piece in pieces:
                yield piece

    async def aclose(self) -> None:
        """Nothing is open."""

    def _put(self, data: bytes) -> BlobRef:
        ref = reference(data)
        try:
            with self._lock:
                self._make_room(len(data))
                self._held += len(data)
            self._write(self._path(ref.key), data)
        except OSError as error:
            raise Unavailable("the blobs' folder", error.strerror or type(error).__name__) from error
        return ref

    async def _pieces(self, path: Path) -> AsyncGenerator[bytes]:
        try:
            file = await asyncio.to_thread(path.open, "rb")
            try:
                while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
                    yield piece
            finally:
                file.close()
        except FileNotFoundError:
            raise BlobMissing("there is no such blob any more") from None
        except OSError as error:
            raise Unavailable("the blobs' folder", error.strerror or type(error).__name__) from error

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def _write(self, path: Path, data: bytes) -> None:
        """Replaces a file that is there: it may be damaged, and this makes it young."""
        path.parent.mkdir(exist_ok=True, mode=0o700)
        with NamedTemporaryFile(dir=path.parent, prefix=_TEMPORARY, delete=False) as file:
            try:
                file.write(data)
                file.flush()
                os.replace(file.name, path)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(file.name)
                raise

    def _make_room(self, size: int) -> None:
        is_full = self._held + size > self._most_bytes
        pause = _SWEEP_WHEN_FULL_EVERY_S if is_full else _SWEEP_EVERY_S
        now = time.time()
        if self._swept_at is None or not 0 <= now - self._swept_at < pause:
            self._held = self._sweep(now, self._most_bytes - size)
            self._swept_at = now
        if self._held + size > self._most_bytes:
            raise BlobRefused("the blobs' folder holds as much as it may")

    def _sweep(self, now: float, most_bytes: int) -> int:
        """Delete what has to go; returns how many bytes are left."""
        files = sorted(self._files(), key=lambda file: file[0])
        held = sum(size for _, size, _ in files)
        for changed, size, path in files:
            age = now - changed
            is_due = age > (_ABANDONED_S if path.name.startswith(_TEMPORARY) else self._keep_s)
            if is_due or (held > most_bytes and age > YOUNG_S):
                with suppress(FileNotFoundError):
                    path.unlink()
                held -= size
        return held

    def _files(self) -> Iterator[tuple[float, int, Path]]:
        for path in self._folder.glob("??/*"):
            with suppress(FileNotFoundError):
                stat = path.stat()
                yield stat.st_mtime, stat.st_size, path
