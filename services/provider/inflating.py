"""Bodies that come compressed although nobody asked for it, decoded a piece at a time."""

import zlib
from collections.abc import Iterator, Mapping

_MOST_DECODED_BYTES = 64 * 1024
_ZLIB_OR_GZIP = zlib.MAX_WBITS | 32


class Inflating:
    """Decodes for the server that compresses although it was asked not to, never more than a piece at a time.

    httpx would decode all that one read brings at once, and coding within coding: kilobytes that become gigabytes.
    """

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(_ZLIB_OR_GZIP)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The next pieces; raises zlib.error."""
        while not self._zlib.eof:
            piece = self._zlib.decompress(data, _MOST_DECODED_BYTES)
            if piece:
                yield piece
            data = self._zlib.unconsumed_tail
            if not data and len(piece) < _MOST_DECODED_BYTES:
                return


def inflating(headers: Mapping[str, str]) -> Inflating | None:
    """The decoder of a body that is compressed once; None leaves all other bodies as they are."""
    codings = [coding.strip().lower() for coding in headers.get("content-encoding", "").split(",")]
    named = [coding for coding in codings if coding not in ("", "identity")]
    return Inflating() if named in (["gzip"], ["x-gzip"], ["deflate"]) else None
