"""The request's body as it goes out: compact JSON into which blobs are put, as base64, where the prompt lists them.

Nothing that stands in the body says where a blob belongs, so no user's text can name one. A blob is never whole in
memory: it is read, encoded and sent a piece at a time.
"""

import base64
from collections.abc import AsyncGenerator, Iterable, Sequence, Set
from contextlib import aclosing
from dataclasses import dataclass, field

import orjson
from pydantic import JsonValue

from schemas.prompts import BlobPlace
from services.provider.failures import BlobMissing, BlobPlaceInvalid, BlobUnavailable
from services.provider.native_json import json_bytes
from services.runtime.blobs import store
from services.runtime.blobs.store import BlobStore
from services.runtime.errors import Unavailable

Segment = bytes | BlobPlace


@dataclass(frozen=True, slots=True)
class SplicedBody:
    """A body of known `length` in bytes. Iterating over it reads the blobs; raises BlobMissing or BlobUnavailable."""

    segments: Sequence[Segment]
    blobs: BlobStore

    @property
    def length(self) -> int:
        """The bytes that go out."""
        return sum(len(one) if isinstance(one, bytes) else _length(one) for one in self.segments)

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        for segment in self.segments:
            if isinstance(segment, bytes):
                yield segment
            else:
                async with aclosing(_encoded(segment, self.blobs)) as pieces:
                    async for piece in pieces:
                        yield piece


@dataclass(slots=True)
class _Node:
    """What is listed below one value of the body: a place right there, or places further down by their next token."""

    place: BlobPlace | None = None
    below: dict[str, "_Node"] = field(default_factory=dict[str, "_Node"])


def segments(body: dict[str, JsonValue], places: Sequence[BlobPlace]) -> tuple[Segment, ...]:
    """The body's JSON in order, with a place wherever a blob's text goes, its quotes included.

    Raises BlobPlaceInvalid.
    """
    root = _Node()
    for place in places:
        node = root
        for token in place.path.split("/")[1:]:
            node = node.below.setdefault(token.replace("~1", "/").replace("~0", "~"), _Node())
        if node.place is not None:
            raise BlobPlaceInvalid(f"two blobs have the place {place.path[:200]}")
        node.place = place
    made: list[Segment] = []
    _write(body, root, made)
    return _joined(made)


def _write(value: JsonValue, node: _Node, made: list[Segment]) -> None:
    if node.place is not None:
        if not isinstance(value, str) or node.below:
            raise BlobPlaceInvalid(f"there is no string of its own at {node.place.path[:200]}")
        made.append(node.place)
    elif not node.below:
        made.append(json_bytes(value))
    elif isinstance(value, dict):
        _write_members(value, node, made)
    elif isinstance(value, list):
        _write_items(value, node, made)
    else:
        raise BlobPlaceInvalid(f"there is nothing below the place of {_first(node).path[:200]}")


def _write_members(value: dict[str, JsonValue], node: _Node, made: list[Segment]) -> None:
    _refuse_unknown(node, value.keys())
    for number, (name, member) in enumerate(value.items()):
        made.append((b"," if number else b"{") + orjson.dumps(name) + b":")
        _write(member, node.below.get(name) or _Node(), made)
    made.append(b"}")


def _write_items(value: list[JsonValue], node: _Node, made: list[Segment]) -> None:
    _refuse_unknown(node, {str(number) for number in range(len(value))})
    for number, item in enumerate(value):
        made.append(b"," if number else b"[")
        _write(item, node.below.get(str(number)) or _Node(), made)
    made.append(b"]")


def _refuse_unknown(node: _Node, known: Set[str]) -> None:
    for name in node.below.keys() - known:
        raise BlobPlaceInvalid(f"the body has nothing at {_first(node.below[name]).path[:200]}")


def _first(node: _Node) -> BlobPlace:
    """Any place at or below a node."""
    while node.place is None:
        node = next(iter(node.below.values()))
    return node.place


def _joined(made: Iterable[Segment]) -> tuple[Segment, ...]:
    """The same with neighbouring bytes in one."""
    joined: list[Segment] = []
    gathered: list[bytes] = []
    for segment in made:
        if isinstance(segment, bytes):
            gathered.append(segment)
        else:
            joined += [b"".join(gathered), segment]
            gathered.clear()
    return (*joined, b"".join(gathered))


def _length(place: BlobPlace) -> int:
    return len(orjson.dumps(place.prefix)) + (place.blob.size + 2) // 3 * 4


async def _encoded(place: BlobPlace, blobs: BlobStore) -> AsyncGenerator[bytes]:
    """The JSON string of one place; raises BlobMissing or BlobUnavailable."""
    yield orjson.dumps(place.prefix)[:-1]
    rest = b""
    try:
        async with aclosing(blobs.read(place.blob)) as pieces:
            async for piece in pieces:
                rest += piece
                whole = len(rest) - len(rest) % 3
                yield base64.b64encode(rest[:whole])
                rest = rest[whole:]
    except store.BlobMissing as error:
        raise BlobMissing(f"what belongs at {place.path[:200]} is missing: {error}") from error
    except Unavailable as error:
        raise BlobUnavailable(str(error)) from error
    yield base64.b64encode(rest) + b'"'
