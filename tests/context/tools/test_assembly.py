"""Which tools a turn offers: model, provider, server, guild's own servers and the turn have a say."""

from typing import Any

import pytest

from schemas.context import ToolDeclaration
from services.catalog.target import ModelFacts, Target
from services.context.tools.assembly import MOST_TOOLS, OfferedTool, ToolConditions, assemble_tools
from services.context.tools.names import wire_name


def tool(name: str, **conditions: Any) -> OfferedTool:
    return OfferedTool(ToolDeclaration(name=name), **conditions)


def target(**facts: Any) -> Target:
    return Target("openai", "openai-chat", ModelFacts("m", **({"has_tools": True} | facts)))


PLAIN = ToolConditions()
MODEL = target()


def names(*offered: OfferedTool, conditions: ToolConditions = PLAIN, to: Target = MODEL) -> list[str]:
    return [tool.name for tool in assemble_tools(offered, conditions, to).tools]


@pytest.mark.parametrize(
    ("conditions", "to"),
    [
        (ToolConditions(enabled=False), target()),
        (ToolConditions(impersonation=True), target()),
        (ToolConditions(), target(has_tools=False)),
    ],
)
def test_a_turn_without_tools_offers_none(conditions: ToolConditions, to: Target) -> None:
    assert names(tool("a"), conditions=conditions, to=to) == []


def test_a_tool_is_only_for_its_providers() -> None:
    offered = (
        tool("a", providers=frozenset({"google"})),
        tool("b", providers=frozenset({"openai", "google"})),
        tool("c"),
    )
    assert names(*offered) == ["b", "c"]


def test_capabilities_are_compared_for_equality_so_a_tool_may_want_one_to_be_missing() -> None:
    offered = (tool("show", capabilities={"sees_images": True}), tool("describe", capabilities={"sees_images": False}))
    assert names(*offered, to=target(sees_images=True)) == ["show"]
    assert names(*offered, to=target(sees_images=False)) == ["describe"]


@pytest.mark.parametrize(
    ("capability", "fact"),
    [
        ("has_tools", "has_tools"),
        ("sees_images", "sees_images"),
        ("sees_videos", "sees_videos"),
        ("sees_youtube", "sees_youtube"),
        ("supports_structured_output", "supports_structured_output"),
    ],
)
def test_every_capability_is_read_from_the_models_facts(capability: str, fact: str) -> None:
    assert names(tool("a", capabilities={capability: True}), to=target(**{fact: True})) == ["a"]
    assert names(tool("a", capabilities={capability: False}), to=target(**{fact: True})) == []


def test_a_tool_needs_its_flags_and_what_it_works_with() -> None:
    draw = tool("draw", flags=frozenset({"image_generation"}), needs=frozenset({"image_model"}))
    flags, at_hand = frozenset({"image_generation", "web_search"}), frozenset({"image_model"})
    assert names(draw, conditions=ToolConditions(flags=flags, at_hand=at_hand)) == ["draw"]
    assert names(draw, conditions=ToolConditions(flags=flags)) == []
    assert names(draw, conditions=ToolConditions(at_hand=at_hand)) == []


def test_a_turn_may_have_used_a_tool_up() -> None:
    assert names(tool("a"), tool("b"), conditions=ToolConditions(disabled=frozenset({"a"}))) == ["b"]


def test_the_deliberate_mode_offers_what_is_allowed_alone() -> None:
    offered = (tool("a"), tool("b"))
    assert names(*offered, conditions=ToolConditions(allowlist=frozenset({"b", "unknown"}))) == ["b"]
    assert names(*offered, conditions=ToolConditions(allowlist=frozenset())) == []


def test_a_guilds_tool_replaces_the_built_in_ones_of_its_kind() -> None:
    built_in = (tool("web_search", kind="web_search"), tool("fetch_url", kind="url_fetcher"), tool("other"))
    guilds = tool("kagi", kind="web_search", from_guild=True)
    assert names(guilds, *built_in) == ["fetch_url", "other", "kagi"]
    # One that is not offered replaces nothing.
    assert names(guilds, *built_in, conditions=ToolConditions(disabled=frozenset({"kagi"})))[0] == "web_search"


def test_a_guilds_tool_cannot_take_a_built_in_ones_name_not_even_on_the_wire() -> None:
    offered = (tool("search", from_guild=True), tool(wire_name("a.b"), from_guild=True), tool("search"), tool("a.b"))
    assembled = assemble_tools(offered, ToolConditions(), target())
    assert [tool.name for tool in assembled.tools] == ["search", "a.b"]
    assert [(warning.code, warning.place) for warning in assembled.warnings] == [
        ("tools_dropped", "offered[0]"),
        ("tools_dropped", "offered[1]"),
    ]


def test_there_is_a_most_and_a_guilds_go_first() -> None:
    offered = [tool("guilds", from_guild=True), *(tool(f"t{number}") for number in range(MOST_TOOLS))]
    assembled = assemble_tools(offered, ToolConditions(), target())
    assert len(assembled.tools) == MOST_TOOLS
    assert [warning.place for warning in assembled.warnings] == ["offered[0]"]
