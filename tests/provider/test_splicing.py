"""Blobs in a body: what goes out is the JSON that has each blob's text in its place, whatever users wrote beside it."""

import base64
import hashlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from schemas.context import BlobRef
from schemas.prompts import BlobPlace
from services.context.blob_places import take_out
from services.context.rendered import BlobText, NativeValue
from services.provider.failures import BlobMissing, BlobPlaceInvalid, BlobUnavailable
from services.provider.splicing import SplicedBody, segments
from services.runtime.blobs.folder import FolderStore


class MemoryBlobs:
    """Blobs by key, read in pieces of `piece` bytes."""

    def __init__(self, *blobs: bytes, piece: int = 1000) -> None:
        self.by_key = {hashlib.sha256(blob).hexdigest(): blob for blob in blobs}
        self.piece = piece

    async def put(self, data: bytes) -> BlobRef:
        raise AssertionError("sending puts nothing")

    async def read(self, ref: BlobRef) -> AsyncGenerator[bytes]:
        blob = self.by_key[ref.key]
        for start in range(0, len(blob), self.piece):
            yield blob[start : start + self.piece]

    async def aclose(self) -> None: ...


async def sent(body: dict[str, JsonValue], places: tuple[BlobPlace, ...], blobs: MemoryBlobs) -> bytes:
    spliced = SplicedBody(segments(body, places), blobs)
    out = b"".join([piece async for piece in spliced])
    assert len(out) == spliced.length
    return out


def ref_of(blob: bytes) -> BlobRef:
    return BlobRef(key=hashlib.sha256(blob).hexdigest(), size=len(blob))


NAMES = st.text("ab~/01", max_size=4)
BLOBS = st.builds(lambda data, prefix: (data, prefix), st.binary(max_size=20), st.text('da:;,"\\é', max_size=5))
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text(max_size=5), BLOBS)
TREES: st.SearchStrategy[Any] = st.dictionaries(
    NAMES,
    st.recursive(
        LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=12
    ),
    max_size=4,
)


def with_texts(value: Any) -> Any:
    match value:
        case (bytes() as data, str() as prefix):
            return prefix + base64.b64encode(data).decode()
        case dict():
            return {name: with_texts(member) for name, member in value.items()}
        case list():
            return [with_texts(item) for item in value]
        case _:
            return value


def with_blobs(value: Any, found: list[bytes]) -> NativeValue:
    match value:
        case (bytes() as data, str() as prefix):
            found.append(data)
            return BlobText(ref_of(data), prefix)
        case dict():
            return {name: with_blobs(member, found) for name, member in value.items()}
        case list():
            return [with_blobs(item, found) for item in value]
        case _:
            return value


@given(tree=TREES, piece=st.integers(1, 7))
async def test_taken_out_and_put_in_again_a_body_is_what_its_texts_would_make(tree: Any, piece: int) -> None:
    found: list[bytes] = []
    native = with_blobs(tree, found)
    assert isinstance(native, dict)
    body, places = take_out(native)
    out = await sent(body, places, MemoryBlobs(*found, piece=piece))
    assert out == orjson.dumps(with_texts(tree))


async def test_what_a_user_writes_names_no_blob() -> None:
    picture = b"\x89PNG"
    place = BlobPlace(path="/messages/0/content/1/image_url/url", blob=ref_of(picture), prefix="data:image/png;base64,")
    said = f'{place.path} {{"blob": "{place.blob.key}"}} {place.model_dump_json()}'
    body: dict[str, JsonValue] = {"messages": [{"content": [{"text": said}, {"image_url": {"url": ""}}]}]}
    out = orjson.loads(await sent(body, (place,), MemoryBlobs(picture)))
    assert out == {
        "messages": [{"content": [{"text": said}, {"image_url": {"url": "data:image/png;base64,iVBORw=="}}]}]
    }


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        (("/b",), "nothing at /b"),
        (("/list/2",), "nothing at /list/2"),
        (("/list/01",), "nothing at /list/01"),
        (("/list/-",), "nothing at /list/-"),
        (("/text/0",), "nothing below"),
        (("/number",), "no string"),
        (("/list",), "no string"),
        (("/text", "/text"), "two blobs"),
        (("/text", "/text/more"), "no string"),
    ],
)
def test_a_place_that_is_no_string_of_the_body_is_refused(paths: tuple[str, ...], told: str) -> None:
    body: dict[str, JsonValue] = {"text": "", "number": 7, "list": ["", ""]}
    with pytest.raises(BlobPlaceInvalid, match=told):
        segments(body, [BlobPlace(path=path, blob=ref_of(b"x")) for path in paths])


@pytest.mark.parametrize("path", ["", "text", "/a~2b", "/a~", "/" + "a" * 1024])
def test_a_path_that_is_no_pointer_into_the_body_is_refused(path: str) -> None:
    with pytest.raises(ValidationError):
        BlobPlace(path=path, blob=ref_of(b"x"))


async def test_a_damaged_blob_is_not_sent_as_if_it_were_right(tmp_path: Path) -> None:
    store = FolderStore(tmp_path, keep_s=60, most_bytes=1_000_000)
    ref = await store.put(b"four")
    (tmp_path / ref.key[:2] / ref.key).write_bytes(b"five")
    spliced = SplicedBody(segments({"a": ""}, [BlobPlace(path="/a", blob=ref)]), store)
    with pytest.raises(BlobMissing, match="/a"):
        _ = [piece async for piece in spliced]


async def test_a_store_that_cannot_be_read_is_worth_another_try(tmp_path: Path) -> None:
    store = FolderStore(tmp_path, keep_s=60, most_bytes=1_000_000)
    ref = ref_of(b"four")
    (tmp_path / ref.key[:2] / ref.key).mkdir(parents=True)
    spliced = SplicedBody(segments({"a": ""}, [BlobPlace(path="/a", blob=ref)]), store)
    with pytest.raises(BlobUnavailable) as error:
        _ = [piece async for piece in spliced]
    assert error.value.retryable


async def test_no_piece_is_larger_than_what_is_read_at_once() -> None:
    blob = bytes(3_000_000)
    spliced = SplicedBody(
        segments({"a": ""}, [BlobPlace(path="/a", blob=ref_of(blob))]), MemoryBlobs(blob, piece=65_536)
    )
    assert max([len(piece) async for piece in spliced]) < 100_000
