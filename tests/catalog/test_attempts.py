"""Choosing and counting against real databases: what is set up is what is used, and two processes lose nothing."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr
from sqlalchemy import select, update

from schemas.attempts import AttemptPlan, Chosen, EarlierAttempt, Refusal
from services.catalog.attempts import Exhausted, next_attempt
from services.catalog.catalog import Catalog
from services.catalog.chain import Attempt, CannotAnswer
from services.catalog.choices import (
    FallbackTarget,
    choose_model,
    fallback_target,
    find_model,
    override_model,
    remove_provider,
    set_fallbacks,
    set_policy,
)
from services.catalog.database import Database
from services.catalog.endpoint import Endpoint
from services.catalog.endpoints import remove_endpoint, save_endpoint
from services.catalog.errors import DecryptionFailed, NoSuchRow, Refused
from services.catalog.keys import CredentialReference, add_pooled_key, purge_pool, reveal, save_key
from services.catalog.outcomes import note_errors, record_success
from services.catalog.owners import Person, Server
from services.catalog.sealing import Keyring
from services.catalog.sides import Turn
from services.catalog.tables import FallbackReference, RotationKey, SavedProviderConfig, ServerConfig, UserCapability
from services.context.choosing import choose

NOW = 1_800_000_000_000
SERVER, PERSON = Server("10"), Person("30")
TURN = Turn("m1", "10", "20", person="30")
SECRETS = {1: SecretStr("1" * 32)}


@pytest.fixture
def catalog(database: Database) -> Catalog:
    return Catalog(database, Keyring(SECRETS))


async def set_up(
    catalog: Catalog, owner: Server | Person, provider: str, codename: str, key: str
) -> CredentialReference:
    async with catalog.database.writing() as session:
        reference = await save_key(session, catalog.keyring, owner, provider, SecretStr(key))
        await choose_model(session, owner, await find_model(session, provider, codename))
    return reference


async def ask(catalog: Catalog, turn: Turn = TURN, plan: AttemptPlan | None = None, now_ms: int = NOW) -> Any:
    return await next_attempt(catalog, turn, lambda candidates: choose(plan, candidates), now_ms)


def after(attempt: Attempt, step: Any, *before: EarlierAttempt) -> AttemptPlan:
    earlier = EarlierAttempt(generation=len(before) + 1, outcome="error", chosen=attempt.chosen, ended_ms=NOW)
    return AttemptPlan(step=step, earlier=(*before, earlier))


async def test_a_server_that_is_set_up_answers_with_its_model_and_key(catalog: Catalog) -> None:
    assert await ask(catalog) == CannotAnswer("server", "missing_model_id", nothing_set_up=True)

    reference = await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", " sk-ant-1234 \n")
    found = await ask(catalog)

    assert isinstance(found, Attempt)
    assert (found.source, found.credential) == ("server", reference)
    assert (found.target.provider, found.target.dialect) == ("anthropic", "anthropic")
    assert found.target.model.strict_role_alternation
    assert found.target.model.context_window == 1_000_000
    assert await reveal(catalog, reference) == SecretStr("sk-ant-1234")
    assert "sk-ant" not in repr(found)


async def test_the_next_attempt_follows_the_chain_to_its_end(catalog: Catalog) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "sk-ant-1234")
    async with catalog.database.writing() as session:
        endpoint = await save_endpoint(
            session, SERVER, Endpoint("home", "http://localhost:1", "m", requires_auth=False)
        )
        await save_key(session, catalog.keyring, SERVER, endpoint.provider, None)
        unset = await find_model(session, "openai", "gpt-5.1")
        slots = [FallbackTarget("llm", unset.id), FallbackTarget("custom_endpoint", endpoint.id)]
        await set_fallbacks(session, SERVER, slots)

    first = await ask(catalog)
    second = await ask(catalog, plan=after(first, "key"))
    assert (second.slot, second.number, second.credential) == ("fallback", 2, None)
    assert (second.target.provider, second.target.base_url) == ("custom", "http://localhost:1/v1")
    assert second.chosen.model == "m"
    third = await ask(catalog, plan=after(second, "model", *after(first, "model").earlier))
    assert isinstance(third, Exhausted)
    assert [(one.provider, one.reason) for one in third.skipped] == [("openai", "no_saved_config")]


async def test_overrides_hold_for_their_channel_and_persona_alone(catalog: Catalog) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "sk-ant-1234")
    async with catalog.database.writing() as session:
        haiku = await find_model(session, "anthropic", "claude-haiku-4-5")
        opus = await find_model(session, "anthropic", "claude-opus-4-7")
        await override_model(session, SERVER, haiku, channel="20")
        await override_model(session, SERVER, opus, persona="p")

    async def model(channel: str, persona: str | None = None) -> str:
        return (await ask(catalog, Turn("m1", "10", channel, persona=persona))).chosen.model

    assert await model("20") == "claude-haiku-4-5"
    assert await model("20", "p") == "claude-opus-4-7"
    assert await model("21") == "claude-sonnet-4-6"
    async with catalog.database.writing() as session:
        await override_model(session, SERVER, None, channel="20")
    assert await model("20") == "claude-sonnet-4-6"


async def test_a_persons_provider_serves_them_and_one_provider_serves_text(catalog: Catalog) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "sk-ant-1234")
    await set_up(catalog, PERSON, "openai", "gpt-5-mini", "sk-own-1234")
    await set_up(catalog, PERSON, "deepseek", "deepseek-v4-flash", "sk-own-5678")

    found = await ask(catalog)

    assert (found.source, found.chosen.model) == ("personal", "deepseek-v4-flash")
    assert (await ask(catalog, Turn("m1", "10", "20", person="31"))).source == "server"
    async with catalog.database.reading() as session:
        assert len(list(await session.scalars(select(UserCapability)))) == 1
    async with catalog.database.writing() as session:
        await remove_provider(session, PERSON, "deepseek")
    assert (await ask(catalog)).source == "server"


async def test_a_server_where_everybody_brings_a_key_says_so(catalog: Catalog) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "sk-ant-1234")
    async with catalog.database.writing() as session:
        await set_policy(session, SERVER, user_byok_mode=True)

    assert await ask(catalog) == CannotAnswer("personal", "personal_provider_required")


async def test_a_persons_key_that_does_not_open_fails_and_the_server_does_not_pay(catalog: Catalog) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "sk-ant-1234")
    await set_up(catalog, PERSON, "openai", "gpt-5-mini", "sk-own-1234")

    lost = Catalog(catalog.database, Keyring({2: SecretStr("2" * 32)}))
    assert await ask(lost) == CannotAnswer("personal", "decryption_failed", "openai")


async def test_vertex_gets_its_project_and_location_into_the_address(catalog: Catalog) -> None:
    await set_up(catalog, SERVER, "vertex", "gemini-2.5-flash", "my-project::europe-west4")

    found = await ask(catalog)

    assert found.target.base_url == (
        "https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/publishers/google"
    )
    with pytest.raises(Refused, match="PROJECT::LOCATION"):
        await set_up(catalog, SERVER, "vertex", "gemini-2.5-flash", "just-a-key")


async def pool_of(catalog: Catalog, *keys: str) -> list[CredentialReference]:
    async with catalog.database.writing() as session:
        return [await add_pooled_key(session, catalog.keyring, SERVER, "anthropic", SecretStr(key)) for key in keys]


async def row(catalog: Catalog, reference: CredentialReference) -> RotationKey:
    async with catalog.database.reading() as session:
        found = await session.get(RotationKey, reference.id)
    assert found is not None
    return found


async def test_a_pools_keys_take_turns_and_its_pointer_is_the_main_key(catalog: Catalog) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "main-key-1")
    await pool_of(catalog, "pool-key-1", "pool-key-2")

    used = [(await ask(catalog)).credential for _ in range(6)]

    assert {reference.kind for reference in used} == {"rotation"}
    revealed = [(await reveal(catalog, reference)) for reference in used]
    assert sorted(key.get_secret_value() for key in revealed if key) == sorted(
        ["main-key-1", "pool-key-1", "pool-key-2"] * 2
    )


def met(reference: CredentialReference, error: Any, code: str, ended_ms: int) -> EarlierAttempt:
    chosen = Chosen(provider="anthropic", model="claude-sonnet-4-6", credential=str(reference))
    refusal = Refusal(type=error, code=code)
    return EarlierAttempt(generation=1, outcome="error", chosen=chosen, refusal=refusal, ended_ms=ended_ms)


async def tell(catalog: Catalog, *earlier: EarlierAttempt) -> None:
    async with catalog.database.writing() as session:
        await note_errors(session, SERVER.id, earlier)


async def test_a_key_rests_after_its_error_and_a_success_ends_that(catalog: Catalog) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "main-key-1")
    await pool_of(catalog, "pool-key-1")
    first = await ask(catalog)

    await tell(catalog, met(first.credential, "rate_limit", "429", NOW))
    others = {(await ask(catalog, now_ms=NOW + 59_999)).credential for _ in range(3)}
    assert first.credential not in others
    assert (await row(catalog, first.credential)).error_count == 1
    assert (await ask(catalog, now_ms=NOW + 60_000)).credential == first.credential

    await tell(catalog, met(first.credential, "api_error", "500", NOW + 70_000))
    await record_success(catalog, first.credential, began_ms=NOW + 69_999)
    assert (await row(catalog, first.credential)).last_error == "api_error"
    await record_success(catalog, first.credential, began_ms=NOW + 70_000)
    assert (await row(catalog, first.credential)).last_error is None


async def test_the_next_attempt_notes_what_those_before_it_met(catalog: Catalog) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "main-key-1")
    await pool_of(catalog, "pool-key-1")
    first = await ask(catalog)
    failed = met(first.credential, "rate_limit", "429", NOW)

    second = await ask(catalog, replace(TURN, earlier=(failed,)), AttemptPlan(step="key", earlier=(failed,)))
    other_turn = await ask(catalog, replace(TURN, id="m2"))

    assert (await row(catalog, first.credential)).last_error == "rate_limit"
    assert second.credential == other_turn.credential != first.credential


async def test_an_error_that_is_told_again_counts_once_and_does_not_end_what_a_success_has_begun(
    catalog: Catalog,
) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "main-key-1")
    [reference] = await pool_of(catalog, "pool-key-1")
    failed = met(reference, "rate_limit", "429", NOW)

    await tell(catalog, failed, failed)
    await tell(catalog, failed)
    assert (await row(catalog, reference)).error_count == 1

    await record_success(catalog, reference, began_ms=NOW + 1)
    await tell(catalog, failed)
    assert (await row(catalog, reference)).last_error is None


async def test_an_error_that_is_told_late_does_not_shorten_a_newer_rest(catalog: Catalog) -> None:
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "main-key-1")
    [reference] = await pool_of(catalog, "pool-key-1")

    await tell(catalog, met(reference, "api_error", "401", NOW), met(reference, "rate_limit", "429", NOW - 1))

    found = await row(catalog, reference)
    assert (found.last_error, found.last_error_ms) == ("api_error", NOW)


async def test_a_pool_takes_no_key_twice_and_none_without_a_main_key(catalog: Catalog) -> None:
    with pytest.raises(NoSuchRow, match="has not set up anthropic"):
        await pool_of(catalog, "pool-key-1")
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "main-key-1")
    await pool_of(catalog, "pool-key-1")
    for again in ("main-key-1", "pool-key-1"):
        with pytest.raises(Refused, match="this key already"):
            await pool_of(catalog, again)
    async with catalog.database.writing() as session:
        assert await purge_pool(session, SERVER, "anthropic") == 1
    assert (await ask(catalog)).credential.kind == "server"


@pytest.mark.parametrize("key", ["", "   ", "with blank", "über", "line\nbreak", "x" * 4_097])
async def test_what_no_header_can_carry_is_no_key(catalog: Catalog, key: str) -> None:
    with pytest.raises(Refused) as refused:
        await set_up(catalog, SERVER, "openai", "gpt-5.1", key)
    assert key.strip() == "" or key not in str(refused.value)


async def test_a_key_is_sealed_anew_when_it_is_used_under_a_newer_secret(catalog: Catalog) -> None:
    server = await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "main-key-1")
    person = await set_up(catalog, PERSON, "openai", "gpt-5.1", "own-key-1")
    [pooled] = await pool_of(catalog, "pool-key-1")
    both = Catalog(catalog.database, Keyring({**SECRETS, 2: SecretStr("2" * 32)}))
    keys = {server: "main-key-1", person: "own-key-1", pooled: "pool-key-1"}

    for reference, key in keys.items():
        assert await reveal(both, reference) == SecretStr(key)

    newer_only = Catalog(catalog.database, Keyring({2: SecretStr("2" * 32)}))
    for reference, key in keys.items():
        assert await reveal(newer_only, reference) == SecretStr(key)
        with pytest.raises(DecryptionFailed):
            await reveal(catalog, reference)


async def test_a_ciphertext_that_is_moved_to_another_server_does_not_open_there(catalog: Catalog) -> None:
    mine = await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "main-key-1")
    theirs = await set_up(catalog, Server("11"), "anthropic", "claude-sonnet-4-6", "main-key-2")
    async with catalog.database.writing() as session:
        stolen = await session.get_one(SavedProviderConfig, mine.id)
        values = {"api_key": stolen.api_key, "key_version": stolen.key_version}
        await session.execute(update(SavedProviderConfig).where(SavedProviderConfig.id == theirs.id).values(values))

    with pytest.raises(DecryptionFailed):
        await reveal(catalog, theirs)
    assert await ask(catalog, Turn("m1", "11", "20")) == CannotAnswer("server", "decryption_failed", "anthropic")


async def test_a_reference_to_a_key_that_was_removed_finds_no_other(catalog: Catalog) -> None:
    old = await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "main-key-1")
    async with catalog.database.writing() as session:
        await remove_provider(session, SERVER, "anthropic")
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "main-key-2")

    with pytest.raises(NoSuchRow):
        await reveal(catalog, old)
    assert CredentialReference.parse(str(old)) == old
    assert CredentialReference.parse("openai") is None


async def test_a_removed_endpoint_takes_its_key_its_model_and_its_slots_along(catalog: Catalog) -> None:
    async with catalog.database.writing() as session:
        endpoint = await save_endpoint(session, SERVER, Endpoint("home", "https://llm.example", "m"))
        await save_key(session, catalog.keyring, SERVER, endpoint.provider, SecretStr("home-key-1"))
        llm = await find_model(session, endpoint.provider, "home-text")
        await choose_model(session, SERVER, llm)
        await set_fallbacks(session, SERVER, [await fallback_target(session, SERVER, llm)])
        with pytest.raises(NoSuchRow):
            await fallback_target(session, Server("11"), llm)
    assert (await ask(catalog)).chosen.model == "m"

    async with catalog.database.writing() as session:
        await remove_endpoint(session, SERVER, "HOME")

    assert await ask(catalog) == CannotAnswer("server", "missing_model_id", nothing_set_up=True)
    async with catalog.database.reading() as session:
        assert list(await session.scalars(select(FallbackReference))) == []
        assert list(await session.scalars(select(SavedProviderConfig))) == []


async def test_an_endpoint_that_wants_a_key_and_has_none_is_named(catalog: Catalog) -> None:
    async with catalog.database.writing() as session:
        endpoint = await save_endpoint(session, SERVER, Endpoint("home", "https://llm.example", "m"))
        await save_key(session, catalog.keyring, SERVER, endpoint.provider, None)
        await choose_model(session, SERVER, await find_model(session, endpoint.provider, "home-text"))

    assert await ask(catalog) == CannotAnswer("server", "placeholder_key", endpoint.provider)


PROGRAM = """
import asyncio, sys
from pydantic import SecretStr
from schemas.attempts import Chosen, EarlierAttempt, Refusal
from services.catalog.attempts import next_attempt
from services.catalog.catalog import Catalog
from services.catalog.choices import set_policy, set_fallbacks, FallbackTarget
from services.catalog.database import Database
from services.catalog.owners import Server
from services.catalog.sealing import Keyring
from services.catalog.sides import Turn

async def main(url, me, rounds, pooled):
    async with Database(SecretStr(url)) as database:
        catalog = Catalog(database, Keyring({1: SecretStr("1" * 32)}))
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(rounds):
            chosen = Chosen(provider="anthropic", model="m", credential=f"catalog/rotation/{pooled}")
            refusal = Refusal(type="rate_limit", code="429")
            failed = EarlierAttempt(
                generation=1, outcome="error", chosen=chosen, refusal=refusal, ended_ms=1 + number
            )
            turn = Turn(f"m{number}", "10", "20", earlier=(failed,))
            await next_attempt(catalog, turn, lambda candidates: candidates[0], 1_800_000_000_000)
            async with database.writing() as session:
                column = "user_byok_mode" if me == 0 else "model_randomizer_enabled"
                await set_policy(session, Server("77"), **{column: number == rounds - 1})
            async with database.writing() as session:
                await set_fallbacks(session, Server("77"), [FallbackTarget("llm", llm) for llm in range(1 + me, 5 + me)])

asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]))
"""


async def test_two_processes_that_use_the_catalog_at_once_lose_no_update(catalog: Catalog, database_url: str) -> None:
    rounds = 40
    await set_up(catalog, SERVER, "anthropic", "claude-sonnet-4-6", "main-key-1")
    [pooled] = await pool_of(catalog, "pool-key-1")
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, database_url, str(number), str(rounds), pooled.id],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(2)
    ]
    for process in processes:
        assert process.stdout
        assert await asyncio.to_thread(process.stdout.readline) == "ready\n"
    outs = await asyncio.gather(*(asyncio.to_thread(process.communicate, "go\n", 120) for process in processes))

    assert [process.returncode for process in processes] == [0, 0], outs
    async with catalog.database.reading() as session:
        rows = list(await session.scalars(select(RotationKey)))
        config = await session.get_one(ServerConfig, "77")
        slots = list(await session.scalars(select(FallbackReference).order_by(FallbackReference.slot)))
    assert sum(key.usage_count for key in rows) == 2 * rounds
    assert max(key.usage_count for key in rows) - min(key.usage_count for key in rows) <= 1
    assert sum(key.error_count for key in rows) == rounds
    assert (config.user_byok_mode, config.model_randomizer_enabled) == (True, True)
    assert [slot.llm_id for slot in slots] in ([1, 2, 3, 4], [2, 3, 4, 5])
