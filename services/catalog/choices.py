"""What servers and people choose: a model, overrides, a fallback chain, and who pays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, assert_never

from sqlalchemy import ColumnElement, delete, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from services.catalog.database import insert_into
from services.catalog.errors import NoSuchRow, Refused, not_set_up
from services.catalog.owners import Owner, Person, Server
from services.catalog.tables import (
    ChannelOverride,
    CustomEndpoint,
    FallbackReference,
    Llm,
    PersonaOverride,
    RotationKey,
    SavedProviderConfig,
    ServerConfig,
    UserCapability,
    UserSavedProviderConfig,
)

MOST_FALLBACKS = 5


@dataclass(frozen=True, slots=True)
class FallbackTarget:
    """What a fallback slot points to."""

    type: Literal["llm", "custom_endpoint"]
    id: int


async def find_model(session: AsyncSession, provider: str, codename: str) -> Llm:
    """The model; raises NoSuchRow."""
    row = await session.scalar(select(Llm).where(Llm.provider == provider, Llm.codename == codename))
    if row is None:
        if provider.startswith("custom:") and not await _has_models(session, provider):
            raise not_set_up(provider)
        raise NoSuchRow(
            f"{provider[:80]} has no model {codename[:200]!r}",
            remedy=f"`odradek model list --provider {provider[:80]}` shows those there are.",
        )
    return row


async def _has_models(session: AsyncSession, provider: str) -> bool:
    return await session.scalar(select(Llm.id).where(Llm.provider == provider).limit(1)) is not None


async def choose_model(session: AsyncSession, owner: Owner, llm: Llm) -> None:
    """The model of all turns of the server, or of the person's own. Raises NoSuchRow where its provider is not set up."""
    match owner:
        case Server():
            await _require_usable(session, owner, llm)
            await set_policy(session, owner, llm_id=llm.id)
        case Person(id=user):
            config = await _personal_config(session, user, llm.provider)
            config.llm_id = llm.id
            own = insert_into(session, UserCapability).values(user_id=user, capability="text", config_id=config.id)
            key = ["user_id", "capability"]
            await session.execute(own.on_conflict_do_update(index_elements=key, set_={"config_id": config.id}))
        case _:
            assert_never(owner)


async def override_model(
    session: AsyncSession, server: Server, llm: Llm | None, *, channel: str | None = None, persona: str | None = None
) -> None:
    """The model of a channel or of a persona of the server; None takes the override away.

    Raises NoSuchRow where its provider is not set up, Refused for an id that none can have.
    """
    if llm is not None:
        await _require_usable(session, server, llm)
    if (channel is None) == (persona is None):
        raise Refused("an override is for a channel or for a persona")
    if persona is not None and not 0 < len(persona) <= PersonaOverride.persona_id.type.length:
        raise Refused(f"a persona's id has 1 to {PersonaOverride.persona_id.type.length} characters")
    table = ChannelOverride if channel is not None else PersonaOverride
    column = "channel_id" if channel is not None else "persona_id"
    place = {"server_id": server.id, column: channel or persona}
    if llm is None:
        await session.execute(delete(table).filter_by(**place))
        return
    new = insert_into(session, table).values(**place, llm_id=llm.id)
    await session.execute(new.on_conflict_do_update(index_elements=list(place), set_={"llm_id": llm.id}))


async def set_fallbacks(session: AsyncSession, owner: Owner, targets: Sequence[FallbackTarget]) -> None:
    """The chain that is tried after the chosen model, in this order; it replaces the one before."""
    if len(targets) > MOST_FALLBACKS:
        raise Refused(f"there are {MOST_FALLBACKS} fallback slots")
    if len(set(targets)) != len(targets):
        raise Refused("a model can stand in one fallback slot only")
    await _lock(session, owner)
    whose = {"server_id": owner.id} if isinstance(owner, Server) else {"user_id": owner.id}
    await session.execute(delete(FallbackReference).filter_by(**whose))
    for slot, target in enumerate(targets, 1):
        key = "llm_id" if target.type == "llm" else "custom_endpoint_id"
        session.add(FallbackReference(slot=slot, **whose, **{key: target.id}))
    await session.flush()


async def fallback_target(session: AsyncSession, owner: Owner, llm: Llm) -> FallbackTarget:
    """What a slot keeps for the model: a custom endpoint's own id, so that the slot outlives its synthetic row.

    Raises NoSuchRow for an endpoint of somebody else.
    """
    if llm.custom_endpoint_id is None:
        return FallbackTarget("llm", llm.id)
    await _require_own(session, owner, llm)
    return FallbackTarget("custom_endpoint", llm.custom_endpoint_id)


async def set_policy(session: AsyncSession, server: Server, **values: bool | int) -> None:
    """Change columns of the server's configuration; the others stay as they are, also as another process sets them."""
    new = insert_into(session, ServerConfig).values(server_id=server.id, **values)
    await session.execute(new.on_conflict_do_update(index_elements=["server_id"], set_=values))


async def remove_provider(session: AsyncSession, owner: Owner, provider: str) -> None:
    """Forget the owner's key and pool for the provider, and a model that is chosen there. Raises NoSuchRow."""
    match owner:
        case Server(id=server):
            table = SavedProviderConfig
            where: ColumnElement[bool] = SavedProviderConfig.server_id == server
            pool = delete(RotationKey).where(RotationKey.server_id == server, RotationKey.provider == provider)
            await session.execute(pool)
            of_provider = select(Llm.id).where(Llm.provider == provider)
            chosen = (ServerConfig.server_id == server) & ServerConfig.llm_id.in_(of_provider)
            await session.execute(update(ServerConfig).where(chosen).values(llm_id=None))
        case Person(id=user):
            table, where = UserSavedProviderConfig, UserSavedProviderConfig.user_id == user
        case _:
            assert_never(owner)
    if await session.scalar(delete(table).where(where, table.provider == provider).returning(table.id)) is None:
        raise NoSuchRow(
            f"{provider[:80]} is not set up there", remedy="`odradek provider list` shows which providers are."
        )


async def _require_usable(session: AsyncSession, server: Server, llm: Llm) -> None:
    await _require_own(session, server, llm)
    saved = select(SavedProviderConfig.id).filter_by(server_id=server.id, provider=llm.provider)
    if await session.scalar(saved) is None:
        raise not_set_up(llm.provider)


async def _require_own(session: AsyncSession, owner: Owner, llm: Llm) -> None:
    if llm.custom_endpoint_id is None:
        return
    endpoint = await session.get(CustomEndpoint, llm.custom_endpoint_id)
    holder = None if endpoint is None else endpoint.server_id if isinstance(owner, Server) else endpoint.user_id
    if holder != owner.id:
        raise not_set_up(llm.provider)


async def _personal_config(session: AsyncSession, user: str, provider: str) -> UserSavedProviderConfig:
    where = (UserSavedProviderConfig.user_id == user) & (UserSavedProviderConfig.provider == provider)
    config = await session.scalar(select(UserSavedProviderConfig).where(where).with_for_update())
    if config is None:
        raise not_set_up(provider)
    return config


async def _lock(session: AsyncSession, owner: Owner) -> None:
    """One writer at a time for the owner's chain: those of its rows that are there are not enough to lock."""
    if session.get_bind().dialect.name == "postgresql":
        await session.execute(text("SELECT pg_advisory_xact_lock(hashtext(:owner))"), {"owner": str(owner)})
