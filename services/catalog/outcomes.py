"""What calls met, as the keys of a pool keep it: the last error, by which a key rests, and the success that ends a rest.

Each error is told again and again: by every later attempt of its turn, and by whoever reads such an attempt once more. So
a key keeps the time of its newest error, also after a success, and only what is newer changes anything.
"""

from collections.abc import Iterable

from sqlalchemy import or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from schemas.attempts import EarlierAttempt
from services.catalog.catalog import Catalog
from services.catalog.keys import CredentialReference
from services.catalog.rotation import mark_for
from services.catalog.tables import RotationKey


async def note_errors(session: AsyncSession, server: str | None, earlier: Iterable[EarlierAttempt]) -> None:
    """Let the keys rest with which attempts failed, as far as their errors say something about the key.

    The server's whole pool is locked first, in the order in which the choice locks it too: whoever locked the refused key
    before the others would wait for one who holds them and waits for that key.
    """
    noted: list[tuple[str, str, int]] = []
    for attempt in earlier:
        if attempt.chosen is None or attempt.refusal is None:
            continue
        reference = CredentialReference.parse(attempt.chosen.credential)
        mark = mark_for(attempt.refusal.type, attempt.refusal.code)
        if reference is not None and reference.kind == "rotation" and mark is not None:
            noted.append((reference.id, mark, attempt.ended_ms))
    if not noted:
        return
    touched = or_(RotationKey.server_id == server, RotationKey.id.in_({key for key, _, _ in noted}))
    await session.execute(select(RotationKey.id).where(touched).order_by(RotationKey.id).with_for_update())
    for key, mark, ended_ms in noted:
        is_newer = or_(RotationKey.last_error_ms.is_(None), RotationKey.last_error_ms < ended_ms)
        await session.execute(
            update(RotationKey)
            .where(RotationKey.id == key, is_newer)
            .values(error_count=RotationKey.error_count + 1, last_error=mark, last_error_ms=ended_ms)
        )


async def record_success(catalog: Catalog, reference: CredentialReference, began_ms: int) -> None:
    """End a key's rest, unless its error is from after the call began: then the call says nothing about it."""
    if reference.kind != "rotation":
        return
    rests = (
        (RotationKey.id == reference.id) & RotationKey.last_error.is_not(None) & (RotationKey.last_error_ms <= began_ms)
    )
    # Nearly always there is nothing to end: a writer would have to wait for all others.
    async with catalog.database.reading() as session:
        if await session.scalar(select(RotationKey.id).where(rests)) is None:
            return
    async with catalog.database.writing() as session:
        await session.execute(update(RotationKey).where(rests).values(last_error=None))
