"""A catalog for a crowd: what servers and people set up, written as the command line writes it."""

from pathlib import Path
from uuid import uuid4

from pydantic import SecretStr
from sqlalchemy import delete

from services.catalog.catalog import Catalog
from services.catalog.choices import choose_model, fallback_target, find_model, set_fallbacks
from services.catalog.endpoint import ApiStyle, Endpoint
from services.catalog.endpoints import save_endpoint
from services.catalog.keys import add_pooled_key, save_key
from services.catalog.owners import Owner, Server
from services.catalog.tables import (
    CustomEndpoint,
    FallbackReference,
    RotationKey,
    SavedProviderConfig,
    ServerConfig,
    UserSavedProviderConfig,
)
from services.runtime.settings import Settings


def catalog_environment(directory: Path) -> dict[str, str]:
    """The variables of a catalog of its own, with a new secret."""
    return {
        "ODRADEK_DATABASE_URL": f"sqlite:///{directory}/catalog.db",
        "ODRADEK_CRYPTO_SECRET_V1": uuid4().hex * 2,
    }


def catalog_settings(environment: dict[str, str]) -> Settings:
    return Settings(
        database_url=SecretStr(environment["ODRADEK_DATABASE_URL"]),
        crypto_secrets={1: SecretStr(environment["ODRADEK_CRYPTO_SECRET_V1"])},
    )


async def forget_all(catalog: Catalog) -> None:
    """Nobody has set anything up."""
    tables = (
        RotationKey,
        FallbackReference,
        ServerConfig,
        SavedProviderConfig,
        UserSavedProviderConfig,
        CustomEndpoint,
    )
    async with catalog.database.writing() as session:
        for table in tables:
            await session.execute(delete(table))


async def offer(
    catalog: Catalog, owner: Owner, label: str, url: str, *keys: str, style: ApiStyle = "openai-compatible"
) -> str:
    """An endpoint of the owner's, chosen as their model; returns its provider's name."""
    async with catalog.database.writing() as session:
        saved = await save_endpoint(session, owner, Endpoint(label, url, "sandbox-echo", style=style))
        key = SecretStr(keys[0]) if keys else None
        await save_key(session, catalog.keyring, owner, saved.provider, key)
        await choose_model(session, owner, await find_model(session, saved.provider, f"{label}-text"))
        for pooled in keys[1:]:
            assert isinstance(owner, Server)
            await add_pooled_key(session, catalog.keyring, owner, saved.provider, SecretStr(pooled))
    return saved.provider


async def fall_back_on(catalog: Catalog, server: Server, provider: str, label: str) -> None:
    async with catalog.database.writing() as session:
        model = await find_model(session, provider, f"{label}-text")
        await set_fallbacks(session, server, [await fallback_target(session, server, model)])
