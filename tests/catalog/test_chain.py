"""Which models and keys a turn may be answered with, in which order, and when there are none."""

from dataclasses import replace

import pytest

from schemas.attempts import Chosen, EarlierAttempt
from schemas.context import GenerationOptions
from services.catalog.chain import Attempt, CannotAnswer, Chain, Skipped, chain_for
from services.catalog.keys import CredentialReference
from services.catalog.rotation import PooledKey, free_keys, mark_for
from services.catalog.sides import CatalogModel, PersonSide, SavedProvider, ServerSide, Turn
from services.catalog.target import ModelFacts, Target

NOW = 1_000_000_000
TURN = Turn("m1", "10", "20", person="30")
PROVIDERS = ("anthropic", "google", "openai", "deepseek", "nvidia", "novelai")
MODELS = {
    number: CatalogModel(number, provider, Target("custom", "openai-chat", ModelFacts(f"model-{number}")))
    for number, provider in enumerate(PROVIDERS, 1)
}


def saved(kind: str, *providers: str) -> dict[str, SavedProvider]:
    return {
        provider: SavedProvider(CredentialReference("personal" if kind == "personal" else "server", provider))
        for provider in providers
    }


SERVER = ServerSide(llm_id=1, fallbacks=(2, 3), saved=saved("server", *PROVIDERS))
PERSON = PersonSide("deepseek", 4, (5,), saved("personal", "deepseek", "nvidia"))


def links(found: Chain | CannotAnswer) -> list[tuple[str, str, str]]:
    assert isinstance(found, Chain), found
    return [(attempt.source, attempt.chosen.model, attempt.slot) for attempt in found.attempts]


def keys(found: Chain | CannotAnswer, model: str = "model-1") -> list[str]:
    assert isinstance(found, Chain), found
    return [one.chosen.credential.removeprefix("catalog/") for one in found.attempts if one.chosen.model == model]


def failed(attempt: Attempt) -> EarlierAttempt:
    return EarlierAttempt(generation=1, outcome="error", chosen=attempt.chosen, ended_ms=NOW)


def test_a_server_without_overrides_takes_its_model_and_then_its_slots() -> None:
    found = chain_for(TURN, SERVER, None, MODELS, NOW)

    assert links(found) == [
        ("server", "model-1", "primary"),
        ("server", "model-2", "fallback"),
        ("server", "model-3", "fallback"),
    ]
    assert isinstance(found, Chain)
    assert [attempt.number for attempt in found.attempts] == [None, 1, 2]


def test_a_persona_goes_before_a_channel_and_both_before_the_server() -> None:
    server = replace(SERVER, persona_llm_id=4, channel_llm_id=5)

    assert links(chain_for(TURN, server, None, MODELS, NOW))[:3] == [
        ("server", "model-4", "primary"),
        ("server", "model-5", "channel"),
        ("server", "model-1", "server"),
    ]
    assert links(chain_for(TURN, replace(server, persona_llm_id=None), None, MODELS, NOW))[:2] == [
        ("server", "model-5", "primary"),
        ("server", "model-1", "server"),
    ]


def test_a_model_stands_in_the_chain_once() -> None:
    server = replace(SERVER, persona_llm_id=2, channel_llm_id=1, fallbacks=(2, 1, 3))
    assert [model for _, model, _ in links(chain_for(TURN, server, None, MODELS, NOW))] == [
        "model-2",
        "model-1",
        "model-3",
    ]


def test_impersonation_takes_the_servers_own_model_and_nobodys_key() -> None:
    turn = replace(TURN, impersonation=True)
    server = replace(SERVER, persona_llm_id=4, channel_llm_id=5, user_byok_mode=True)

    assert [model for _, model, _ in links(chain_for(turn, server, PERSON, MODELS, NOW))] == [
        "model-1",
        "model-2",
        "model-3",
    ]


def test_a_persons_own_models_go_first_and_the_servers_follow() -> None:
    assert links(chain_for(TURN, SERVER, PERSON, MODELS, NOW)) == [
        ("personal", "model-4", "primary"),
        ("personal", "model-5", "fallback"),
        ("server", "model-1", "primary"),
        ("server", "model-2", "fallback"),
        ("server", "model-3", "fallback"),
    ]


@pytest.mark.parametrize(
    ("turn", "server"),
    [
        (TURN, replace(SERVER, user_byok_mode=True)),
        (TURN, replace(SERVER, personal_server_fallback=False)),
        (replace(TURN, server_admitted=False), SERVER),
        (TURN, ServerSide()),
        (TURN, None),
    ],
)
def test_the_servers_models_do_not_follow_where_that_is_withheld(turn: Turn, server: ServerSide | None) -> None:
    assert {source for source, _, _ in links(chain_for(turn, server, PERSON, MODELS, NOW))} == {"personal"}


def test_where_everybody_brings_a_key_who_has_none_is_told() -> None:
    server = replace(SERVER, user_byok_mode=True)

    assert chain_for(TURN, server, PersonSide(), MODELS, NOW) == CannotAnswer("personal", "personal_provider_required")
    assert links(chain_for(replace(TURN, person=None), server, None, MODELS, NOW))[0][1] == "model-1"


@pytest.mark.parametrize("problem", ["decryption_failed", "placeholder_key", "no_saved_config"])
def test_a_person_whose_key_cannot_be_used_is_told_and_the_server_does_not_pay(problem: str) -> None:
    broken = {} if problem == "no_saved_config" else {"deepseek": SavedProvider(None, problem)}  # pyright: ignore
    person = replace(PERSON, saved=broken)

    assert chain_for(TURN, SERVER, person, MODELS, NOW) == CannotAnswer("personal", problem, "deepseek")  # pyright: ignore


def test_a_first_choice_that_is_not_set_up_fails_and_one_further_on_is_skipped() -> None:
    first = replace(SERVER, saved=saved("server", "google", "openai"))
    assert chain_for(TURN, first, None, MODELS, NOW) == CannotAnswer("server", "no_saved_config", "anthropic")
    assert chain_for(TURN, ServerSide(), None, MODELS, NOW) == CannotAnswer(
        "server", "missing_model_id", nothing_set_up=True
    )

    later = chain_for(TURN, replace(SERVER, saved=saved("server", "anthropic", "openai")), None, MODELS, NOW)
    assert [model for _, model, _ in links(later)] == ["model-1", "model-3"]
    assert isinstance(later, Chain)
    assert later.skipped == (Skipped("server", "google", "model-2", "no_saved_config"),)


def test_the_randomizer_moves_one_model_to_the_front_the_same_one_at_each_look() -> None:
    server = replace(SERVER, randomizes=True)
    chains = [links(chain_for(replace(TURN, id=f"m{number}"), server, None, MODELS, NOW)) for number in range(60)]

    assert {chain[0][1] for chain in chains} == {"model-1", "model-2", "model-3"}
    assert all(sorted(chain) == sorted(chains[0]) for chain in chains)
    assert links(chain_for(replace(TURN, id="m7"), server, None, MODELS, NOW)) == chains[7]
    mixed = links(chain_for(TURN, server, PERSON, MODELS, NOW))
    assert [source for source, _, _ in mixed] == ["personal", "personal", "server", "server", "server"]


def test_a_servers_switches_reach_every_model() -> None:
    server = replace(SERVER, tools_enabled=False, verbatim_tools=True)
    found = chain_for(TURN, server, PERSON, MODELS, NOW)

    assert isinstance(found, Chain)
    assert all(not one.options.tools_enabled and one.target.model.verbatim_tool_calling for one in found.attempts)


def test_a_servers_stops_hold_for_whatever_model_answers_there_and_nowhere_else() -> None:
    own = {"deepseek": replace(PERSON.saved["deepseek"], options=GenerationOptions(top_k=3))}
    person = replace(PERSON, saved=own)
    server = replace(SERVER, stop_strings=("###",), stops_speaker=True)

    found = chain_for(TURN, server, person, MODELS, NOW)
    assert isinstance(found, Chain)
    assert {one.source for one in found.attempts} == {"personal", "server"}
    assert {one.options.stop_strings for one in found.attempts} == {("###",)}
    assert all(one.options.speaker_stop for one in found.attempts)
    assert found.attempts[0].options.top_k == 3

    alone = chain_for(TURN, None, person, MODELS, NOW)
    assert isinstance(alone, Chain)
    assert alone.attempts[0].options.model_fields_set == {"top_k"}


def test_an_attempt_has_its_providers_options_and_base_url() -> None:
    options = GenerationOptions(temperature=0.3, thinking_level="high")
    place = SavedProvider(CredentialReference("server", "x"), None, options, "https://vertex.example/p")
    found = chain_for(TURN, replace(SERVER, saved={"anthropic": place}), None, MODELS, NOW)

    assert isinstance(found, Chain)
    [attempt] = found.attempts
    assert (attempt.options, attempt.target.base_url) == (options, "https://vertex.example/p")
    assert attempt.chosen == Chosen(
        provider="anthropic", model="model-1", credential="catalog/server/x", source="server"
    )


def pool(*rows: PooledKey) -> ServerSide:
    return replace(SERVER, fallbacks=(), pools={"anthropic": rows})


def test_a_pool_of_one_does_not_rotate() -> None:
    assert keys(chain_for(TURN, pool(PooledKey("a", is_main=True)), None, MODELS, NOW)) == ["server/anthropic"]


def test_the_key_that_was_used_least_comes_first() -> None:
    server = pool(PooledKey("a", usage_count=3), PooledKey("b", usage_count=1), PooledKey("c", enabled=False))
    assert keys(chain_for(TURN, server, None, MODELS, NOW)) == ["rotation/b", "rotation/a"]


@pytest.mark.parametrize(("mark", "rest_ms"), [("rate_limit", 60_000), ("api_error", 300_000)])
def test_a_key_rests_after_an_error_for_as_long_as_the_error_says(mark: str, rest_ms: int) -> None:
    key = PooledKey("a", last_error=mark, last_error_ms=NOW)  # pyright: ignore[reportArgumentType]

    assert free_keys([key], NOW + rest_ms - 1) == []
    assert free_keys([key], NOW + rest_ms) == [key]


def test_where_all_keys_rest_the_main_one_is_used() -> None:
    resting = [PooledKey(name, last_error="rate_limit", last_error_ms=NOW) for name in "ab"]
    assert keys(chain_for(TURN, pool(*resting), None, MODELS, NOW)) == ["server/anthropic"]


def test_at_most_three_keys_are_tried_for_a_model_and_a_failed_one_only_stays_for_the_same_attempt() -> None:
    server = pool(*(PooledKey(name) for name in "abcde"))
    turn, tried = TURN, list[str]()
    for _ in range(3):
        found = chain_for(turn, server, None, MODELS, NOW)
        assert isinstance(found, Chain)
        tried.append(keys(found)[0])
        turn = replace(turn, earlier=(*turn.earlier, failed(found.attempts[0])))
        left = 3 - len(tried)
        expected = [f"rotation/{name}" for name in "abcde"[len(tried) :][:left]] + [tried[-1]]
        assert keys(chain_for(turn, server, None, MODELS, NOW)) == expected
    assert tried == ["rotation/a", "rotation/b", "rotation/c"]


@pytest.mark.parametrize(
    ("error", "code", "mark"),
    [
        ("rate_limit", "429", "rate_limit"),
        ("api_error", "401", "api_error"),
        ("model_error", "403", "api_error"),
        ("api_error", "500", "api_error"),
        ("api_error", "400", None),
        ("api_error", "422", None),
        ("api_error", "connect_failed", None),
        ("api_error", "credential_unavailable", None),
        ("provider_overloaded", "529", None),
        ("timeout", "idle", None),
        ("content_blocked", "safety", None),
    ],
)
def test_an_error_marks_a_key_only_if_it_says_something_about_the_key(error: str, code: str, mark: str | None) -> None:
    assert mark_for(error, code) == mark  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("server", "person", "nothing"),
    [
        (ServerSide(), PersonSide(), True),
        (None, PersonSide(), True),
        (ServerSide(user_byok_mode=True), PersonSide(), False),
        (ServerSide(saved=SERVER.saved), PersonSide(), False),
        (None, PersonSide("deepseek"), False),
    ],
)
def test_it_is_told_apart_where_nobody_has_set_anything_up(
    server: ServerSide | None, person: PersonSide, nothing: bool
) -> None:
    found = chain_for(TURN, server, person, MODELS, NOW)
    assert isinstance(found, CannotAnswer)
    assert found.nothing_set_up is nothing
