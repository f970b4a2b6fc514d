"""A stage for each provider, and a blob store with both pictures in it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from schemas.context import ImagePart
from services.runtime.blobs.folder import FolderStore
from tests.provider.token_endpoint import google_account
from tests.provider.turns.rows import PLACE, Row
from tests.provider.turns.script import TOOLS_PICTURE, USERS_PICTURE
from tests.provider.turns.stage import Stage, StageOf, serving

_TOKEN = "ya29.token-number-1"


@dataclass(frozen=True)
class Pictures:
    """The user's picture and the tool's, whose bytes wait in the store."""

    store: FolderStore
    users: ImagePart
    tools: ImagePart


@pytest.fixture
async def pictures(tmp_path: Path) -> Pictures:
    store = FolderStore(tmp_path / "blobs", keep_s=3600, most_bytes=1 << 20)
    users, tools = await store.put(USERS_PICTURE), await store.put(TOOLS_PICTURE)
    return Pictures(
        store,
        ImagePart(mime_type="image/png", blob=users, name="cat.png"),
        ImagePart(mime_type="image/png", blob=tools, name="seen.png"),
    )


@pytest.fixture
async def stage_of(
    make_bench: Callable[..., Awaitable[Any]],
    pictures: Pictures,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[StageOf]:
    """Makes the stage of a row: `await stage_of(row)`."""
    async with AsyncExitStack() as stack:

        async def make(row: Row) -> Stage:
            server = await stack.enter_async_context(serving(row.player, ""))
            more: dict[str, Any] = {}
            if row.target.provider == "vertex":
                await stack.enter_async_context(google_account(tmp_path, monkeypatch))
                # The settings' own provider may be sent Google's token, wherever it is.
                more = {"vertex": PLACE, "provider_url": server.url}
            bench = await make_bench(blobs=pictures.store, **more)
            key = _TOKEN if more else bench.key
            server.key = f"Bearer {key}" if row.player.key_header == "authorization" else key
            return Stage(row, bench, server)

        yield make
