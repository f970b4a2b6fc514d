"""Writing the seeds into the database, and reading back what stands there for the check.

The seeds win: a row of a seed gets all of its values anew each time. Rows that no seed names stay as they are.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from services.catalog.database import insert_into
from services.catalog.seeds import SEEDS
from services.catalog.seeds.model import ModelSeed
from services.catalog.tables import Llm
from services.catalog.target import ProviderName

_KEY = ("provider", "codename")


async def write_seeds(session: AsyncSession, seeds: Mapping[ProviderName, Sequence[ModelSeed]] = SEEDS) -> int:
    """Insert or overwrite a row a seed; returns how many there are."""
    rows = [_row(provider, model) for provider, models in seeds.items() for model in models]
    statement = insert_into(session, Llm)
    overwrite = {name: statement.excluded[name] for name in rows[0] if name not in _KEY}
    await session.execute(statement.on_conflict_do_update(index_elements=_KEY, set_=overwrite), rows)
    return len(rows)


async def seeded_rows(session: AsyncSession) -> dict[str, list[ModelSeed]]:
    """The rows of the providers that have seeds, by provider; models that users registered are left out."""
    found: defaultdict[str, list[ModelSeed]] = defaultdict(list)
    wanted = (
        select(Llm).where(Llm.provider.in_(SEEDS), ~Llm.is_scoped_registration).order_by(Llm.provider, Llm.codename)
    )
    for row in await session.scalars(wanted):
        found[row.provider].append(_seed(row))
    return dict(found)


def _row(provider: ProviderName, model: ModelSeed) -> dict[str, Any]:
    values = asdict(model)
    parameters = model.supported_parameters
    values["supported_parameters"] = None if parameters is None else sorted(parameters)
    return {"provider": provider, **values}


def _seed(row: Llm) -> ModelSeed:
    values: dict[str, Any] = {field.name: getattr(row, field.name) for field in fields(ModelSeed)}
    if row.supported_parameters is not None:
        values["supported_parameters"] = frozenset(row.supported_parameters)
    return ModelSeed(**values)
