"""The models that ship with Odradek: what must hold of them, and how they get into the database."""

from dataclasses import replace
from typing import get_args

import pytest
from sqlalchemy import select, update

from services.catalog.checking import collect_violations
from services.catalog.database import Database
from services.catalog.providers import PROVIDERS, provider_named
from services.catalog.seeding import seeded_rows, write_seeds
from services.catalog.seeds import SEEDS
from services.catalog.seeds.model import ModelSeed
from services.catalog.strict_flags import (
    REQUIRED_ALTERNATION_PROVIDERS,
    REQUIRED_PREFIX_PROVIDERS,
    provider_requires_alternation,
    provider_requires_prefix_completion,
)
from services.catalog.tables import Llm
from services.catalog.target import ProviderName

GOOD = (ModelSeed("a", is_default=True, is_smartest=True), ModelSeed("b"))


def test_every_provider_has_models_and_is_described() -> None:
    assert set(SEEDS) == set(PROVIDERS) == set(get_args(ProviderName))
    assert {provider_named(alias) for alias in ("Gemini", "vertexai", "claude", "nim", "OR", "nai")} == {
        "google",
        "vertex",
        "anthropic",
        "nvidia",
        "openrouter",
        "novelai",
    }
    assert provider_named("nobody") is None


def test_the_seeds_keep_every_rule() -> None:
    assert collect_violations(SEEDS) == []


def test_the_check_and_the_request_path_demand_the_flags_of_the_same_providers() -> None:
    names = get_args(ProviderName)
    assert {name for name in names if provider_requires_alternation(name)} == REQUIRED_ALTERNATION_PROVIDERS
    assert {name for name in names if provider_requires_prefix_completion(name)} == REQUIRED_PREFIX_PROVIDERS


@pytest.mark.parametrize("provider", [*REQUIRED_ALTERNATION_PROVIDERS, *REQUIRED_PREFIX_PROVIDERS])
def test_a_model_without_the_flag_that_its_provider_demands_is_found(provider: ProviderName) -> None:
    first, *others = SEEDS[provider]
    bare = replace(first, strict_role_alternation=False, supports_prefix_completion=False)

    [violation] = collect_violations({provider: [bare, *others]})

    assert (violation.provider, violation.codename) == (provider, first.codename)
    assert "which the provider demands" in violation.rule


@pytest.mark.parametrize(
    ("models", "rule"),
    [
        ([ModelSeed("a", is_smartest=True)], "has 0 live defaults, but needs exactly one"),
        ([*GOOD, ModelSeed("c", is_default=True)], "has 2 live defaults (a, c), but needs exactly one"),
        ([*GOOD, ModelSeed("b")], "stands there twice"),
        ([replace(GOOD[0], is_smartest=False)], "has no live model that is marked as the smartest"),
        (
            [ModelSeed("a", is_default=True), ModelSeed("b", is_smartest=True, is_deprecated=True)],
            "has no live model that is marked as the smartest",
        ),
    ],
)
def test_each_other_rule_has_a_violation_of_its_own(models: list[ModelSeed], rule: str) -> None:
    assert [violation.rule for violation in collect_violations({"google": models})] == [rule]


def test_a_deprecated_default_does_not_count_and_custom_needs_none() -> None:
    retired = ModelSeed("old", is_default=True, is_deprecated=True)
    assert collect_violations({"google": [*GOOD, retired], "custom": [ModelSeed("x")]}) == []


async def test_seeding_again_overwrites_what_a_seed_says_and_keeps_other_rows(database: Database) -> None:
    async with database.writing() as session:
        await session.execute(update(Llm).where(Llm.provider == "anthropic").values(strict_role_alternation=False))
        session.add(Llm(provider="openrouter", codename="somebody/registered", is_scoped_registration=True))
        session.add(Llm(provider="google", codename="gemini-0", is_deprecated=True, has_tools=True))
    async with database.reading() as session:
        assert len(collect_violations(await seeded_rows(session))) == len(SEEDS["anthropic"])
        ids = {row.codename: row.id for row in await session.scalars(select(Llm))}

    async with database.writing() as session:
        assert await write_seeds(session) == sum(map(len, SEEDS.values()))

    async with database.reading() as session:
        found = await seeded_rows(session)
        assert collect_violations(found) == []
        assert {row.codename: row.id for row in await session.scalars(select(Llm))} == ids
        kept = await session.scalar(select(Llm).where(Llm.codename == "gemini-0"))
    assert kept is not None
    assert kept.has_tools
    assert set(found["anthropic"]) == set(SEEDS["anthropic"])
    assert set(found["openai"]) == set(SEEDS["openai"])
    assert "somebody/registered" not in {model.codename for model in found["openrouter"]}
