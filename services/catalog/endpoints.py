"""Custom endpoints: servers that people bring, and the synthetic model that each has among the others.

Rules of the strict flags: "strict chat-completion compatibility". A flag that is not offered for the endpoint's API keeps
its stored value, whatever is submitted.
"""

import re
from dataclasses import dataclass
from typing import assert_never
from urllib.parse import urlsplit, urlunsplit

from sqlalchemy import ColumnElement, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from services.catalog.database import insert_into
from services.catalog.endpoint import DIALECT_OF_STYLE, LEAST_CONTEXT, MOST_CONTEXT, Endpoint
from services.catalog.errors import NoSuchRow, Refused
from services.catalog.owners import Owner, Person, Server
from services.catalog.strict_flags import StrictFlag, api_family, offered_chat_compat_flags
from services.catalog.tables import CustomEndpoint, Llm, SavedProviderConfig, UserSavedProviderConfig

MOST_ENDPOINTS = 50
_LABEL = re.compile(r"[a-z0-9_-]{1,40}")


@dataclass(frozen=True, slots=True)
class SavedEndpoint:
    """Where an endpoint stands. `ignored` are the flags that were submitted though they are not offered."""

    id: int
    llm_id: int
    ignored: frozenset[StrictFlag] = frozenset()

    @property
    def provider(self) -> str:
        """The name under which its key is kept and its errors are read."""
        return provider_of(self.id)


def provider_of(endpoint_id: int) -> str:
    """The provider's name of an endpoint."""
    return f"custom:{endpoint_id}"


def base_url(url: str) -> str:
    """The endpoint's base URL: of a bare host its `/v1`, else as it is given. Raises Refused for what is no such URL."""
    remedy = "Give an http or https URL without user name, query or fragment, for example http://localhost:11434/v1."
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Refused("the endpoint's URL cannot be read", remedy=remedy) from None
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or "@" in parts.netloc:
        raise Refused("the endpoint's URL is not of the kind that is asked for", remedy=remedy)
    path = parts.path.rstrip("/") or "/v1"
    found = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
    if len(found) > CustomEndpoint.endpoint_url.type.length:
        raise Refused("the endpoint's URL is too long")
    return found


async def save_endpoint(session: AsyncSession, owner: Owner, endpoint: Endpoint) -> SavedEndpoint:
    """Add the endpoint, or change the one that the owner has under this label; its synthetic model follows.

    Raises Refused for what no endpoint can be, and beyond 50 endpoints of one owner.
    """
    label, url = _checked(endpoint), base_url(endpoint.url)
    row = await _row(session, owner, label)
    given: dict[StrictFlag, bool | None] = {
        "strict_role_alternation": endpoint.strict_role_alternation,
        "supports_prefix_completion": endpoint.supports_prefix_completion,
    }
    offered = offered_chat_compat_flags(api_family("custom", DIALECT_OF_STYLE[endpoint.style]), "custom")
    flags = {flag: value for flag, value in given.items() if value is not None and flag in offered}
    values = {
        "api_style": endpoint.style,
        "endpoint_url": url,
        "model_name": endpoint.model.strip(),
        "num_ctx": endpoint.num_ctx,
        "requires_auth": endpoint.requires_auth,
        "has_tools": endpoint.has_tools,
        "sees_images": endpoint.sees_images,
        "sees_videos": endpoint.sees_videos,
        "supports_structured_output": endpoint.supports_structured_output,
        "verbatim_tool_calling": endpoint.verbatim_tool_calling,
        **flags,
    }
    await session.execute(update(CustomEndpoint).where(CustomEndpoint.id == row).values(values))
    llm = await upsert_synthetic_model(session, row)
    return SavedEndpoint(row, llm, frozenset(flag for flag, value in given.items() if value and flag not in offered))


async def upsert_synthetic_model(session: AsyncSession, endpoint_id: int) -> int:
    """Bring the endpoint's row among the models up to date, with all of its flags; returns that row's id."""
    row = await session.get(CustomEndpoint, endpoint_id, populate_existing=True)
    if row is None:
        raise NoSuchRow(f"there is no endpoint {endpoint_id}")
    copied = {
        "codename": f"{row.label}-text",
        "custom_endpoint_id": row.id,
        "is_scoped_registration": True,
        "dialect": next((spoken for style, spoken in DIALECT_OF_STYLE.items() if style == row.api_style), None),
        "context_window": row.num_ctx,
        "has_tools": row.has_tools,
        "sees_images": row.sees_images,
        "sees_videos": row.sees_videos,
        "supports_structured_output": row.supports_structured_output,
        "strict_role_alternation": row.strict_role_alternation,
        "supports_prefix_completion": row.supports_prefix_completion,
        "verbatim_tool_calling": row.verbatim_tool_calling,
    }
    statement = insert_into(session, Llm).values(provider=provider_of(row.id), **copied)
    upsert = statement.on_conflict_do_update(index_elements=["custom_endpoint_id"], set_=copied)
    return (await session.scalars(upsert.returning(Llm.id))).one()


async def remove_endpoint(session: AsyncSession, owner: Owner, label: str) -> None:
    """Delete the endpoint with its key, its synthetic model, and whatever points to it. Raises NoSuchRow."""
    where = _of(owner) & (CustomEndpoint.label == label.strip().lower())
    gone = await session.scalar(delete(CustomEndpoint).where(where).returning(CustomEndpoint.id))
    if gone is None:
        raise NoSuchRow(f"there is no endpoint {label[:40]!r}", remedy="`odradek endpoint list` shows those there are.")
    for table in (SavedProviderConfig, UserSavedProviderConfig):
        await session.execute(delete(table).where(table.provider == provider_of(gone)))


async def endpoints_of(session: AsyncSession, owner: Owner) -> list[CustomEndpoint]:
    """The owner's endpoints, by label."""
    return list(await session.scalars(select(CustomEndpoint).where(_of(owner)).order_by(CustomEndpoint.label)))


def _checked(endpoint: Endpoint) -> str:
    label = endpoint.label.strip().lower()
    if not _LABEL.fullmatch(label):
        raise Refused("a label is 1 to 40 letters a-z, digits, - and _")
    if not 0 < len(endpoint.model.strip()) <= CustomEndpoint.model_name.type.length:
        raise Refused(f"a model's name has 1 to {CustomEndpoint.model_name.type.length} characters")
    if not endpoint.model.strip().isprintable():
        raise Refused("a model's name holds a character that cannot be seen", remedy="Give the name in one line.")
    if endpoint.num_ctx is not None and not LEAST_CONTEXT <= endpoint.num_ctx <= MOST_CONTEXT:
        raise Refused(f"a context has {LEAST_CONTEXT} to {MOST_CONTEXT} tokens")
    return label


async def _row(session: AsyncSession, owner: Owner, label: str) -> int:
    """The row's id, made where there is none; locked in both cases."""
    wanted = select(CustomEndpoint.id).where(_of(owner) & (CustomEndpoint.label == label)).with_for_update()
    found = await session.scalar(wanted)
    if found is not None:
        return found
    if (
        await session.scalar(select(func.count()).select_from(CustomEndpoint).where(_of(owner))) or 0
    ) >= MOST_ENDPOINTS:
        raise Refused(f"there are {MOST_ENDPOINTS} endpoints already")
    whose = {"server_id": owner.id} if isinstance(owner, Server) else {"user_id": owner.id}
    empty = {"label": label, "api_style": "openai-compatible", "endpoint_url": "", "model_name": ""}
    await session.execute(insert_into(session, CustomEndpoint).values(**whose, **empty).on_conflict_do_nothing())
    return (await session.scalars(wanted)).one()


def _of(owner: Owner) -> ColumnElement[bool]:
    match owner:
        case Server(id=server):
            return (CustomEndpoint.server_id == server) & (CustomEndpoint.capability == "text")
        case Person(id=user):
            return (CustomEndpoint.user_id == user) & (CustomEndpoint.capability == "text")
        case _:
            assert_never(owner)
