"""Tools in each dialect's words, which the provider's own SDK takes."""

from typing import Any, get_args

import pytest
from anthropic.types import ToolParam
from google.genai import types as google
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from openai.types.chat import ChatCompletionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter

from schemas.chunks import Dialect
from schemas.context import ToolDeclaration
from services.context.tools.declaring import declare
from services.context.tools.keywords import Schema
from tests.context.tools.conftest import is_finite, roots

SEARCH = ToolDeclaration(
    name="web.search",
    description="Looks things up.",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": ["integer", "null"]}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
PING = ToolDeclaration(name="ping")


def accepted(native: list[Schema], dialect: Dialect) -> None:
    """The SDK's own type of a tool takes it."""
    match dialect:
        case "openai-chat":
            TypeAdapter(list[ChatCompletionToolParam]).validate_python(native)
        case "openai-responses":
            TypeAdapter(list[FunctionToolParam]).validate_python(native)
        case "anthropic":
            TypeAdapter(list[ToolParam]).validate_python(native)
        case "google":
            read = TypeAdapter(list[google.Tool]).validate_python(native)
            assert [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in read] == native
        case "novelai":
            assert all({"name", "parameters"} <= set(tool) for tool in native)


@pytest.mark.parametrize("dialect", get_args(Dialect))
def test_no_tools_are_no_declaration(dialect: Dialect) -> None:
    assert declare([], dialect) == ([], ())


def test_chat_completions_take_a_function() -> None:
    declared = declare([SEARCH, PING], "openai-chat")
    accepted(declared.native, "openai-chat")
    assert declared.warnings == ()
    assert declared.native == snapshot(
        [
            {
                "type": "function",
                "function": {
                    "name": "web_search_15f83c80",
                    "description": "Looks things up.",
                    "parameters": {
                        "type": "object",
                        "properties": {"query": {"type": "string"}, "limit": {"type": ["integer", "null"]}},
                        "additionalProperties": False,
                        "required": ["query"],
                    },
                },
            },
            {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}},
        ]
    )


def test_responses_take_it_flat_and_not_strict() -> None:
    declared = declare([PING], "openai-responses")
    accepted(declared.native, "openai-responses")
    assert declared.native == [
        {"type": "function", "name": "ping", "parameters": {"type": "object", "properties": {}}, "strict": False}
    ]


def test_anthropic_takes_an_input_schema() -> None:
    declared = declare([SEARCH], "anthropic")
    accepted(declared.native, "anthropic")
    assert list(declared.native[0]) == ["name", "description", "input_schema"]


def test_google_takes_one_list_of_functions_and_no_empty_object() -> None:
    declared = declare([SEARCH, PING], "google")
    accepted(declared.native, "google")
    assert declared.native == snapshot(
        [
            {
                "functionDeclarations": [
                    {
                        "name": "web_search_15f83c80",
                        "description": "Looks things up.",
                        "parameters": {
                            "type": "OBJECT",
                            "properties": {
                                "query": {"type": "STRING"},
                                "limit": {"type": "INTEGER", "nullable": True},
                            },
                            "required": ["query"],
                        },
                    },
                    {"name": "ping"},
                ]
            }
        ]
    )


def test_what_was_lost_is_told_once_a_tool_and_names_no_words_of_the_tool() -> None:
    odd = ToolDeclaration(
        name="odd",
        description="secret " * 1000,
        parameters={"properties": {"a": {"x-secret": 1, "not": {"type": "string"}, "minLength": "secret"}}},
    )
    told = declare([PING, odd, odd], "google").warnings
    assert [(warning.code, warning.place) for warning in told] == [
        ("schema_rewritten", "tools[1].parameters"),
        ("schema_rewritten", "tools[1].description"),
        ("tools_dropped", "tools[2]"),
    ]
    assert told[0].message == (
        "the provider does not take all of the schema; left out or rewritten: "
        "unknown keywords, minLength, a missing type, not"
    )
    assert not any("secret" in warning.message for warning in told)


@given(st.lists(roots.filter(is_finite), min_size=1, max_size=3), st.sampled_from(get_args(Dialect)))
def test_whatever_a_tool_says_the_sdk_takes_it(schemas: list[Any], dialect: Dialect) -> None:
    tools = [ToolDeclaration(name=f"t{index}", parameters=schema) for index, schema in enumerate(schemas)]
    accepted(declare(tools, dialect).native, dialect)
