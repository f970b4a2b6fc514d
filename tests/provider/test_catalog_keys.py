"""Keys of the catalog by reference: opened, kept shortly, waited for, and never shown."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import select, update

from schemas.prompts import CredentialRef
from services.catalog.catalog import Catalog, open_catalog
from services.catalog.keys import CredentialReference, add_pooled_key, reveal, save_key
from services.catalog.outcomes import record_success
from services.catalog.owners import Server
from services.catalog.tables import RotationKey
from services.provider.catalog_keys import MOST_KEPT, CatalogKeys
from services.provider.credentials import Credentials
from services.provider.failures import CredentialUnavailable, CredentialUnusable
from services.provider.google_tokens import GoogleTokens
from services.runtime.errors import Unavailable
from services.runtime.settings import Settings

SECRET = "sk-of-the-catalog-0123456789"
REFERENCE = CredentialReference("server", "a")


async def noted(reference: CredentialReference, began_ms: int) -> None:
    raise AssertionError("no success here")


def credentials(keys: CatalogKeys | None) -> Credentials:
    return Credentials(Settings(), GoogleTokens(httpx.Client), keys)


async def of_catalog(catalog: Catalog) -> tuple[CredentialReference, CredentialReference]:
    """The main key and one of the pool."""
    async with catalog.database.writing() as session:
        main = await save_key(session, catalog.keyring, Server("10"), "anthropic", SecretStr(SECRET))
        pooled = await add_pooled_key(session, catalog.keyring, Server("10"), "anthropic", SecretStr(f"{SECRET}-2"))
    return main, pooled


async def test_a_reference_finds_its_key_and_a_success_ends_the_keys_rest(tmp_path: Path) -> None:
    settings = Settings(
        database_url=SecretStr(f"sqlite:///{tmp_path}/catalog.db"), crypto_secrets={1: SecretStr("s" * 32)}
    )
    async with open_catalog(settings) as catalog:
        main, pooled = await of_catalog(catalog)
        ended = asyncio.Event()

        async def note(reference: CredentialReference, began_ms: int) -> None:
            await record_success(catalog, reference, began_ms)
            ended.set()

        found = credentials(CatalogKeys(lambda reference: reveal(catalog, reference), note))
        credential = await found.find(CredentialRef(name=str(main), placement="x-api-key"))
        assert credential.headers == (("x-api-key", SECRET),)
        assert SECRET not in f"{credential!r} {found!r}"

        async with catalog.database.writing() as session:
            await session.execute(
                update(RotationKey).where(RotationKey.id == pooled.id).values(last_error="rate_limit", last_error_ms=5)
            )
        found.succeeded(str(pooled), began_ms=6)
        await asyncio.wait_for(ended.wait(), 30)
        async with catalog.database.reading() as session:
            rest = select(RotationKey.last_error).where(RotationKey.id == pooled.id)
            assert await session.scalar(rest) is None

        gone = CredentialRef(name="catalog/server/gone", placement="bearer")
        with pytest.raises(CredentialUnusable, match="not in the catalog any more"):
            await found.find(gone)


async def test_without_a_catalog_a_reference_is_refused_and_names_of_settings_hold() -> None:
    with pytest.raises(CredentialUnusable, match="reads no catalog"):
        await credentials(None).find(CredentialRef(name=str(REFERENCE), placement="bearer"))
    own = Credentials(Settings(openai_api_key=SecretStr(SECRET)), GoogleTokens(httpx.Client))
    assert (await own.find(CredentialRef(name="openai", placement="bearer"))).secret == SECRET


async def test_a_key_that_was_opened_serves_further_calls_and_not_all_are_kept() -> None:
    asked: list[CredentialReference] = []

    async def opened(reference: CredentialReference) -> SecretStr:
        asked.append(reference)
        return SecretStr(SECRET)

    keys = CatalogKeys(opened, noted)
    for _ in range(3):
        assert (await keys.key(REFERENCE)).get_secret_value() == SECRET
    assert asked == [REFERENCE]
    for number in range(MOST_KEPT):
        await keys.key(CredentialReference("server", str(number)))
    await keys.key(REFERENCE)
    assert asked.count(REFERENCE) == 2


async def test_a_database_that_is_away_is_waited_for_up_to_a_bound() -> None:
    outages = [Unavailable("the catalog's database", "it is away")] * 2

    async def opened(reference: CredentialReference) -> SecretStr:
        if outages:
            raise outages.pop()
        return SecretStr(SECRET)

    assert (await CatalogKeys(opened, noted, retry_s=0).key(REFERENCE)).get_secret_value() == SECRET

    async def never(reference: CredentialReference) -> Any:
        raise Unavailable("the catalog's database", "it is away")

    with pytest.raises(CredentialUnavailable) as error:
        await CatalogKeys(never, noted, within_s=0.01, retry_s=0).key(REFERENCE)
    assert error.value.retryable
