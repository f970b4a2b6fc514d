"""What the tests of sanitizing share: targets of every kind, histories of every shape, and what a target accepts."""

import re
from typing import Any

from hypothesis import strategies as st

from schemas.chunks import Dialect, FunctionCall
from schemas.context import FunctionExchange, FunctionResult, ImagePart, NeutralContext, Origin, ToolDeclaration
from services.catalog.target import ModelFacts, ProviderName, Target


def target(provider: ProviderName, dialect: Dialect, codename: str = "m", **facts: Any) -> Target:
    return Target(provider, dialect, ModelFacts(codename, **({"has_tools": True} | facts)))


def origin_of(model: Target, codename: str | None = None) -> Origin:
    return Origin(provider=model.provider, dialect=model.dialect, model=codename or model.model.codename)


ANTHROPIC = target("anthropic", "anthropic", "claude-sonnet-4-6")
GOOGLE = target("google", "google", "gemini-3-pro")
RESPONSES = target("openai", "openai-responses", "gpt-5.1")
OPENAI = target("openai", "openai-chat", "gpt-5.1")
OPENROUTER = target("openrouter", "openai-chat", "google/gemini-3-pro")
MISTRAL = target("openrouter", "openai-chat", "mistralai/devstral-medium")
DEEPSEEK = target("deepseek", "openai-chat", "deepseek-v4-flash")
KIMI = target("custom", "openai-chat", "kimi-k2")
NOVELAI = target("novelai", "novelai", "glm-4-6")
TOOLLESS = target("custom", "openai-chat", "small", has_tools=False)
TARGETS = (ANTHROPIC, GOOGLE, RESPONSES, OPENAI, OPENROUTER, MISTRAL, DEEPSEEK, KIMI, NOVELAI, TOOLLESS)

PING = ToolDeclaration(name="ping")

SIGNED = {"type": "thinking", "thinking": "hm", "signature": "sig"}
PARTS: tuple[dict[str, Any], ...] = (
    SIGNED,
    {"type": "thinking", "thinking": "cut off", "signature": ""},
    {"type": "redacted_thinking", "data": "opaque"},
    {"type": "reasoning_content", "reasoning_content": "plainly"},
    {"type": "reasoning.text", "text": "detail", "signature": "s"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"},
    {"text": "thought", "thought": True},
    {"text": "seen", "thoughtSignature": "s"},
    {"functionCall": {"name": "ping", "args": {}}, "thoughtSignature": "s"},
    {"functionCall": {"id": "g1", "name": "web.search", "args": {"q": "x"}}},
    {"type": 7, "functionCall": "odd"},
)

_ids = st.sampled_from(
    ["", "call_0", "call_1", "toolu_x", "functions.ping:0", "a" * 41, "b" * 65, "é", "AbCdEfGh1", "call|fc"]
)
_names = st.sampled_from(["ping", "web.search", "x" * 70])
_calls = st.builds(
    FunctionCall,
    id=_ids,
    name=_names,
    args=st.sampled_from([{}, {"q": "x"}]),
    arguments_truncated=st.booleans(),
    raw_arguments=st.none() | st.just('{"q": "x'),
    thought_signature=st.none() | st.just("sig"),
)
_results = st.builds(
    FunctionResult,
    call_id=_ids,
    name=_names,
    response=st.integers().map(lambda number: {"answer": number}),
    images=st.lists(
        st.builds(ImagePart, mime_type=st.just("image/png"), name=st.text("xyz", max_size=3)), max_size=2
    ).map(tuple),
    note=st.none() | st.text("nm", max_size=3),
)
_origins = st.none() | st.sampled_from(TARGETS).flatmap(
    lambda model: st.sampled_from([origin_of(model), origin_of(model, "another")])
)
histories = st.lists(
    st.builds(
        FunctionExchange,
        text=st.sampled_from(["", " ", "wait,", "looking"]),
        calls=st.lists(_calls, min_size=1, max_size=3).map(tuple),
        results=st.lists(_results, max_size=3).map(tuple),
        replay=st.lists(st.sampled_from(PARTS), max_size=4).map(tuple),
        origin=_origins,
    ),
    max_size=4,
)
contexts = st.builds(
    NeutralContext,
    items=st.just(()),
    tools=st.sampled_from([(), (PING,)]),
    function_history=histories.map(tuple),
)

_FORMS = {
    "anthropic": r"[A-Za-z0-9_-]{1,64}",
    "openai-responses": r"[A-Za-z0-9_-]{1,64}",
    "openai-chat": r"[!-~]{1,64}",
    "google": r".{1,64}",
    "novelai": r".{1,64}",
}


def accepts(context: NeutralContext, model: Target) -> None:
    """What the target's API demands of calls in a request."""
    history = context.function_history
    if not model.model.has_tools or (model.dialect == "anthropic" and not context.tools):
        assert history == ()
    form = r"[A-Za-z0-9]{9}" if model is MISTRAL else _FORMS[model.dialect]
    ids = [call.id for exchange in history for call in exchange.calls]
    assert len(set(ids)) == len(ids)
    for exchange in history:
        assert [result.call_id for result in exchange.results] == [call.id for call in exchange.calls]
        assert [result.name for result in exchange.results] == [call.name for call in exchange.calls]
        own = exchange.origin == origin_of(model)
        for call in exchange.calls:
            assert re.fullmatch(form, call.id)
            assert model is not OPENAI or len(call.id) <= 40
            assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", call.name)
            assert own or call.thought_signature is None
            assert not (call.arguments_truncated and (call.args or call.raw_arguments))
        for part in exchange.replay:
            _is_readable(part, exchange, model, own=own)


def _is_readable(part: dict[str, Any], exchange: FunctionExchange, model: Target, *, own: bool) -> None:
    match model.dialect:
        case "anthropic":
            assert exchange.origin is not None
            assert exchange.origin.provider == "anthropic"
            assert part.get("signature") or part.get("data")
        case "openai-chat":
            assert own or (model is DEEPSEEK and part["type"] == "reasoning_content")
        case _:
            assert own
