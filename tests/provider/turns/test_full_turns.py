"""A full turn on each provider, over real HTTP: text, pictures, thoughts, and a tool exchange there and back."""

from typing import Any

import pytest

from schemas.chunks import FunctionCall
from schemas.context import FunctionExchange, Origin, TextPart
from schemas.exchanges import exchange_of
from services.context.render import render
from tests.provider.turns import script
from tests.provider.turns.rows import NVIDIA_WITHOUT_TOOLS, ROWS
from tests.provider.turns.script import asked, results


@pytest.mark.parametrize("name", ROWS)
async def test_a_turn_with_pictures_thoughts_and_tools_goes_there_and_back(
    name: str, stage_of: Any, pictures: Any
) -> None:
    row = ROWS[name]
    stage = await stage_of(row)
    context = asked(pictures.users)

    first = await stage.ask(context)
    assert first.reply.error is None
    assert (first.reply.text, first.reply.thinking) == (row.text, row.thoughts)
    assert [(call.name, call.args) for call in first.reply.calls] == [("look", script.ARGS), ("clock", {})]
    assert first.reply.metadata.finish_reason == "tool_calls"
    told = exchange_of(
        first.chunks, results({call.name: call.id for call in first.reply.calls}, pictures.tools), row.origin
    )

    second = await stage.ask(context.model_copy(update={"function_history": (told,)}))
    assert second.reply.error is None
    assert (second.reply.text, second.reply.thinking, second.reply.calls) == (script.REPLY, "", [])
    assert second.reply.metadata.finish_reason == "stop"
    for heard in (first, second):
        usage = heard.reply.usage
        assert (usage and (usage.input_tokens, usage.output_tokens)) == ((90, 30) if row.counts else None)


@pytest.mark.parametrize("name", ROWS)
async def test_a_reply_to_tools_that_broke_off_is_gone_on_with_after_what_had_come(
    name: str, stage_of: Any, pictures: Any
) -> None:
    row = ROWS[name]
    stage = await stage_of(row)
    context = asked(pictures.users)
    first = await stage.ask(context)
    ids = {call.name: call.id for call in first.reply.calls}
    told = exchange_of(first.chunks, results(ids, pictures.tools), row.origin)
    come = {"function_history": (told,), "current_turn_model_parts": (TextPart(text=script.BEGUN),)}
    last = await stage.ask(context.model_copy(update=come))
    assert (last.reply.text, last.reply.error) == (script.REST, None)


def elsewhere(pictures: Any) -> FunctionExchange:
    """An exchange with the provider that was asked before this one, and with its thoughts."""
    ids = {"look": "toolu_1", "clock": "toolu_2"}
    return FunctionExchange(
        text=script.TEXT,
        calls=(
            FunctionCall(id="toolu_1", name="look", args=script.ARGS, thought_signature=script.SIGNATURE),
            FunctionCall(id="toolu_2", name="clock", args={}),
        ),
        results=results(ids, pictures.tools),
        replay=({"type": "thinking", "thinking": script.THOUGHT, "signature": script.SIGNATURE},),
        origin=Origin(provider="anthropic", dialect="anthropic", model="claude-opus-4-7"),
    )


async def test_a_provider_without_tools_of_its_own_is_told_of_the_calls_in_text(stage_of: Any, pictures: Any) -> None:
    row = NVIDIA_WITHOUT_TOOLS
    stage = await stage_of(row)
    context = asked(pictures.users)

    first = await stage.ask(context)
    assert (first.reply.text, first.reply.thinking, first.reply.calls) == (script.TEXT, row.thoughts, [])
    assert first.reply.metadata.finish_reason == "stop"
    assert exchange_of(first.chunks, (), row.origin) is None

    second = await stage.ask(context.model_copy(update={"function_history": (elsewhere(pictures),)}))
    assert (second.reply.text, second.reply.error) == (script.REPLY, None)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (ROWS["deepseek"], ["image_unsupported items[3].parts[1]"]),
        (ROWS["novelai"], ["image_unsupported items[3].parts[1]"]),
        (NVIDIA_WITHOUT_TOOLS, ["tools_dropped tools"]),
    ],
    ids=["deepseek", "novelai", "nvidia"],
)
def test_what_a_provider_cannot_be_told_is_warned_of(row: Any, told: list[str], pictures: Any) -> None:
    warnings = render(asked(pictures.users, temperature=None), row.target).warnings
    assert [f"{warning.code} {warning.place}" for warning in warnings] == told
