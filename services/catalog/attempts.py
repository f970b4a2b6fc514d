"""The next attempt of a generation, from the database: read, decided and counted in one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import or_, update

from schemas.attempts import Chosen
from schemas.chunks import ProviderErrorType
from services.catalog.catalog import Catalog
from services.catalog.chain import Attempt, CannotAnswer, Skipped, chain_for
from services.catalog.keys import CredentialReference
from services.catalog.reading import catalog_models, person_side, server_side
from services.catalog.rotation import Mark, mark_for
from services.catalog.sides import Turn
from services.catalog.tables import RotationKey

Choose = Callable[[Sequence[Chosen]], Chosen | None]
"""Picks one of the candidates, which stand in the order of preference; None where none is left."""


@dataclass(frozen=True, slots=True)
class Exhausted:
    """No attempt is left: the error of the last one stands. `skipped` are models that could not be asked at all."""

    skipped: tuple[Skipped, ...] = ()


async def next_attempt(catalog: Catalog, turn: Turn, choose: Choose, now_ms: int) -> Attempt | Exhausted | CannotAnswer:
    """The attempt that `choose` picks; a key of a pool counts as used from now on.

    Of two processes that ask at once, the second one sees what the first one has counted.
    """
    async with catalog.database.writing() as session:
        server = None if turn.server is None else await server_side(session, catalog.keyring, turn)
        person = None if turn.person is None else await person_side(session, catalog.keyring, turn.person)
        models = await catalog_models(session, server, person)
        chain = chain_for(turn, server, person, models, now_ms)
        if isinstance(chain, CannotAnswer):
            return chain
        chosen = choose([attempt.chosen for attempt in chain.attempts])
        attempt = next((attempt for attempt in chain.attempts if attempt.chosen == chosen), None)
        if attempt is None:
            return Exhausted(chain.skipped)
        if attempt.credential is not None and attempt.credential.kind == "rotation":
            used = update(RotationKey).where(RotationKey.id == attempt.credential.id)
            await session.execute(used.values(usage_count=RotationKey.usage_count + 1))
        return attempt


async def record_error(
    catalog: Catalog, reference: CredentialReference, error: ProviderErrorType, code: str, now_ms: int
) -> Mark | None:
    """Let a key of a pool rest if the error says something about the key. An error that is older than the last one is
    only counted."""
    mark = mark_for(error, code)
    if mark is None or reference.kind != "rotation":
        return None
    async with catalog.database.writing() as session:
        row = RotationKey.id == reference.id
        await session.execute(update(RotationKey).where(row).values(error_count=RotationKey.error_count + 1))
        is_newer = or_(RotationKey.last_error_ms.is_(None), RotationKey.last_error_ms <= now_ms)
        await session.execute(update(RotationKey).where(row, is_newer).values(last_error=mark, last_error_ms=now_ms))
    return mark


async def record_success(catalog: Catalog, reference: CredentialReference, began_ms: int) -> None:
    """Forget a key's last error, unless it is from after the call began: then the call says nothing about it."""
    if reference.kind != "rotation":
        return
    async with catalog.database.writing() as session:
        row = (RotationKey.id == reference.id) & (RotationKey.last_error_ms <= began_ms)
        await session.execute(update(RotationKey).where(row).values(last_error=None, last_error_ms=None))
