"""The keys of servers and people: put away sealed, named by reference, opened on use."""

import re
from dataclasses import dataclass
from typing import Literal, assert_never
from uuid import uuid4

from pydantic import SecretStr
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from services.catalog.catalog import Catalog
from services.catalog.database import insert_into
from services.catalog.errors import NoSuchRow, Refused
from services.catalog.owners import Owner, Person, Server
from services.catalog.sealing import Binding, Keyring, Sealed
from services.catalog.tables import RotationKey, SavedProviderConfig, UserSavedProviderConfig

MOST_POOLED = 20
_MOST_CHARACTERS = 4_096
_SENDABLE = re.compile(r"[\x21-\x7e]+")
_VERTEX = re.compile(r"(?P<project>[a-z0-9][a-z0-9:.-]{0,62}?)::(?P<location>[a-z0-9][a-z0-9-]{0,30})")

CredentialKind = Literal["server", "rotation", "personal"]
KeyRow = SavedProviderConfig | UserSavedProviderConfig | RotationKey
_KeyTable = type[SavedProviderConfig] | type[UserSavedProviderConfig] | type[RotationKey]
_TABLES: dict[CredentialKind, _KeyTable] = {
    "server": SavedProviderConfig,
    "rotation": RotationKey,
    "personal": UserSavedProviderConfig,
}


@dataclass(frozen=True, slots=True)
class CredentialReference:
    """Names a key without holding it: which table, and the row's id, which is never given out twice."""

    kind: CredentialKind
    id: str

    def __str__(self) -> str:
        return f"catalog/{self.kind}/{self.id}"

    @classmethod
    def parse(cls, name: str) -> "CredentialReference | None":
        """The reference that the text is; None for the name of another credential."""
        match name.split("/"):
            case ["catalog", "server" | "rotation" | "personal" as kind, row]:
                return cls(kind, row)
            case _:
                return None


def vertex_place(key: str) -> tuple[str, str] | None:
    """(project, location) of what stands in the place of Vertex's key: `project::location`."""
    match = _VERTEX.fullmatch(key)
    return None if match is None else (match["project"], match["location"])


def accepted(key: SecretStr, provider: str) -> SecretStr:
    """The key without blanks around it; raises Refused for one that no request could carry."""
    text = key.get_secret_value().strip()
    if not text:
        raise Refused("the key is empty")
    if len(text) > _MOST_CHARACTERS or not _SENDABLE.fullmatch(text):
        raise Refused("the key holds characters that no HTTP header can carry, or too many")
    if provider == "vertex" and vertex_place(text) is None:
        raise Refused("Vertex takes PROJECT::LOCATION in the place of a key", remedy="For example my-project::global.")
    return SecretStr(text)


async def save_key(
    session: AsyncSession, keyring: Keyring, owner: Owner, provider: str, key: SecretStr | None
) -> CredentialReference:
    """Set up the provider for the owner, or put another key in the place of its key. None: it needs none."""
    reference = await _saved_row(session, owner, provider)
    table = _TABLES[reference.kind]
    values: dict[str, object] = {"api_key": None, "key_version": None}
    if key is not None:
        sealed = keyring.seal(accepted(key, provider), _binding(reference, owner, provider))
        values = {"api_key": sealed.ciphertext, "key_version": sealed.version}
    await session.execute(update(table).where(table.id == reference.id).values(values))
    return reference


async def _saved_row(session: AsyncSession, owner: Owner, provider: str) -> CredentialReference:
    """The row of the provider, made where there is none, and locked."""
    match owner:
        case Server(id=server):
            new = insert_into(session, SavedProviderConfig).values(id=uuid4().hex, server_id=server, provider=provider)
            where = (SavedProviderConfig.server_id == server) & (SavedProviderConfig.provider == provider)
            found = select(SavedProviderConfig.id).where(where).with_for_update()
            kind: CredentialKind = "server"
        case Person(id=user):
            new = insert_into(session, UserSavedProviderConfig).values(id=uuid4().hex, user_id=user, provider=provider)
            whose = (UserSavedProviderConfig.user_id == user) & (UserSavedProviderConfig.provider == provider)
            found = select(UserSavedProviderConfig.id).where(whose).with_for_update()
            kind = "personal"
        case _:
            assert_never(owner)
    await session.execute(new.on_conflict_do_nothing())
    return CredentialReference(kind, (await session.scalars(found)).one())


async def add_pooled_key(
    session: AsyncSession, keyring: Keyring, server: Server, provider: str, key: SecretStr
) -> CredentialReference:
    """Another key for a provider that the server has set up; with the first one its main key joins the pool.

    Raises NoSuchRow where the provider is not set up, Refused where the pool is full or has the key.
    """
    new = accepted(key, provider)
    main = await _locked_main(session, server, provider)
    rows = await pool_rows(session, server.id, provider)
    if len(rows) >= MOST_POOLED:
        raise Refused(f"the pool has {MOST_POOLED} keys already")
    held = [open_row(keyring, row) for row in (main, *rows) if row.api_key is not None]
    if new in held:
        raise Refused(
            "the pool has this key already", remedy="Add another one: `odradek provider list` counts those there are."
        )
    if not rows:
        session.add(RotationKey(id=uuid4().hex, server_id=server.id, provider=provider, is_main=True))
    reference = CredentialReference("rotation", uuid4().hex)
    sealed = keyring.seal(new, _binding(reference, server, provider))
    session.add(
        RotationKey(
            id=reference.id,
            server_id=server.id,
            provider=provider,
            api_key=sealed.ciphertext,
            key_version=sealed.version,
        )
    )
    await session.flush()
    return reference


async def purge_pool(session: AsyncSession, server: Server, provider: str) -> int:
    """Delete the pool; the main key stays. Returns how many keys are gone."""
    where = (RotationKey.server_id == server.id) & (RotationKey.provider == provider)
    gone = await session.scalars(delete(RotationKey).where(where).returning(RotationKey.is_main))
    return sum(not is_main for is_main in gone)


async def pool_rows(session: AsyncSession, server_id: str, provider: str) -> list[RotationKey]:
    """The pool's rows, locked until the transaction ends; in one order for all, so that nobody waits in a circle."""
    where = (RotationKey.server_id == server_id) & (RotationKey.provider == provider)
    return list(await session.scalars(select(RotationKey).where(where).order_by(RotationKey.id).with_for_update()))


async def reveal(catalog: Catalog, reference: CredentialReference) -> SecretStr | None:
    """The key; None for an endpoint that needs none. One that is sealed with an older secret is sealed anew.

    Raises NoSuchRow where the row is gone, DecryptionFailed where it does not open.
    """
    async with catalog.database.reading() as session:
        row = await _row(session, reference)
        if isinstance(row, RotationKey) and row.is_main:
            row = await _main(session, row.server_id, row.provider)
    if row.api_key is None:
        return None
    key = open_row(catalog.keyring, row)
    if row.key_version != catalog.keyring.current:
        await _seal_anew(catalog, row, key)
    return key


async def _seal_anew(
    catalog: Catalog,
    row: KeyRow,
    key: SecretStr,
) -> None:
    """Only where the row still has the ciphertext that was opened: a key that was set meanwhile stays."""
    table = type(row)
    sealed = catalog.keyring.seal(key, _binding_of(row))
    async with catalog.database.writing() as session:
        unchanged = (table.id == row.id) & (table.api_key == row.api_key)
        values = {"api_key": sealed.ciphertext, "key_version": sealed.version}
        await session.execute(update(table).where(unchanged).values(values))


async def _row(session: AsyncSession, reference: CredentialReference) -> KeyRow:
    row = await session.get(_TABLES[reference.kind], reference.id)
    if row is None:
        raise NoSuchRow(f"the key {reference} is not in the catalog any more")
    return row


async def _main(session: AsyncSession, server_id: str, provider: str) -> SavedProviderConfig:
    where = (SavedProviderConfig.server_id == server_id) & (SavedProviderConfig.provider == provider)
    row = await session.scalar(select(SavedProviderConfig).where(where))
    if row is None:
        raise NoSuchRow(f"the main key of {provider} is not in the catalog any more")
    return row


async def _locked_main(session: AsyncSession, server: Server, provider: str) -> SavedProviderConfig:
    where = (SavedProviderConfig.server_id == server.id) & (SavedProviderConfig.provider == provider)
    row = await session.scalar(select(SavedProviderConfig).where(where).with_for_update())
    if row is None:
        raise NoSuchRow(
            f"server {server.id} has not set up {provider}", remedy="Add its main key first: `odradek provider add`."
        )
    return row


def open_row(keyring: Keyring, row: KeyRow) -> SecretStr:
    """The key of a row that has one; raises DecryptionFailed."""
    if row.api_key is None or row.key_version is None:
        raise AssertionError("the row has no key")
    return keyring.open(Sealed(row.key_version, row.api_key), _binding_of(row))


def _binding_of(row: KeyRow) -> Binding:
    owner = Person(row.user_id) if isinstance(row, UserSavedProviderConfig) else Server(row.server_id)
    return Binding(row.__tablename__, row.id, str(owner), row.provider)


def _binding(reference: CredentialReference, owner: Owner, provider: str) -> Binding:
    return Binding(_TABLES[reference.kind].__tablename__, reference.id, str(owner), provider)
