"""The next attempt of a generation, from the database: read, decided and counted in one transaction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import update

from schemas.attempts import Chosen
from services.catalog.catalog import Catalog
from services.catalog.chain import Attempt, CannotAnswer, Skipped, chain_for
from services.catalog.outcomes import note_errors
from services.catalog.reading import catalog_models, person_side, server_side
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

    What earlier attempts met is noted before. Of two processes that ask at once, the second one sees what the first one
    has counted.
    """
    async with catalog.database.writing() as session:
        await note_errors(session, turn.server, turn.earlier)
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
