"""Contexts of every shape, for properties that hold of any."""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from schemas.chunks import FunctionCall
from schemas.context import (
    FunctionExchange,
    FunctionResult,
    GenerationOptions,
    NeutralContext,
    OmittedPart,
    Origin,
    StructuredContextItem,
    TextPart,
    VideoPart,
)
from tests.context.native.making import WEATHER, blob, image

patient = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For properties on a machine that has other work."""

words = st.text(alphabet="abcdefghij \n<|>[]é", max_size=12)
texts = st.builds(TextPart, text=words)
images = st.sampled_from([image(), image("cat.png"), blob(10, "image/jpeg"), blob(10, "image/gif")])
media = st.one_of(
    images,
    st.just(OmittedPart(medium="image", index=0, stage="download", reason="gone", status=404)),
    st.just(VideoPart(name="clip.mp4")),
)
tags = st.sampled_from(["dialogue_history", "dialogue_sample", "context_note_injection", "knowledge_server_info", None])


def _items(role: str, parts: st.SearchStrategy[object]) -> st.SearchStrategy[StructuredContextItem]:
    return st.builds(
        StructuredContextItem,
        role=st.just(role),
        parts=st.lists(parts, max_size=3).map(tuple),
        tag=tags,
        message_id=st.sampled_from([None, "1", "2"]),
    )


items = st.one_of(_items("user", st.one_of(texts, media)), _items("model", texts), _items("system", texts))


@st.composite
def exchanges(draw: st.DrawFn) -> FunctionExchange:
    """Up to three calls, results for some of them, and what a model of any provider left to replay."""
    ids = draw(st.lists(st.sampled_from(["call_0", "call_1", "toolu_9", "fc|1", ""]), min_size=1, max_size=3))
    answered = draw(st.lists(st.booleans(), min_size=len(ids), max_size=len(ids)))
    origin = draw(
        st.sampled_from(
            [
                None,
                Origin(provider="anthropic", dialect="anthropic", model="claude-sonnet-4-6"),
                Origin(provider="google", dialect="google", model="gemini-3-flash-preview"),
            ]
        )
    )
    replay = draw(
        st.sampled_from(
            [
                (),
                ({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},),
                ({"functionCall": {"id": "x", "name": "weather", "args": {}}, "thoughtSignature": "c2ln"},),
            ]
        )
    )
    return FunctionExchange(
        text=draw(words),
        calls=tuple(FunctionCall(id=name, name="weather", args={"city": draw(words)}) for name in ids),
        results=tuple(
            FunctionResult(
                call_id=name,
                name="weather",
                response={"result": draw(words)},
                images=tuple(draw(st.lists(images, max_size=2))),
                note=draw(st.one_of(st.none(), words)),
            )
            for name, is_answered in zip(ids, answered, strict=True)
            if is_answered
        ),
        replay=replay,
        origin=origin,
    )


contexts = st.builds(
    NeutralContext,
    items=st.lists(items, max_size=8).map(tuple),
    tools=st.sampled_from([(), (WEATHER,)]),
    function_history=st.lists(exchanges(), max_size=3).map(tuple),
    current_turn_model_parts=st.lists(texts, max_size=2).map(tuple),
    options=st.builds(
        GenerationOptions,
        prefill=st.one_of(st.none(), words),
        tools_enabled=st.booleans(),
        thinking_level=st.sampled_from(["auto", "none", "low"]),
        temperature=st.one_of(st.none(), st.floats(0, 2)),
        top_p=st.one_of(st.none(), st.floats(0, 1)),
        stop_strings=st.lists(words, max_size=7).map(tuple),
        persona_name=st.one_of(st.none(), words),
        speaker_stop=st.booleans(),
    ),
)


def said_texts(context: NeutralContext) -> list[str]:
    """All texts of dialogue, of tool turns and of the reply so far, in their order, without the blank ones."""
    out = [
        part.text
        for item in context.items
        if item.role != "system" and not (item.role == "user" and item.tag == "knowledge_server_info")
        for part in item.parts
        if isinstance(part, TextPart)
    ]
    out += [exchange.text for exchange in context.function_history]
    said = [part.text for part in context.current_turn_model_parts]
    return [text for text in [*out, *said] if text.strip()]


def stand_in_order(texts: list[str], prose: str) -> bool:
    """Whether the texts stand in the prose, one behind the other."""
    position = 0
    for text in texts:
        found = prose.find(text.strip(), position)
        if found < 0:
            return False
        position = found + len(text.strip())
    return True
