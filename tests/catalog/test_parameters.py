"""Parameters as people set them: their ranges, what a change leaves alone, and that two who change at once lose nothing."""

import asyncio
import json
import math
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from schemas.context import GenerationOptions
from schemas.sampling import SamplingParameter, ThinkingLevel
from services.catalog.catalog import Catalog
from services.catalog.choices import remove_provider
from services.catalog.database import Database
from services.catalog.errors import NoSuchRow, Refused
from services.catalog.keys import save_key
from services.catalog.owners import Owner, Person, Server
from services.catalog.parameters import PARAMETERS, RANGES, Changes, Number, Parameter, changed, disabled
from services.catalog.sealing import Keyring
from services.catalog.tuning import change_parameters, parameters_of

SAMPLING: tuple[SamplingParameter, ...] = get_args(SamplingParameter)
LEVELS: tuple[ThinkingLevel, ...] = get_args(ThinkingLevel)


@st.composite
def good_numbers(draw: st.DrawFn) -> dict[Number, float]:
    names = draw(st.sets(st.sampled_from(sorted(RANGES))))
    made: dict[Number, float] = {}
    for name in names:
        least, most = RANGES[name].least, RANGES[name].most
        whole = st.integers(math.ceil(least), math.floor(most))
        made[name] = draw(whole if RANGES[name].is_whole else st.floats(least, most))
    return made


def all_changes() -> st.SearchStrategy[Changes]:
    disable = st.sets(st.sampled_from(SAMPLING))
    return st.builds(
        lambda numbers, level, reset, off, on: Changes(
            numbers=numbers, thinking_level=level, reset=frozenset(reset), disable=tuple(off), enable=tuple(on - off)
        ),
        good_numbers(),
        st.none() | st.sampled_from(LEVELS),
        st.sets(st.sampled_from(PARAMETERS)),
        disable,
        disable,
    )


@given(steps=st.lists(all_changes(), max_size=4))
def test_whatever_is_set_is_options_that_a_request_can_be_made_of_and_stands_json(steps: list[Changes]) -> None:
    options: dict[str, object] = {}
    for step in steps:
        options = changed(options, step)
    read = GenerationOptions.model_validate(json.loads(json.dumps(options)))
    assert read.model_fields_set == options.keys()
    assert all(getattr(read, name) == value for name, value in options.items() if name != "disabled_parameters")
    assert read.disabled_parameters == tuple(sorted(disabled(options)))


@given(changes=all_changes(), before=all_changes())
def test_a_change_leaves_everything_else_as_it_was(changes: Changes, before: Changes) -> None:
    options = {**changed({}, before), "prefill": "So"}
    made = changed(options, changes)
    touched: set[Parameter] = {*changes.numbers, *changes.reset}
    for name in (*PARAMETERS, "prefill"):
        if name not in {*touched, "thinking_level", "disabled_parameters"}:
            assert made.get(name) == options.get(name)
    assert all(made[name] == value for name, value in changes.numbers.items())
    kept = () if "disabled_parameters" in changes.reset else disabled(options)
    assert set(disabled(made)) == {*kept, *changes.disable} - {*changes.enable}
    assert not changed(made, Changes(reset=frozenset(PARAMETERS))).keys() - {"prefill"}


@given(name=st.sampled_from(sorted(RANGES)), value=st.floats())
def test_a_number_out_of_its_range_is_refused_with_the_number_and_the_range(name: Number, value: float) -> None:
    allowed = RANGES[name]
    inside = allowed.least <= value <= allowed.most and (not allowed.is_whole or value.is_integer())
    if inside:
        assert changed({}, Changes(numbers={name: value})) == {name: value}
        return
    with pytest.raises(Refused) as refused:
        changed({}, Changes(numbers={name: value}))
    text = str(refused.value)
    assert text.startswith(f"{name} is ")
    assert f"from {allowed.least} to {allowed.most}" in text
    assert text.endswith(f"not {value}")


def test_a_zero_has_no_sign() -> None:
    assert str(changed({}, Changes(numbers={"temperature": -0.0}))["temperature"]) == "0.0"


def test_a_parameter_cannot_be_disabled_and_enabled_at_once() -> None:
    with pytest.raises(Refused, match="top_p is disabled and enabled"):
        changed({}, Changes(disable=("top_k", "top_p"), enable=("top_p",)))


def test_disabled_parameters_that_nobody_knows_are_passed_over() -> None:
    assert disabled({"disabled_parameters": ["top_k", "no-such", 7]}) == ("top_k",)
    assert disabled({"disabled_parameters": "top_k"}) == ()


@pytest.fixture
async def catalog(database: Database) -> Catalog:
    catalog = Catalog(database, Keyring({1: SecretStr("1" * 32)}))
    for owner in OWNERS:
        for provider in ("anthropic", "openai"):
            await add(catalog, owner, provider)
    return catalog


OWNERS: tuple[Owner, ...] = (Server("1"), Person("1"))


async def add(catalog: Catalog, owner: Owner, provider: str) -> None:
    async with catalog.database.writing() as session:
        await save_key(session, catalog.keyring, owner, provider, SecretStr("key"))


async def change(catalog: Catalog, owner: Owner, provider: str, **changes: Any) -> None:
    async with catalog.database.writing() as session:
        await change_parameters(session, owner, provider, Changes(**changes))


async def held(catalog: Catalog, owner: Owner, provider: str) -> dict[str, object]:
    async with catalog.database.reading() as session:
        return dict(await parameters_of(session, owner, provider))


@pytest.mark.parametrize("owner", OWNERS)
async def test_parameters_are_an_owners_and_a_providers_and_outlive_another_key(catalog: Catalog, owner: Owner) -> None:
    await change(catalog, owner, "openai", numbers={"temperature": 0.7})
    await add(catalog, owner, "openai")

    assert await held(catalog, owner, "openai") == {"temperature": 0.7}
    assert await held(catalog, owner, "anthropic") == {}
    assert [await held(catalog, other, "openai") for other in OWNERS if other != owner] == [{}]


@pytest.mark.parametrize("owner", OWNERS)
async def test_a_provider_that_is_set_up_anew_begins_without_parameters(catalog: Catalog, owner: Owner) -> None:
    await change(catalog, owner, "openai", numbers={"temperature": 0.7})
    async with catalog.database.writing() as session:
        await remove_provider(session, owner, "openai")
    with pytest.raises(NoSuchRow, match="openai is not set up there"):
        await change(catalog, owner, "openai", numbers={"temperature": 0.7})
    await add(catalog, owner, "openai")
    assert await held(catalog, owner, "openai") == {}


async def test_a_change_that_is_refused_changes_nothing(catalog: Catalog) -> None:
    with pytest.raises(Refused):
        await change(catalog, OWNERS[0], "openai", numbers={"temperature": 1, "top_p": 2})
    assert await held(catalog, OWNERS[0], "openai") == {}


@pytest.mark.parametrize("owner", OWNERS)
async def test_two_that_change_at_once_lose_no_update(catalog: Catalog, database_url: str, owner: Owner) -> None:
    async with Database(SecretStr(database_url)) as other:
        two = (catalog, Catalog(other, catalog.keyring))
        for round_ in range(10):
            names = [name for name in SAMPLING if (name in await held_disabled(catalog, owner)) == bool(round_ % 2)]
            key = "enable" if round_ % 2 else "disable"
            await asyncio.gather(
                *(change(two[number % 2], owner, "openai", **{key: (name,)}) for number, name in enumerate(names)),
                change(two[0], owner, "openai", numbers={"top_k": round_}),
                change(two[1], owner, "openai", numbers={"temperature": round_ / 10}),
            )
            assert await held_disabled(catalog, owner) == (() if round_ % 2 else SAMPLING)
            found = await held(catalog, owner, "openai")
            assert (found["top_k"], found["temperature"]) == (round_, round_ / 10)


async def held_disabled(catalog: Catalog, owner: Owner) -> tuple[SamplingParameter, ...]:
    return disabled(await held(catalog, owner, "openai"))
