"""Blobs in a real folder and on a real server of S3's protocol: what is put comes back, or its loss is said."""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from botocore.session import get_session
from moto.server import ThreadedMotoServer

from schemas.context import BlobRef
from services.runtime.blobs.folder import YOUNG_S, FolderStore
from services.runtime.blobs.s3 import S3Store
from services.runtime.blobs.store import MOST_BYTES, BlobMissing, BlobRefused, BlobStore, open_store
from services.runtime.errors import ConfigurationError, Unavailable
from services.runtime.settings import Settings

DAY = 86_400.0


def folder_store(folder: Path, *, most_bytes: int = 10**9) -> FolderStore:
    return FolderStore(folder, keep_s=7 * DAY, most_bytes=most_bytes)


async def whole(store: BlobStore, ref: BlobRef) -> bytes:
    return b"".join([piece async for piece in store.read(ref)])


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def s3_server() -> Iterator[str]:
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden-secret-of-the-test")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    client = get_session().create_client("s3")
    client.create_bucket(Bucket="media")
    yield "media"
    for found in client.list_objects_v2(Bucket="media").get("Contents", []):
        client.delete_object(Bucket="media", Key=found["Key"])
    client.delete_bucket(Bucket="media")
    client.close()


@pytest.fixture(params=["folder", "s3"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BlobStore]:
    if request.param == "s3":
        request.getfixturevalue("bucket")
        store: BlobStore = await open_store(Settings(blobs="s3://media/a/b"))
        assert isinstance(store, S3Store)
    else:
        store = await open_store(Settings(blobs=str(tmp_path / "blobs")))
        assert isinstance(store, FolderStore)
    yield store
    await store.aclose()


@pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)) * 20_000])
async def test_what_is_put_comes_back_under_its_hash(store: BlobStore, data: bytes) -> None:
    ref = await store.put(data)
    assert ref == BlobRef(key=hashlib.sha256(data).hexdigest(), size=len(data))
    assert await whole(store, ref) == data


async def test_many_put_the_same_and_others_at_once(store: BlobStore) -> None:
    blobs = [bytes([number % 5]) * 1_000 for number in range(40)]
    refs = await asyncio.gather(*(store.put(blob) for blob in blobs))
    assert list(await asyncio.gather(*(whole(store, ref) for ref in refs))) == blobs


async def test_a_blob_that_is_not_there_is_missing(store: BlobStore) -> None:
    with pytest.raises(BlobMissing):
        await whole(store, BlobRef(key="0" * 64, size=3))


async def test_a_reference_with_another_size_gets_nothing(store: BlobStore) -> None:
    ref = await store.put(b"four")
    for size in (3, 5):
        with pytest.raises(BlobMissing):
            await whole(store, BlobRef(key=ref.key, size=size))


async def test_a_blob_over_the_bound_is_refused(store: BlobStore) -> None:
    with pytest.raises(BlobRefused):
        await store.put(bytes(MOST_BYTES + 1))


async def test_a_damaged_file_is_missing_until_it_is_put_again(tmp_path: Path) -> None:
    store = folder_store(tmp_path)
    ref = await store.put(b"four")
    (file,) = files(tmp_path)
    file.write_bytes(b"f0ur")
    with pytest.raises(BlobMissing):
        await whole(store, ref)
    await store.put(b"four")
    assert await whole(store, ref) == b"four"


async def test_no_more_than_the_blob_is_handed_out_of_a_file_that_has_grown(tmp_path: Path) -> None:
    store = folder_store(tmp_path)
    ref = await store.put(b"four")
    (file,) = files(tmp_path)
    file.write_bytes(b"four and more")
    with pytest.raises(BlobMissing):
        await anext(store.read(ref))


async def test_a_large_blob_comes_in_pieces(store: BlobStore) -> None:
    ref = await store.put(bytes(3_000_000))
    assert max([len(piece) async for piece in store.read(ref)]) < 500_000


async def test_only_the_owner_may_look_into_the_folder(tmp_path: Path) -> None:
    store = folder_store(tmp_path / "new" / "blobs")
    await store.put(b"four")
    assert (tmp_path / "new" / "blobs").stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in files(tmp_path))


async def test_a_blob_that_is_not_used_for_a_week_goes_and_one_put_again_stays(tmp_path: Path) -> None:
    store = folder_store(tmp_path)
    old, used, young = [await store.put(data) for data in (b"old", b"used", b"young")]
    past = time.time() - 8 * DAY
    for file in files(tmp_path):
        if file.name != young.key:
            os.utime(file, (past, past))
    await store.put(b"used")
    await folder_store(tmp_path).put(b"another process")
    assert await whole(store, used) == b"used"
    assert await whole(store, young) == b"young"
    with pytest.raises(BlobMissing):
        await whole(store, old)


async def test_the_oldest_go_while_the_folder_is_over_its_bound(tmp_path: Path) -> None:
    store = folder_store(tmp_path)
    refs = [await store.put(bytes([number]) * 100) for number in range(4)]
    for number, ref in enumerate(refs):
        past = time.time() - YOUNG_S - 1_000 + number
        os.utime(tmp_path / ref.key[:2] / ref.key, (past, past))
    await folder_store(tmp_path, most_bytes=300).put(b"x" * 100)
    left = {file.name for file in files(tmp_path)}
    assert [ref.key in left for ref in refs] == [False, False, True, True]


async def test_young_blobs_are_never_deleted_for_room_so_a_full_folder_takes_no_more(tmp_path: Path) -> None:
    store = folder_store(tmp_path, most_bytes=250)
    refs = [await store.put(bytes([number]) * 100) for number in range(2)]
    with pytest.raises(BlobRefused):
        await store.put(b"x" * 100)
    assert [len(await whole(store, ref)) for ref in refs] == [100, 100]


async def test_what_a_killed_writer_left_behind_goes(tmp_path: Path) -> None:
    store = folder_store(tmp_path)
    await store.put(b"four")
    left = next(path for path in tmp_path.iterdir()) / ".part-abc"
    left.write_bytes(b"half")
    past = time.time() - 7_200
    os.utime(left, (past, past))
    await folder_store(tmp_path).put(b"five")
    assert not left.exists()


async def test_a_folder_that_cannot_be_written_is_unavailable(tmp_path: Path) -> None:
    store = folder_store(tmp_path / "blobs")
    (tmp_path / "blobs").rmdir()
    (tmp_path / "blobs").write_bytes(b"a file")
    with pytest.raises(Unavailable):
        await store.put(b"four")
    with pytest.raises(ConfigurationError):
        folder_store(tmp_path / "blobs")


@pytest.mark.parametrize("change", [{"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9"}, {}])
async def test_a_bucket_that_is_away_is_unavailable_and_no_error_holds_a_secret_or_an_address(
    change: dict[str, str], bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in change.items():
        monkeypatch.setenv(name, value)
    store = await S3Store.open("media" if change else "no-such-bucket", "")
    with pytest.raises(Unavailable) as failed:
        await store.put(b"four")
    await store.aclose()
    shown = f"{failed.value} {failed.value!r} {failed.value.__cause__}"
    assert not any(word in shown for word in ("hidden", "127.0.0.1", "no-such-bucket"))


@pytest.mark.parametrize("wrong", ["s3://", "s3://A/x", "gs://bucket", "http://host/", "s3://bucket/../x y"])
def test_a_setting_that_names_no_store_is_refused_at_the_start(wrong: str) -> None:
    with pytest.raises(ValueError, match="blobs"):
        Settings(blobs=wrong)
