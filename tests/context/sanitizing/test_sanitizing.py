"""Sanitizing: a history moves between providers, keeps what the next one can use, and loses nothing that was seen."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from schemas.chunks import FunctionCall
from schemas.context import FunctionExchange, FunctionResult, GenerationOptions, ImagePart, NeutralContext, TextPart
from services.catalog.target import Target
from services.context.sanitizing.messages import Sanitized, sanitize_messages_for_target
from services.context.sanitizing.pairing import WITHOUT_CALL
from services.context.tools.names import wire_name
from tests.context.sanitizing.conftest import (
    ANTHROPIC,
    DEEPSEEK,
    GOOGLE,
    KIMI,
    MISTRAL,
    NOVELAI,
    OPENAI,
    OPENROUTER,
    PING,
    RESPONSES,
    SIGNED,
    TARGETS,
    TOOLLESS,
    accepts,
    contexts,
    origin_of,
    target,
)

PICTURE = ImagePart(mime_type="image/png", name="cat.png")


def call(call_id: str = "c1", name: str = "ping", **more: Any) -> FunctionCall:
    return FunctionCall(id=call_id, name=name, args=more.pop("args", {"q": 1}), **more)


def result(call_id: str = "c1", name: str = "ping", **response: Any) -> FunctionResult:
    return FunctionResult(call_id=call_id, name=name, response=response or {"ok": True})


def exchange(*calls: FunctionCall, by: Target | None = None, **more: Any) -> FunctionExchange:
    results = more.pop("results", tuple(result(call.id, call.name) for call in calls))
    origin = None if by is None else origin_of(by, more.pop("model", None))
    return FunctionExchange(calls=calls, results=results, origin=origin, **more)


def sanitized(*history: FunctionExchange, to: Target) -> Sanitized:
    return sanitize_messages_for_target(NeutralContext(items=(), tools=(PING,), function_history=history), to)


def only(*history: FunctionExchange, to: Target) -> FunctionExchange:
    (one,) = sanitized(*history, to=to).context.function_history
    return one


def messages(found: Sanitized) -> list[tuple[str, str]]:
    assert all(warning.code == "history_sanitized" for warning in found.warnings)
    return [(warning.place, warning.message) for warning in found.warnings]


@pytest.mark.parametrize("to", TARGETS[:-1])
def test_a_models_own_history_goes_back_as_it_is(to: Target) -> None:
    own = {
        "anthropic": SIGNED,
        "google": {"functionCall": {"name": "ping", "args": {"q": 1}}, "thoughtSignature": "s"},
        "openai-responses": {"type": "reasoning", "id": "rs_1", "encrypted_content": "x"},
        "openai-chat": {"type": "reasoning_content", "reasoning_content": "so"},
    }.get(to.dialect)
    told = exchange(call("AbCdEfGh1", thought_signature="sig"), by=to, text="wait,", replay=(own,) if own else ())
    found = sanitized(told, to=to)
    assert found.context.function_history == (told,)
    assert found.warnings == ()


@pytest.mark.parametrize(
    ("to", "by", "part", "kept"),
    [
        (ANTHROPIC, target("anthropic", "anthropic", "claude-opus-4-7"), SIGNED, True),
        (ANTHROPIC, target("custom", "anthropic", "claude-sonnet-4-6"), SIGNED, False),
        (target("custom", "anthropic", "a"), target("custom", "anthropic", "b"), SIGNED, False),
        (ANTHROPIC, OPENROUTER, {"type": "reasoning.text", "text": "x", "signature": "s"}, False),
        (ANTHROPIC, None, SIGNED, False),
        (ANTHROPIC, ANTHROPIC, {"type": "thinking", "thinking": "cut", "signature": ""}, False),
        (ANTHROPIC, ANTHROPIC, {"type": "redacted_thinking", "data": "x"}, True),
        (ANTHROPIC, ANTHROPIC, {"type": "reasoning", "id": "x"}, False),
        (RESPONSES, target("openai", "openai-responses", "gpt-5"), {"type": "reasoning", "id": "x"}, False),
        (GOOGLE, target("vertex", "google", "gemini-3-pro"), {"text": "x", "thoughtSignature": "s"}, False),
        (GOOGLE, target("google", "google", "gemini-2.5-pro"), {"text": "x", "thoughtSignature": "s"}, False),
        (OPENROUTER, OPENROUTER, {"type": "reasoning.encrypted", "data": "x"}, True),
        (OPENROUTER, target("openrouter", "openai-chat", "other"), {"type": "reasoning.encrypted", "data": "x"}, False),
        (
            DEEPSEEK,
            target("zai", "openai-chat", "glm-4.7"),
            {"type": "reasoning_content", "reasoning_content": "x"},
            True,
        ),
        (OPENAI, DEEPSEEK, {"type": "reasoning_content", "reasoning_content": "x"}, False),
        (NOVELAI, NOVELAI, {"type": "reasoning_content", "reasoning_content": "x"}, False),
    ],
)
def test_reasoning_goes_to_those_who_can_read_it(
    to: Target, by: Target | None, part: dict[str, Any], kept: bool
) -> None:
    found = sanitized(exchange(call(), by=by, replay=(part,)), to=to)
    assert found.context.function_history[0].replay == ((part,) if kept else ())
    assert (("function_history[0].replay", "what the target cannot read again is left out") in messages(found)) != kept


def test_signatures_of_calls_go_to_their_model_alone() -> None:
    signed = exchange(call(thought_signature="sig"), by=GOOGLE)
    assert only(signed, to=GOOGLE).calls[0].thought_signature == "sig"
    found = sanitized(signed, to=OPENAI)
    assert found.context.function_history[0].calls[0].thought_signature is None
    assert messages(found) == [("function_history[0].calls[0]", "the signature of another model is left out")]


def test_text_that_stands_in_a_models_parts_alone_stays_visible() -> None:
    parts = ({"text": "secretly", "thought": True}, {"text": "Let me "}, {"text": "look.", "thoughtSignature": "s"})
    assert only(exchange(call(), by=GOOGLE, replay=parts), to=OPENAI).text == "Let me look."
    assert only(exchange(call(), by=GOOGLE, replay=parts, text="said"), to=OPENAI).text == "said"


LONG = "fc_" + "x" * 60


@pytest.mark.parametrize(
    ("to", "given", "stays"),
    [
        (ANTHROPIC, "toolu_01-x", True),
        (ANTHROPIC, "call.1", False),
        (ANTHROPIC, "a" * 64, True),
        (ANTHROPIC, "a" * 65, False),
        (RESPONSES, LONG, True),
        (OPENAI, LONG, False),
        (OPENAI, "a" * 40, True),
        (MISTRAL, "AbCdEfGh1", True),
        (MISTRAL, "call_0", False),
        (GOOGLE, "any.thing:0", True),
        (GOOGLE, "", False),
        (KIMI, "functions.ping:0", False),
    ],
)
def test_ids_are_in_the_targets_form(to: Target, given: str, stays: bool) -> None:
    found = sanitized(exchange(call(given)), to=to)
    accepts(found.context, to)
    assert (found.context.function_history[0].calls[0].id == given) == stays


def test_a_server_gets_its_own_ids_back() -> None:
    assert only(exchange(call("functions.ping:0"), by=KIMI), to=KIMI).calls[0].id == "functions.ping:0"
    assert only(exchange(call("functions.ping:0"), by=OPENAI), to=OPENAI).calls[0].id != "functions.ping:0"


@pytest.mark.parametrize("to", TARGETS[:-1])
def test_ids_that_repeat_or_would_look_alike_stay_apart(to: Target) -> None:
    history = (
        exchange(call("call_0"), call("call_0", "other")),
        exchange(call("call_0")),
        exchange(call("a" * 80 + "1"), call("a" * 80 + "2"), call("a.b"), call("a|b")),
    )
    accepts(sanitized(*history, to=to).context, to)


def test_ids_of_a_history_do_not_change_when_it_grows() -> None:
    history = [exchange(call("call|0"), call("call|0")), exchange(call("call|0"))]
    short = sanitized(*history, to=ANTHROPIC).context.function_history
    grown = sanitized(*history, exchange(call("call|0")), to=ANTHROPIC).context.function_history
    assert grown[:2] == short


def test_names_are_those_of_the_declaration() -> None:
    told = only(exchange(call(name="web.search")), to=OPENAI)
    assert told.calls[0].name == told.results[0].name == wire_name("web.search")


def test_arguments_that_were_cut_off_are_none_also_in_the_models_parts() -> None:
    cut = call(args={"q": "par"}, arguments_truncated=True, raw_arguments='{"q": "par')
    part = {"functionCall": {"id": "g", "name": "ping", "args": {"q": "par"}}, "thoughtSignature": "s"}
    found = sanitized(exchange(cut, by=GOOGLE, replay=(part,), results=()), to=GOOGLE)
    (told,) = found.context.function_history
    assert (told.calls[0].args, told.calls[0].raw_arguments, told.calls[0].arguments_truncated) == ({}, None, True)
    assert told.replay == ({"functionCall": {"id": "g", "name": "ping", "args": {}}, "thoughtSignature": "s"},)
    assert told.results[0].response == {
        "status": "tool_execution_failed",
        "tool_name": "ping",
        "reason": "The arguments of this call were cut off, so it was not run.",
    }
    assert [place for place, _ in messages(found)] == ["function_history[0].calls[0]", "function_history[0].calls[0]"]


def test_a_models_parts_that_are_not_its_calls_are_left_out() -> None:
    part = {"functionCall": {"name": "other", "args": {}}}
    assert only(exchange(call(), by=GOOGLE, replay=(part,)), to=GOOGLE).replay == ()
    assert only(exchange(call(), call("c2"), by=GOOGLE, replay=(part,)), to=GOOGLE).replay == ()


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    found = sanitized(exchange(call("a"), call("b"), results=(result("b", seen=2),)), to=OPENAI)
    first, second = found.context.function_history[0].results
    assert (first.call_id, first.response["status"]) == ("a", "tool_execution_failed")
    assert (second.call_id, second.response) == ("b", {"seen": 2})
    assert messages(found) == [("function_history[0].calls[0]", "the call has no result, so it gets one that says so")]


def test_results_are_in_the_calls_order() -> None:
    told = only(exchange(call("a"), call("b"), results=(result("b", n=2), result("a", n=1))), to=OPENAI)
    assert [(result.call_id, result.response["n"]) for result in told.results] == [("a", 1), ("b", 2)]


def test_a_result_finds_the_call_of_its_id_in_an_earlier_exchange() -> None:
    late = exchange(call("b"), results=(result("a", n=1), result("b", n=2)))
    first, second = sanitized(exchange(call("a"), results=()), late, to=OPENAI).context.function_history
    assert [result.response for result in (*first.results, *second.results)] == [{"n": 1}, {"n": 2}]


def test_a_result_with_an_unknown_id_belongs_to_the_call_of_its_name() -> None:
    told = only(exchange(call("a", "look"), call("b"), results=(result("x", n=2), result("y", "look", n=1))), to=OPENAI)
    assert [(result.call_id, result.response) for result in told.results] == [("a", {"n": 1}), ("b", {"n": 2})]


def test_a_result_of_no_call_is_told_beside_the_last_one() -> None:
    stray = FunctionResult(call_id="x", name="draw", response={"n": 9}, images=(PICTURE,), note="a cat")
    found = sanitized(exchange(call(), results=(result(n=1), stray)), to=ANTHROPIC)
    (told,) = found.context.function_history[0].results
    assert told.response == {"n": 1, WITHOUT_CALL: [{"tool_name": "draw", "response": {"n": 9}}]}
    assert (told.images, told.note) == ((PICTURE,), "a cat")
    assert messages(found) == [("function_history[0].results", "results of no call are told beside the last one: 1")]


@pytest.mark.parametrize(
    ("to", "tools", "enabled", "text"),
    [
        (TOOLLESS, (PING,), True, True),
        (ANTHROPIC, (), True, True),
        (ANTHROPIC, (PING,), False, True),
        (ANTHROPIC, (PING,), True, False),
        (OPENAI, (), True, False),
    ],
)
def test_calls_become_text_where_a_request_takes_none(
    to: Target, tools: tuple[Any, ...], enabled: bool, text: bool
) -> None:
    context = NeutralContext(
        items=(),
        tools=tools,
        function_history=(exchange(call()),),
        options=GenerationOptions(tools_enabled=enabled),
    )
    found = sanitize_messages_for_target(context, to)
    assert (found.context.function_history == ()) == text
    assert bool(found.context.items) == text


def test_calls_as_text_keep_what_was_said_called_answered_and_shown() -> None:
    seen = FunctionResult(call_id="b", name="draw", response={"ok": "é"}, images=(PICTURE,), note="drawn")
    found = sanitized(exchange(call("a"), call("b", "draw"), results=(result("a"), seen), text="wait,"), to=TOOLLESS)
    assert [
        (item.role, [part.text if isinstance(part, TextPart) else part for part in item.parts])
        for item in found.context.items
    ] == snapshot(
        [
            ("model", ["wait,"]),
            (
                "user",
                [
                    '[System: The tool ping was called with {"q":1} and answered {"ok":true}]',
                    '[System: The tool draw was called with {"q":1} and answered {"ok":"é"}]',
                    "drawn",
                    PICTURE,
                ],
            ),
        ]
    )
    assert messages(found) == [("function_history", "the calls are told as text, since the target takes none")]


@pytest.mark.parametrize(("text", "prefill"), [("wait,", None), (" ", "Ada:")])
def test_a_reply_that_began_before_its_calls_gets_no_prefill_when_they_become_text(
    text: str, prefill: str | None
) -> None:
    context = NeutralContext(
        items=(),
        function_history=(exchange(call("a"), results=(result("a"),), text=text),),
        options=GenerationOptions(prefill="Ada:"),
    )
    assert sanitize_messages_for_target(context, TOOLLESS).context.options.prefill == prefill


def test_a_context_without_calls_is_the_same_context() -> None:
    context = NeutralContext(items=(), tools=(PING,))
    assert sanitize_messages_for_target(context, TOOLLESS) == Sanitized(context)


@given(contexts, st.sampled_from(TARGETS))
def test_what_comes_out_is_accepted_and_stays_as_it_is(context: NeutralContext, to: Target) -> None:
    once = sanitize_messages_for_target(context, to)
    accepts(once.context, to)
    assert sanitize_messages_for_target(once.context, to) == Sanitized(once.context)


@given(contexts, st.lists(st.sampled_from(TARGETS[:-1]), min_size=1, max_size=4))
def test_nothing_that_was_seen_is_lost_however_often_a_history_moves(
    context: NeutralContext, path: list[Target]
) -> None:
    context = context.model_copy(update={"tools": (PING,)})
    moved = context
    for to in path:
        moved = sanitize_messages_for_target(moved, to).context
        accepts(moved, to)
    assert len(moved.function_history) == len(context.function_history)
    for before, after in zip(context.function_history, moved.function_history, strict=True):
        assert not before.text.strip() or after.text == before.text
        assert [wire_name(call.name) for call in before.calls] == [call.name for call in after.calls]
        assert [{} if call.arguments_truncated else call.args for call in before.calls] == [c.args for c in after.calls]
    told = json.dumps([result.model_dump() for one in moved.function_history for result in one.results])
    for given_result in (result for one in context.function_history for result in one.results):
        assert f'"answer": {given_result.response["answer"]}' in told
    assert _images(moved) == _images(context)


@given(contexts)
def test_nothing_that_was_seen_is_lost_where_calls_become_text(context: NeutralContext) -> None:
    moved = sanitize_messages_for_target(context, TOOLLESS).context
    parts = [part for item in moved.items for part in item.parts]
    told = "\n".join(part.text for part in parts if isinstance(part, TextPart))
    for one in context.function_history:
        assert one.text.strip() in told
        assert all(f"The tool {wire_name(call.name)} was called" in told for call in one.calls)
        assert all(f'"answer":{result.response["answer"]}' in told for result in one.results)
    assert sorted(part.name or "" for part in parts if isinstance(part, ImagePart)) == _images(context)


def _images(context: NeutralContext) -> list[str]:
    results = [result for one in context.function_history for result in one.results]
    return sorted(image.name or "" for result in results for image in result.images if isinstance(image, ImagePart))
