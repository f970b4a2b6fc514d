"""The port of a blob store, its errors, and the opening of the one that the settings name.

A blob is named by its content, so writing one twice is harmless, and what is read is compared with its name.
"""

import hashlib
import os
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Protocol

from schemas.context import BlobRef
from services.runtime.errors import ConfigurationError, OdradekError
from services.runtime.settings import Settings

MOST_BYTES = 64 * 1024 * 1024
"""The largest blob; it is whole in memory while it is put."""

PIECE_BYTES = 256 * 1024


class BlobMissing(OdradekError):
    """There is no such blob any more, or its bytes are not those that it is named after."""


class BlobRefused(OdradekError):
    """The blob is too large, or the store holds as much as it may."""


class BlobStore(Protocol):
    """Bytes under their SHA-256. All of it raises Unavailable while the store cannot be reached."""

    async def put(self, data: bytes) -> BlobRef:
        """Keep the bytes; they can be read once this returns. Raises BlobRefused."""
        ...

    def read(self, ref: BlobRef) -> AsyncGenerator[bytes]:
        """Exactly the bytes that were kept, a piece at a time; raises BlobMissing, after the last piece if that is wrong."""
        ...

    async def aclose(self) -> None:
        """Close what is open."""
        ...


def reference(data: bytes) -> BlobRef:
    """The name of the bytes; raises BlobRefused where they are too many."""
    if len(data) > MOST_BYTES:
        raise BlobRefused(f"a blob has {MOST_BYTES} bytes at most")
    return BlobRef(key=hashlib.sha256(data).hexdigest(), size=len(data))


async def verified(ref: BlobRef, pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The pieces as they come, as many bytes as the name says; raises BlobMissing where they are not those of the name."""
    size, digest = 0, hashlib.sha256()
    async for piece in pieces:
        size += len(piece)
        digest.update(piece)
        if size > ref.size:
            break
        yield piece
    if size != ref.size or digest.hexdigest() != ref.key:
        raise BlobMissing("a blob is damaged")


async def open_store(settings: Settings) -> BlobStore:
    """The store of the settings, for the start of a process; raises ConfigurationError where it cannot be opened."""
    location = settings.blobs
    if not location.startswith("s3://"):
        from services.runtime.blobs.folder import FolderStore

        folder = Path(location) if location else Path(tempfile.gettempdir()) / f"odradek-{os.getuid()}" / "blobs"
        return FolderStore(folder, keep_s=settings.blob_days * 86_400, most_bytes=settings.blob_max_mb * 1_000_000)
    try:
        from services.runtime.blobs.s3 import S3Store
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "ODRADEK_BLOBS names an S3 bucket, but the library for it is not installed",
            remedy="pip install 'odradek[s3]'",
        ) from error
    bucket, _, prefix = location.removeprefix("s3://").partition("/")
    return await S3Store.open(bucket, prefix.strip("/"))
