"""Blobs in a bucket of S3, or of anything that speaks its protocol, by aiobotocore.

Where and as whom is told by the variables of AWS's own tools: AWS_REGION, AWS_ENDPOINT_URL_S3 for another server,
credentials or a role. Nothing is deleted here: give the bucket a lifecycle rule that expires what is older than the log's
prompts (7 days).
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Any

from aiobotocore.config import AioConfig
from aiobotocore.session import AioSession
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError

from schemas.context import BlobRef
from services.runtime.blobs.store import PIECE_BYTES, BlobMissing, reference, verified
from services.runtime.errors import Unavailable

if TYPE_CHECKING:
    from types_aiobotocore_s3 import S3Client

_CONFIG = AioConfig(
    connect_timeout=5,
    read_timeout=20,
    max_pool_connections=32,
    retries={"mode": "standard", "max_attempts": 3},
    # Other servers than Amazon's refuse the checksums of newer clients; what is read is compared with its name anyway.
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
)
_GONE = frozenset({"NoSuchKey", "404"})


class S3Store:
    """A bucket; keys are `PREFIX/SHA256`."""

    def __init__(self, client: "S3Client", stack: AsyncExitStack, bucket: str, prefix: str) -> None:
        self._client = client
        self._stack = stack
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""

    @classmethod
    async def open(cls, bucket: str, prefix: str) -> "S3Store":
        """Open it, which reads the SDK's tables for up to a second: do it before the work begins."""
        stack = AsyncExitStack()
        session: Any = AioSession()  # it has no types of its own
        client: S3Client = await stack.enter_async_context(session.create_client("s3", config=_CONFIG))
        return cls(client, stack, bucket, prefix)

    async def put(self, data: bytes) -> BlobRef:
        """Keep the bytes; raises BlobRefused or Unavailable."""
        ref = reference(data)
        try:
            await self._client.put_object(Bucket=self._bucket, Key=self._prefix + ref.key, Body=data)
        except (ClientError, BotoCoreError, HTTPClientError) as error:
            raise _unavailable(error) from None
        return ref

    async def read(self, ref: BlobRef) -> AsyncGenerator[bytes]:
        """The bytes, a piece at a time; raises BlobMissing or Unavailable."""
        async with aclosing(verified(ref, self._pieces(self._prefix + ref.key))) as pieces:
            async for piece in pieces:
                yield piece

    async def _pieces(self, key: str) -> AsyncGenerator[bytes]:
        try:
            found = await self._client.get_object(Bucket=self._bucket, Key=key)
            stream: Any = found["Body"]
            async with stream as body:
                async for piece in body.iter_chunks(PIECE_BYTES):
                    yield piece
        except (ClientError, BotoCoreError, HTTPClientError) as error:
            if isinstance(error, ClientError) and _code(error) in _GONE:
                raise BlobMissing("there is no such blob any more") from None
            raise _unavailable(error) from None

    async def aclose(self) -> None:
        """Close the connections."""
        await self._stack.aclose()


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _unavailable(error: ClientError | BotoCoreError | HTTPClientError) -> Unavailable:
    """Without the library's text, which holds the address."""
    reason = _code(error) if isinstance(error, ClientError) else ""
    return Unavailable("the blobs' bucket", reason or type(error).__name__)
