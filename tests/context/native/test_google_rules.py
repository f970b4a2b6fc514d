"""What Google's models refuse, and what differs between them."""

from dataclasses import replace
from typing import Any

import pytest
from inline_snapshot import snapshot

from schemas.context import GenerationOptions, Origin, TextPart, VideoPart
from services.catalog.target import Target
from services.context.dialects.google.exchanges import FOREIGN_SIGNATURE
from services.context.dialects.google.models import habits
from services.context.failures import UnusableTarget
from services.context.render import render as build
from services.context.strict_chat import OPENING
from tests.context.native.making import GEMINI, WEATHER, bot, context, exchange, image, model, system, user

PRO = model(GEMINI, "gemini-2.5-pro")
LITE = model(GEMINI, "gemini-2.5-flash-lite")
FLASH_3 = model(GEMINI, "gemini-3-flash-preview")
PRO_3 = model(GEMINI, "gemini-3.1-pro-preview")
GEMMA = model(GEMINI, "gemma-4-31b-it")
OWN = Origin(provider="google", dialect="google", model="gemini-3-flash-preview")
HELLO = user("grace: hello")
CALL = ("weather", {"city": "Riga"}, {"result": 1})


def contents(made: Any) -> list[dict[str, Any]]:
    return made.body["contents"]


def config(target: Target, **options: Any) -> tuple[dict[str, Any], list[str]]:
    """The generation's configuration, and which options were left out or changed."""
    made: Any = build(context(HELLO, options=GenerationOptions(**options)), target)
    config = {**made.body["generationConfig"]}
    del config["maxOutputTokens"], config["stopSequences"]
    return config, [warning.place for warning in made.warnings]


def test_nothing_said_is_still_a_turn() -> None:
    assert contents(build(context(system("Be brief.")), GEMINI)) == [{"role": "user", "parts": [{"text": OPENING}]}]


def test_neighbours_of_one_role_stay_apart_since_google_takes_them() -> None:
    made = build(context(user("a: 1"), user("b: 2", " "), bot("Ada: 3")), GEMINI)
    assert [(turn["role"], len(turn["parts"])) for turn in contents(made)] == [("user", 1), ("user", 1), ("model", 1)]


def test_what_the_model_has_said_since_its_calls_comes_last() -> None:
    made = build(
        context(HELLO, function_history=(exchange(CALL),), current_turn_model_parts=(TextPart(text="So:"),)), GEMINI
    )
    assert [(turn["role"], list(turn["parts"][0])) for turn in contents(made)] == [
        ("user", ["text"]),
        ("model", ["functionCall"]),
        ("user", ["functionResponse"]),
        ("model", ["text"]),
    ]


def test_a_prefill_is_the_models_last_turn_once() -> None:
    options = GenerationOptions(prefill="Ada: Well,")
    last = {"role": "model", "parts": [{"text": "Ada: Well,"}]}
    assert contents(build(context(HELLO, options=options), GEMINI))[1:] == [last]
    assert contents(build(context(HELLO, bot("Ada: Well,"), options=options), GEMINI))[1:] == [last]


# -- tool calls


@pytest.mark.parametrize(
    ("target", "origin", "signature", "sent"),
    [
        (FLASH_3, OWN, "b3du", "b3du"),
        (FLASH_3, Origin(provider="anthropic", dialect="anthropic", model="c"), "Zm9y", FOREIGN_SIGNATURE),
        (FLASH_3, OWN, None, FOREIGN_SIGNATURE),
        (FLASH_3, None, None, FOREIGN_SIGNATURE),
        (GEMINI, OWN.model_copy(update={"model": "gemini-2.5-flash"}), "b3du", "b3du"),
        (GEMINI, None, None, None),
    ],
)
def test_a_call_bears_its_own_signature_and_a_foreign_one_the_word_for_having_none(
    target: Target, origin: Origin | None, signature: str | None, sent: str | None
) -> None:
    history = (exchange(CALL, CALL, signature=signature, origin=origin),)
    first, second = contents(build(context(HELLO, function_history=history), target))[1]["parts"]
    assert first.get("thoughtSignature") == sent
    assert "thoughtSignature" not in second


def test_parts_that_are_not_the_turn_that_was_run_are_not_replayed() -> None:
    replay = (
        {"functionCall": {"id": "fc-1", "name": "weather", "args": {}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "fc-2", "name": "other", "args": {}}},
    )
    history = (exchange(CALL, replay=replay, origin=OWN, signature="c2ln"),)
    model_turn, response_turn = contents(build(context(HELLO, function_history=history), FLASH_3))[1:]
    assert model_turn["parts"] == [
        {"functionCall": {"name": "weather", "args": {"city": "Riga"}}, "thoughtSignature": "c2ln"}
    ]
    assert "id" not in response_turn["parts"][0]["functionResponse"]


def test_an_empty_text_goes_back_only_with_its_signature() -> None:
    call = {"functionCall": {"name": "weather", "args": {"city": "Riga"}}, "thoughtSignature": "c2ln"}
    signed = {"text": "", "thoughtSignature": "bGFzdA=="}
    replay = ({"text": "", "thought": True}, call, {"text": ""}, signed)
    made = build(context(HELLO, function_history=(exchange(CALL, replay=replay, origin=OWN),)), FLASH_3)
    assert contents(made)[1]["parts"] == [call, signed]
    assert made.warnings == ()


def test_signed_parts_of_vertex_are_not_replayed_to_gemini() -> None:
    replay = ({"functionCall": {"id": "x", "name": "weather", "args": {}}, "thoughtSignature": "c2ln"},)
    at_vertex = Origin(provider="vertex", dialect="google", model="gemini-3-flash-preview")
    made = build(context(HELLO, function_history=(exchange(CALL, replay=replay, origin=at_vertex),)), FLASH_3)
    assert contents(made)[1]["parts"][0]["thoughtSignature"] == FOREIGN_SIGNATURE


def test_a_conversation_with_calls_keeps_its_tools_when_no_more_are_wanted() -> None:
    off = GenerationOptions(tools_enabled=False)
    made = build(context(HELLO, tools=(WEATHER,), function_history=(exchange(CALL),), options=off), GEMINI)
    assert made.body["toolConfig"] == {"functionCallingConfig": {"mode": "NONE"}}
    assert "tools" in made.body
    assert "tools" not in build(context(HELLO, tools=(WEATHER,), options=off), GEMINI).body


# -- generation


@pytest.mark.parametrize(
    ("target", "options", "thinking", "changed"),
    [
        (GEMINI, {}, {"thinkingBudget": -1}, []),
        (GEMINI, {"thinking_level": "none"}, {"thinkingBudget": 0}, []),
        (GEMINI, {"thinking_level": "low"}, {"thinkingBudget": 1024}, []),
        (GEMINI, {"thinking_level": "medium"}, {"thinkingBudget": 4096}, []),
        (
            GEMINI,
            {"thinking_level": "none", "force_reasoning": True, "max_output_tokens": 20_000},
            {"thinkingBudget": 8192},
            [],
        ),
        (PRO, {"thinking_level": "none"}, {"thinkingBudget": 128}, ["options.thinking_level"]),
        (PRO, {"thinking_level": "low", "max_output_tokens": 10}, {"thinkingBudget": 128}, []),
        (LITE, {"thinking_level": "none"}, {"thinkingBudget": 0}, []),
        (LITE, {"thinking_level": "low", "max_output_tokens": 10}, {"thinkingBudget": 512}, []),
        (FLASH_3, {}, None, []),
        (FLASH_3, {"thinking_level": "none"}, {"thinkingLevel": "MINIMAL"}, ["options.thinking_level"]),
        (FLASH_3, {"thinking_level": "medium"}, {"thinkingLevel": "MEDIUM"}, []),
        (PRO_3, {"thinking_level": "none"}, {"thinkingLevel": "LOW"}, ["options.thinking_level"]),
        (PRO_3, {"thinking_level": "auto", "force_reasoning": True}, {"thinkingLevel": "HIGH"}, []),
        (GEMMA, {"thinking_level": "high"}, None, ["options.thinking_level"]),
        (model(GEMINI, "gemini-2.0-flash"), {}, None, []),
    ],
)
def test_each_family_is_asked_to_think_as_it_can(
    target: Target, options: dict[str, Any], thinking: dict[str, Any] | None, changed: list[str]
) -> None:
    made, places = config(target, **options)
    assert (made.get("thinkingConfig"), places) == (thinking, changed)


@pytest.mark.parametrize(
    ("target", "options", "keys", "left_out"),
    [
        (FLASH_3, {"top_p": 1.0, "top_k": 0, "frequency_penalty": 0}, {}, []),
        (FLASH_3, {"top_p": 0.5, "top_k": 3}, {"topP": 0.5, "topK": 3}, []),
        (
            FLASH_3,
            {"frequency_penalty": 2, "presence_penalty": -2},
            {"frequencyPenalty": 1.99, "presencePenalty": -2},
            ["options.frequency_penalty"],
        ),
        (GEMMA, {"presence_penalty": 1}, {}, ["options.presence_penalty"]),
        (FLASH_3, {"temperature": 0.5, "disabled_parameters": ("temperature",)}, {}, []),
        (FLASH_3, {"min_p": 0.1}, {}, ["options.min_p"]),
        (replace(FLASH_3, provider="vertexexpress"), {"presence_penalty": 1}, {}, ["options.presence_penalty"]),
    ],
)
def test_sampling_is_said_in_googles_words_and_penalties_only_to_gemini_3(
    target: Target, options: dict[str, Any], keys: dict[str, Any], left_out: list[str]
) -> None:
    assert config(target, **options) == (keys, left_out)


def test_five_stop_sequences_are_the_most() -> None:
    made: Any = build(context(HELLO, options=GenerationOptions(stop_strings=tuple("abcdef"))), GEMINI)
    assert len(made.body["generationConfig"]["stopSequences"]) == 5
    assert [warning.code for warning in made.warnings] == ["stop_strings_cut"]


@pytest.mark.parametrize(
    ("codename", "takes_system"),
    [
        ("gemma-3-27b-it", False),
        ("google/gemma-3n-e4b-it", False),
        ("gemma", False),
        ("google/gemma-4-31b-it", True),
        ("gemini-2.5-flash", True),
        ("my-gemma-3", True),
    ],
)
def test_which_models_take_system_text(codename: str, takes_system: bool) -> None:
    assert habits(codename).takes_system is takes_system


# -- media


def test_a_model_that_sees_nothing_is_told_of_what_there_was() -> None:
    blind = model(GEMINI, "gemini-2.5-flash", sees_images=False, sees_videos=False, sees_youtube=False)
    link = VideoPart(uri="https://youtu.be/aaaaaaaaaaa", is_youtube_link=True, enhanced_context=True)
    made = build(context(user(image("a.png"), VideoPart(name="b.mp4"), link, "grace: look", message_id="1")), blind)
    assert contents(made)[0]["parts"] == snapshot(
        [
            {"text": '[System: An image ("a.png") is not shown: this model takes no images.]'},
            {"text": '[System: A video ("b.mp4") is not shown: this model takes no videos.]'},
            {"text": "[System: A video is not shown: this model takes no links to videos.]"},
            {"text": "grace: look"},
        ]
    )
    assert made.skipped_images == ()


@pytest.mark.parametrize(
    "uri",
    [
        None,
        "http://www.youtube.com/watch?v=a",
        "https://youtube.com.example/watch?v=a",
        "https://user@youtube.com/watch?v=a",
        "https://cdn.discordapp.com/x.mp4",
        "https://[",
    ],
)
def test_only_youtubes_own_addresses_are_passed_on(uri: str | None) -> None:
    video = VideoPart(uri=uri, is_youtube_link=True, enhanced_context=True)
    made = build(context(user(video)), GEMINI)
    assert list(contents(made)[0]["parts"][0]) == ["text"]


# -- addresses


@pytest.mark.parametrize("codename", ["../../x", "a?b", "a#b", "a b", "", "a//b", "models/../x", "é"])
def test_a_models_name_that_is_no_part_of_a_path_is_refused(codename: str) -> None:
    with pytest.raises(UnusableTarget):
        build(context(HELLO), model(GEMINI, codename))


def test_a_vertex_model_needs_its_place() -> None:
    with pytest.raises(UnusableTarget):
        build(context(HELLO), replace(GEMINI, provider="vertex"))


@pytest.mark.parametrize(
    ("target", "path"),
    [
        (replace(GEMINI, base_url="http://127.0.0.1:9"), "http://127.0.0.1:9/v1beta/models/gemini-2.5-flash"),
        (replace(GEMINI, base_url="http://127.0.0.1:9/api/"), "http://127.0.0.1:9/api/models/gemini-2.5-flash"),
        (
            replace(model(GEMINI, "google/gemini-2.5-flash"), provider="vertexexpress"),
            "https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-flash",
        ),
        (
            model(GEMINI, "tunedModels/mine"),
            "https://generativelanguage.googleapis.com/v1beta/tunedModels/mine",
        ),
    ],
)
def test_where_a_request_goes(target: Target, path: str) -> None:
    assert build(context(HELLO), target).url == f"{path}:streamGenerateContent?alt=sse"
