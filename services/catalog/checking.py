"""What must hold of the catalog's models, found without a database: check-seed-catalogs.

The rules are those of "strict chat-completion compatibility" and of the seeder. `custom` has no models of its own and is
left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from services.catalog.seeds.model import ModelSeed
from services.catalog.strict_flags import REQUIRED_ALTERNATION_PROVIDERS, REQUIRED_PREFIX_PROVIDERS

_EXEMPT = "custom"
_Name = TypeVar("_Name", bound=str)


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule that does not hold, and where."""

    provider: str
    codename: str
    rule: str

    def __str__(self) -> str:
        place = f"{self.provider}/{self.codename}" if self.codename else self.provider
        return f"{place}: {self.rule}"


def collect_violations(models: Mapping[_Name, Sequence[ModelSeed]]) -> list[Violation]:
    """All violations, by provider and then in the order of its models."""
    found: list[Violation] = []
    for provider, rows in models.items():
        found += _flags(provider, rows)
        if provider != _EXEMPT:
            found += _marks(provider, rows)
        found += _twice(provider, rows)
    return found


def _flags(provider: str, rows: Iterable[ModelSeed]) -> Iterator[Violation]:
    for row in rows:
        if provider in REQUIRED_ALTERNATION_PROVIDERS and not row.strict_role_alternation:
            yield Violation(provider, row.codename, "lacks strict_role_alternation, which the provider demands")
        if provider in REQUIRED_PREFIX_PROVIDERS and not row.supports_prefix_completion:
            yield Violation(provider, row.codename, "lacks supports_prefix_completion, which the provider demands")


def _marks(provider: str, rows: Iterable[ModelSeed]) -> Iterator[Violation]:
    live = [row for row in rows if not row.is_deprecated]
    defaults = [row.codename for row in live if row.is_default]
    if len(defaults) != 1:
        names = f" ({', '.join(defaults)})" if defaults else ""
        yield Violation(provider, "", f"has {len(defaults)} live defaults{names}, but needs exactly one")
    if not any(row.is_smartest for row in live):
        yield Violation(provider, "", "has no live model that is marked as the smartest")


def _twice(provider: str, rows: Iterable[ModelSeed]) -> Iterator[Violation]:
    seen: set[str] = set()
    for row in rows:
        if row.codename in seen:
            yield Violation(provider, row.codename, "stands there twice")
        seen.add(row.codename)
