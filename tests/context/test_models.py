"""Whom a generation asks: the catalog's choice on a real database, else what the operator's settings say."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import select, text, update
from structlog.testing import capture_logs

from schemas.attempts import AttemptPlan, EarlierAttempt, Refusal
from schemas.generations import GenerationRequested
from schemas.inbox import Author
from services.catalog import database
from services.catalog.catalog import Catalog, open_catalog
from services.catalog.choices import choose_model, find_model, set_policy
from services.catalog.keys import save_key
from services.catalog.owners import Owner, Person, Server
from services.catalog.tables import SavedProviderConfig
from services.context import models
from services.context.models import CatalogModels, NoModel
from services.runtime.clock import SystemClock
from services.runtime.errors import Unavailable
from services.runtime.settings import Settings

SERVER, PERSON = Server("800"), Person("7")


def asking(guild: str | None = "800", plan: AttemptPlan | None = None) -> GenerationRequested:
    return GenerationRequested(
        channel_id="900",
        guild_id=guild,
        turn="m500",
        generation=1,
        message_id="500",
        author=Author(id="7", name="Ada"),
        content="hello",
        deadline_ms=600_000,
        attempt=plan,
    )


def own_settings(tmp_path: Path, **more: Any) -> Settings:
    url = SecretStr(f"sqlite:///{tmp_path}/catalog.db")
    secrets = {1: SecretStr("s" * 32)}
    none = {"openai_api_key": None, "anthropic_api_key": None}
    return Settings(database_url=url, crypto_secrets=secrets, **none | more)


@pytest.fixture
async def catalog(tmp_path: Path) -> AsyncIterator[Catalog]:
    async with open_catalog(own_settings(tmp_path)) as catalog:
        yield catalog


@pytest.fixture
def bare(catalog: Catalog, tmp_path: Path) -> CatalogModels:
    """The operator has no key."""
    return CatalogModels(catalog, SystemClock(), own_settings(tmp_path, temperature=0.5))


async def set_up(catalog: Catalog, owner: Owner, provider: str, codename: str) -> str:
    async with catalog.database.writing() as session:
        reference = await save_key(session, catalog.keyring, owner, provider, SecretStr(f"key-of-{provider}"))
        await choose_model(session, owner, await find_model(session, provider, codename))
    return str(reference)


async def test_a_server_s_model_is_asked_with_its_key_and_what_it_leaves_open_is_as_the_settings_say(
    catalog: Catalog, bare: CatalogModels
) -> None:
    reference = await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6")
    async with catalog.database.writing() as session:
        await session.execute(update(SavedProviderConfig).values(options={"top_k": 3}))

    route = await bare.ask(asking())

    assert route is not None
    assert (route.chosen.provider, route.chosen.model) == ("anthropic", "claude-sonnet-4-6")
    assert (route.chosen.credential, route.placement, route.chosen.source) == (reference, "x-api-key", "server")
    assert (route.target.provider, route.target.dialect) == ("anthropic", "anthropic")
    assert (route.options.top_k, route.options.temperature, route.options.max_output_tokens) == (3, 0.5, 4096)


async def test_a_person_s_own_provider_goes_first_also_in_a_direct_message(
    catalog: Catalog, bare: CatalogModels
) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6")
    reference = await set_up(catalog, PERSON, "deepseek", "deepseek-v4-flash")
    for guild in ("800", None):
        route = await bare.ask(asking(guild))
        assert route is not None
        assert (route.chosen.credential, route.chosen.source) == (reference, "personal")


@pytest.mark.parametrize(("guild", "code"), [("800", "missing_model_id"), (None, "personal_provider_required")])
async def test_where_nobody_has_set_anything_up_the_settings_answer_if_they_can(
    catalog: Catalog, bare: CatalogModels, tmp_path: Path, guild: str | None, code: str
) -> None:
    able = CatalogModels(catalog, SystemClock(), own_settings(tmp_path, openai_api_key="sk-of-the-operator"))
    route = await able.ask(asking(guild))
    assert route is not None
    assert (route.chosen.credential, route.placement) == ("openai", "bearer")

    with pytest.raises(NoModel) as error:
        await bare.ask(asking(guild))
    assert (error.value.code, error.value.uncalled.source) == (code, "server" if guild else "personal")


async def test_the_settings_do_not_answer_for_a_server_where_everybody_brings_a_key(
    catalog: Catalog, tmp_path: Path
) -> None:
    async with catalog.database.writing() as session:
        await set_policy(session, SERVER, user_byok_mode=True)
    able = CatalogModels(catalog, SystemClock(), own_settings(tmp_path, openai_api_key="sk-of-the-operator"))
    with pytest.raises(NoModel) as error:
        await able.ask(asking())
    assert error.value.code == "personal_provider_required"
    assert "sk-of" not in f"{error.value!r} {error.value.remedy}"


async def test_when_all_have_failed_nobody_is_left(catalog: Catalog, bare: CatalogModels) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6")
    first = await bare.ask(asking())
    assert first is not None
    failed = EarlierAttempt(
        generation=1, outcome="error", chosen=first.chosen, refusal=Refusal(type="api_error", code="401"), ended_ms=1
    )
    assert await bare.ask(asking(plan=AttemptPlan(step="key", earlier=(failed,)))) is None


async def test_a_database_that_another_holds_is_waited_for(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6")
    settings = own_settings(tmp_path)
    async with open_catalog(settings) as other:
        await other.database.close()
        monkeypatch.setattr(database, "_LOCK_WAIT_MS", 20)
        patient = CatalogModels(other, SystemClock(), settings)
        async with catalog.database.writing() as session:
            await session.execute(select(SavedProviderConfig))
            with pytest.raises(Unavailable):
                await patient.ask(asking())
        assert await patient.ask(asking()) is not None


async def test_a_database_that_says_nothing_is_given_up(bare: CatalogModels, monkeypatch: pytest.MonkeyPatch) -> None:
    async def silent(*_: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(models, "next_attempt", silent)
    monkeypatch.setattr(models, "WITHIN_S", 0.01)
    with pytest.raises(Unavailable):
        await bare.ask(asking())


@pytest.mark.parametrize(
    ("held", "left_out", "top_k"),
    [
        ('{"temperature": 5, "top_k": 3}', ("temperature",), 3),
        (
            '{"top_k": 3, "stop_strings": [7], "thinking_level": "some", "bold": true}',
            ("stop_strings", "thinking_level"),
            3,
        ),
        ('{"top_k": {"top_k": 3}, "disabled_parameters": ["top_k", "*"]}', ("disabled_parameters", "top_k"), None),
        ("[]", ("options",), None),
        ("null", ("options",), None),
        ("5", ("options",), None),
        ("{temperature: 0.9}", ("options",), None),
        ("[" * 100_000, ("options",), None),
    ],
    ids=["a number", "several", "of another kind", "a list", "nothing", "a number alone", "no JSON", "endless"],
)
async def test_options_that_somebody_edited_badly_are_left_out_and_named_and_the_rest_is_asked(
    catalog: Catalog, bare: CatalogModels, held: str, left_out: tuple[str, ...], top_k: int | None
) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6")
    async with catalog.database.writing() as session:
        await session.execute(text("UPDATE saved_provider_configs SET options = :held"), {"held": held})

    with capture_logs() as lines:
        route = await bare.ask(asking())

    assert route is not None
    assert (route.options.top_k, route.options.temperature) == (top_k, 0.5)
    assert [line["options"] for line in lines] == [left_out]


@pytest.mark.parametrize("held", ['["###", 7, "", "\\u0007", "\\ud800"]', f'["###", "{"x" * 201}"]'])
async def test_stop_strings_that_somebody_edited_badly_are_left_out_and_the_rest_stops(
    catalog: Catalog, bare: CatalogModels, held: str
) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6")
    async with catalog.database.writing() as session:
        await session.execute(text("UPDATE server_configs SET llm_stop_strings = :held"), {"held": held})

    with capture_logs() as lines:
        route = await bare.ask(asking())

    assert route is not None
    assert route.options.stop_strings == ("###",)
    assert [line["options"] for line in lines] == [("stop_strings",)]
