"""What a turn's choice depends on, read from the database: its server's side, its person's side, and their models."""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.ext.asyncio import AsyncSession

from services.catalog.endpoints import provider_of
from services.catalog.errors import DecryptionFailed
from services.catalog.keys import CredentialReference, open_row, vertex_place
from services.catalog.providers import vertex_base_url
from services.catalog.rotation import COOLDOWN_MS, Mark, PooledKey
from services.catalog.sealing import Keyring
from services.catalog.sides import CatalogModel, PersonSide, SavedProvider, ServerSide, Turn
from services.catalog.stop_strings import usable
from services.catalog.tables import (
    SWITCHES,
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
from services.catalog.targets import target_of
from services.catalog.usable import usable_options

_MARKS: dict[str, Mark] = {mark: mark for mark in COOLDOWN_MS}


async def server_side(session: AsyncSession, keyring: Keyring, turn: Turn) -> ServerSide:
    """The turn's server, with its pools locked; the turn must have one."""
    server = turn.server or ""
    config = await session.get(ServerConfig, server) or ServerConfig(**SWITCHES, llm_stop_strings=[])
    channel = await session.get(ChannelOverride, (server, turn.channel))
    persona = None if turn.persona is None else await session.get(PersonaOverride, (server, turn.persona))
    saved = await session.scalars(select(SavedProviderConfig).where(SavedProviderConfig.server_id == server))
    stop_strings = usable(config.llm_stop_strings)
    return ServerSide(
        llm_id=config.llm_id,
        channel_llm_id=None if channel is None else channel.llm_id,
        persona_llm_id=None if persona is None else persona.llm_id,
        fallbacks=await _fallbacks(session, FallbackReference.server_id == server),
        saved=await _saved(session, keyring, saved.all()),
        pools=await _pools(session, server),
        user_byok_mode=config.user_byok_mode,
        personal_server_fallback=config.personal_server_fallback_enabled,
        randomizes=config.model_randomizer_enabled,
        tools_enabled=config.tool_use_enabled,
        verbatim_tools=config.verbatim_tool_calling,
        stop_strings=tuple(stop_strings),
        stops_speaker=config.llm_stop_speaker_pattern_enabled,
        left_out=() if stop_strings == config.llm_stop_strings else ("stop_strings",),
    )


async def person_side(session: AsyncSession, keyring: Keyring, person: str) -> PersonSide:
    """The person, by their id."""
    wanted = (UserCapability.user_id == person) & (UserCapability.capability == "text")
    owner = select(UserSavedProviderConfig).join(UserCapability, UserCapability.config_id == UserSavedProviderConfig.id)
    chosen = await session.scalar(owner.where(wanted))
    if chosen is None:
        return PersonSide()
    saved = await session.scalars(select(UserSavedProviderConfig).where(UserSavedProviderConfig.user_id == person))
    return PersonSide(
        provider=chosen.provider,
        llm_id=chosen.llm_id,
        fallbacks=await _fallbacks(session, FallbackReference.user_id == person),
        saved=await _saved(session, keyring, saved.all()),
    )


async def catalog_models(
    session: AsyncSession, server: ServerSide | None, person: PersonSide | None
) -> dict[int, CatalogModel]:
    """Every model that either side names, by its id."""
    query = (
        select(Llm, CustomEndpoint)
        .outerjoin(CustomEndpoint, Llm.custom_endpoint_id == CustomEndpoint.id)
        .where(Llm.id.in_(_wanted(server, person)))
    )
    rows = await session.execute(query)
    return {llm.id: CatalogModel(llm.id, llm.provider, target_of(llm, endpoint)) for llm, endpoint in rows}


def _wanted(server: ServerSide | None, person: PersonSide | None) -> set[int]:
    wanted: list[int | None] = []
    if server is not None:
        wanted += [server.llm_id, server.channel_llm_id, server.persona_llm_id, *server.fallbacks]
    if person is not None:
        wanted += [person.llm_id, *person.fallbacks]
    return {llm for llm in wanted if llm is not None}


async def _fallbacks(session: AsyncSession, whose: ColumnElement[bool]) -> tuple[int, ...]:
    """The models of the slots in their order; of a custom endpoint its synthetic one."""
    query = (
        select(Llm.id)
        .join(
            FallbackReference,
            (FallbackReference.llm_id == Llm.id) | (FallbackReference.custom_endpoint_id == Llm.custom_endpoint_id),
        )
        .where(whose)
        .order_by(FallbackReference.slot)
    )
    return tuple(await session.scalars(query))


async def _saved(
    session: AsyncSession, keyring: Keyring, rows: Sequence[SavedProviderConfig] | Sequence[UserSavedProviderConfig]
) -> dict[str, SavedProvider]:
    names = {provider_of(row.id): row.requires_auth for row in await session.scalars(_endpoints(rows))}
    return {row.provider: _provider(keyring, row, needs_key=names.get(row.provider, True)) for row in rows}


def _endpoints(
    rows: Sequence[SavedProviderConfig] | Sequence[UserSavedProviderConfig],
) -> Select[CustomEndpoint]:
    ids = [int(row.provider.removeprefix("custom:")) for row in rows if row.provider.startswith("custom:")]
    return select(CustomEndpoint).where(CustomEndpoint.id.in_(ids))


def _provider(
    keyring: Keyring, row: SavedProviderConfig | UserSavedProviderConfig, *, needs_key: bool
) -> SavedProvider:
    options, left_out = usable_options(row.options)
    if row.api_key is None:
        return SavedProvider(None, "placeholder_key" if needs_key else None, options, left_out=left_out)
    reference = CredentialReference("server" if isinstance(row, SavedProviderConfig) else "personal", row.id)
    try:
        key = open_row(keyring, row).get_secret_value()
    except DecryptionFailed:
        return SavedProvider(reference, "decryption_failed", options, left_out=left_out)
    place = vertex_place(key) if row.provider == "vertex" else None
    base_url = None if place is None else vertex_base_url(*place)
    return SavedProvider(reference, None, options, base_url, left_out)


async def _pools(session: AsyncSession, server: str) -> dict[str, tuple[PooledKey, ...]]:
    query = select(RotationKey).where(RotationKey.server_id == server).order_by(RotationKey.id).with_for_update()
    found: defaultdict[str, list[PooledKey]] = defaultdict(list)
    for row in await session.scalars(query):
        found[row.provider].append(pooled(row))
    return {provider: tuple(keys) for provider, keys in found.items()}


def pooled(row: RotationKey) -> PooledKey:
    """The row as the choice of a key sees it."""
    mark = _MARKS.get(row.last_error or "")
    return PooledKey(row.id, row.is_main, row.enabled, row.usage_count, mark, row.last_error_ms)
