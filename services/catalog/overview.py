"""What a server or a person has set up, for people to see: providers, models, switches; never a key."""

from dataclasses import dataclass
from typing import assert_never

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from services.catalog.errors import NoSuchRow, not_set_up
from services.catalog.keys import CredentialReference
from services.catalog.owners import Owner, Person, Server
from services.catalog.tables import (
    SWITCHES,
    CustomEndpoint,
    Llm,
    RotationKey,
    SavedProviderConfig,
    ServerConfig,
    UserCapability,
    UserSavedProviderConfig,
)
from services.catalog.target import Target
from services.catalog.targets import target_of


@dataclass(frozen=True, slots=True)
class ProviderView:
    """A provider of an owner. `model`: the one that is chosen there; None where the owner's model is another provider's."""

    provider: str
    has_key: bool
    key_version: int | None
    pooled_keys: int
    model: str | None


async def providers_of(session: AsyncSession, owner: Owner) -> list[ProviderView]:
    """The owner's providers, by name."""
    chosen = await chosen_model(session, owner)
    pools = [] if isinstance(owner, Person) else await _pooled(session, owner)
    return [
        ProviderView(
            provider=row.provider,
            has_key=row.api_key is not None,
            key_version=row.key_version,
            pooled_keys=sum(pool.provider == row.provider and not pool.is_main for pool in pools),
            model=chosen.codename if chosen is not None and chosen.provider == row.provider else None,
        )
        for row in await _saved(session, owner)
    ]


async def chosen_model(session: AsyncSession, owner: Owner) -> Llm | None:
    """The model that answers the owner's turns, before any override."""
    match owner:
        case Server(id=server):
            query = (
                select(Llm).join(ServerConfig, ServerConfig.llm_id == Llm.id).where(ServerConfig.server_id == server)
            )
        case Person(id=user):
            mine = (UserCapability.user_id == user) & (UserCapability.capability == "text")
            query = (
                select(Llm)
                .join(UserSavedProviderConfig, UserSavedProviderConfig.llm_id == Llm.id)
                .join(UserCapability, UserCapability.config_id == UserSavedProviderConfig.id)
                .where(mine)
            )
        case _:
            assert_never(owner)
    return await session.scalar(query)


async def default_model(session: AsyncSession, provider: str) -> Llm:
    """The provider's default, or the one model of an endpoint; raises NoSuchRow."""
    live = select(Llm).where(Llm.provider == provider, ~Llm.is_deprecated).order_by(Llm.is_default.desc(), Llm.id)
    row = await session.scalar(live.limit(1))
    if row is None:
        if provider.startswith("custom:"):
            raise not_set_up(provider)
        raise NoSuchRow(
            f"{provider[:80]} has no model", remedy="Run `odradek catalog upgrade`, which writes the models."
        )
    return row


async def models_of(session: AsyncSession, provider: str | None, *, deprecated: bool) -> list[Llm]:
    """The models of one or of all providers, by provider and codename."""
    query = select(Llm).order_by(Llm.provider, Llm.codename)
    if provider is not None:
        query = query.where(Llm.provider == provider)
    if not deprecated:
        query = query.where(~Llm.is_deprecated)
    return list(await session.scalars(query))


async def probe_target(session: AsyncSession, owner: Owner, provider: str) -> Target:
    """Whom to ask whether the owner's key is taken: the provider's default model. Raises NoSuchRow."""
    llm = await default_model(session, provider)
    endpoint = None if llm.custom_endpoint_id is None else await session.get(CustomEndpoint, llm.custom_endpoint_id)
    holder = None if endpoint is None else endpoint.user_id if isinstance(owner, Person) else endpoint.server_id
    if endpoint is not None and holder != owner.id:
        raise not_set_up(provider)
    return target_of(llm, endpoint)


async def keys_of(session: AsyncSession, owner: Owner, provider: str) -> list[CredentialReference]:
    """The main key, then those of the pool. Raises NoSuchRow where the provider is not set up."""
    main = next((row for row in await _saved(session, owner) if row.provider == provider), None)
    if main is None:
        raise not_set_up(provider)
    if isinstance(owner, Person):
        return [CredentialReference("personal", main.id)]
    pool = [row for row in await _pooled(session, owner) if row.provider == provider and not row.is_main]
    return [CredentialReference("server", main.id), *(CredentialReference("rotation", row.id) for row in pool)]


async def policy_of(session: AsyncSession, server: Server) -> dict[str, bool]:
    """The server's switches, also where none was ever set."""
    row = await session.get(ServerConfig, server.id, populate_existing=True)
    return dict(SWITCHES) if row is None else {name: getattr(row, name) for name in SWITCHES}


async def _saved(session: AsyncSession, owner: Owner) -> list[SavedProviderConfig] | list[UserSavedProviderConfig]:
    match owner:
        case Server(id=server):
            mine = select(SavedProviderConfig).where(SavedProviderConfig.server_id == server)
            return list(await session.scalars(mine.order_by(SavedProviderConfig.provider)))
        case Person(id=user):
            own = select(UserSavedProviderConfig).where(UserSavedProviderConfig.user_id == user)
            return list(await session.scalars(own.order_by(UserSavedProviderConfig.provider)))
        case _:
            assert_never(owner)


async def _pooled(session: AsyncSession, server: Server) -> list[RotationKey]:
    pool = select(RotationKey).where(RotationKey.server_id == server.id).order_by(RotationKey.id)
    return list(await session.scalars(pool))
