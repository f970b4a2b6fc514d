"""Models that write their calls as text: told so in the prompt and only there, and read as they were told to write."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from pydantic import SecretStr

from schemas.attempts import Chosen
from schemas.context import GenerationOptions
from schemas.generations import GenerationRequested
from schemas.inbox import Author
from schemas.prompts import ContextRead, KnownTool
from services.catalog.catalog import Catalog, open_catalog
from services.catalog.choices import choose_model, set_policy
from services.catalog.endpoint import Endpoint
from services.catalog.endpoints import save_endpoint
from services.catalog.keys import save_key
from services.catalog.owners import Server
from services.catalog.tables import Llm
from services.catalog.target import Target
from services.context.failures import ContextTooLong
from services.context.models import CatalogModels, Route
from services.context.prompting import prompt
from services.context.render import render
from services.runtime.clock import SystemClock
from services.runtime.settings import Settings
from tests.context.native.making import GLM, WEATHER, exchange, user
from tests.context.native.making import context as native
from tests.context.native.strategies import patient
from tests.context.openai.conftest import LOOK, PNG, answered, called, context, target, warned
from tests.context.openai.conftest import exchange as looked
from tests.context.reading import reply_to

WRITES = target(verbatim_tool_calling=True)
READ = ContextRead(messages=("500",), digest="0" * 64, references={})
ASKED = GenerationRequested(
    channel_id="900",
    guild_id="800",
    turn="m500",
    generation=1,
    message_id="500",
    author=Author(id="7", name="Ada"),
    content="look",
    deadline_ms=600_000,
)


def test_the_prompt_tells_of_the_tools_and_says_calls_as_the_model_writes_them() -> None:
    history = (looked(text="I look.", results=(answered(images=(PNG,)),)),)
    made: Any = render(context(tools=(LOOK,), function_history=history), WRITES)
    first, *_, said, answer = made.body["messages"]
    assert first["content"] == snapshot("""\
Be brief.

# Tools

You can call these functions, one a line with its parameters as a JSON Schema:
<tools>
{"name":"look","description":"Looks at something.","parameters":{"type":"object","properties":{"what":{"type":"string"}},"required":["what"]}}
</tools>

To call one, end your reply with its name, and its arguments as one JSON object in parentheses:
name({"key": "value"})
You get the result in the next message. Whatever you write in this form is run.\
""")  # noqa: E501
    assert said == snapshot(
        {
            "role": "assistant",
            "content": """\
I look.
look({"what":"the café"})\
""",
        }
    )
    assert answer == snapshot(
        {
            "role": "user",
            "content": [
                {"type": "text", "text": '[System: The tool look answered {"seen":"a cat"}]'},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
            ],
        }
    )
    assert made.known_tools == (KnownTool(name="look", texts={"what": ()}),)
    assert "tools" in made.body
    assert warned(made) == [("history_sanitized", "function_history")]


@pytest.mark.parametrize(
    ("to", "options"),
    [
        (target(), {}),
        (target(has_tools=False, verbatim_tool_calling=True), {}),
        (target("openrouter", verbatim_tool_calling=True), {}),
        (target(dialect="openai-responses", verbatim_tool_calling=True), {}),
        (target(dialect="anthropic", verbatim_tool_calling=True), {}),
        (WRITES, {"tools_enabled": False}),
    ],
)
def test_no_other_attempt_has_any_of_it(to: Target, options: dict[str, Any]) -> None:
    said = context(tools=(LOOK,), options=options)
    off = replace(to, model=replace(to.model, verbatim_tool_calling=False))
    assert render(said, to) == render(said, off)
    assert render(said, to).known_tools == ()


def test_without_tools_there_is_nothing_to_tell() -> None:
    assert render(context(), WRITES) == render(context(), target())


def test_what_the_prompt_tells_of_tools_counts_where_the_window_is_known() -> None:
    said = context(tools=(LOOK.model_copy(update={"description": "x" * 4000}),), options={"max_output_tokens": 100})
    assert render(said, target(num_ctx=1600)).body["messages"]
    with pytest.raises(ContextTooLong):
        render(said, replace(WRITES, num_ctx=1600))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.sampled_from(['look({"a":1})', "`)", "```"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.dictionaries(st.text(max_size=4), JSON, max_size=3)


@patient
@given(st.lists(ARGUMENTS, min_size=1, max_size=3), st.integers(1, 30))
def test_calls_that_the_prompt_says_again_are_read_as_the_same_calls(called_with: list[Any], size: int) -> None:
    calls = tuple(called(f"c{index}", args=args) for index, args in enumerate(called_with))
    results = tuple(answered(call.id) for call in calls)
    history = (looked(text="I look.", calls=calls, results=results),)
    made: Any = render(context(tools=(LOOK,), function_history=history), WRITES)
    (text,) = [one["content"] for one in made.body["messages"] if one["content"].startswith("I look.")]
    reply = reply_to(made, "openai-chat", "custom:2", [text[at : at + size] for at in range(0, len(text), size)])
    assert [(call.name, call.args) for call in reply.calls] == [("look", args) for args in called_with]
    assert (reply.text.strip(), reply.error) == ("I look.", None)


@pytest.fixture
async def catalog(tmp_path: Path) -> AsyncIterator[Catalog]:
    settings = Settings(
        database_url=SecretStr(f"sqlite:///{tmp_path}/catalog.db"), crypto_secrets={1: SecretStr("s" * 32)}
    )
    async with open_catalog(settings) as opened:
        yield opened


async def routed(catalog: Catalog, *, model: bool, server: bool) -> Route:
    """The endpoint of a server whose model, or whose every model, is said to write calls as text."""
    endpoint = Endpoint(
        "home", "http://localhost:1", "m", requires_auth=False, has_tools=True, verbatim_tool_calling=model
    )
    async with catalog.database.writing() as session:
        saved = await save_endpoint(session, Server("800"), endpoint)
        await save_key(session, catalog.keyring, Server("800"), saved.provider, None)
        await choose_model(session, Server("800"), await session.get_one(Llm, saved.llm_id))
        await set_policy(session, Server("800"), verbatim_tool_calling=server)
    route = await CatalogModels(catalog, SystemClock(), Settings()).ask(ASKED)
    assert route is not None
    return route


@pytest.mark.parametrize(("model", "server"), [(True, False), (False, True)])
async def test_a_flag_in_the_catalog_makes_a_written_call_a_call(catalog: Catalog, model: bool, server: bool) -> None:
    route = await routed(catalog, model=model, server=server)
    made = prompt(ASKED, context(tools=(LOOK,)), route, READ)
    assert made.verbatim_tools == (KnownTool(name="look", texts={"what": ()}),)
    rendered = render(context(tools=(LOOK,)), route.target)
    reply = reply_to(rendered, made.dialect, made.provider, ["I see: lo", 'ok({"what": "a (cat)"', "}) "])
    assert [(call.name, call.args) for call in reply.calls] == [("look", {"what": "a (cat)"})]
    assert (reply.text.strip(), reply.error) == ("I see:", None)


async def test_without_the_flag_such_a_text_stays_text(catalog: Catalog) -> None:
    route = await routed(catalog, model=False, server=False)
    made = prompt(ASKED, context(tools=(LOOK,)), route, READ)
    assert made.verbatim_tools == ()
    reply = reply_to(render(context(tools=(LOOK,)), route.target), made.dialect, made.provider, ["look({})"])
    assert (reply.text, reply.calls) == ("look({})", [])


def test_a_prompt_for_glm_says_which_of_its_calls_are_looked_for() -> None:
    chosen = Chosen(provider="novelai", model="glm-4-6", credential="k")
    said = native(user("grace: hello"), tools=(WEATHER,), function_history=(exchange(("weather", {}, {})),))
    made = prompt(ASKED, said, Route(chosen, GLM, "bearer", GenerationOptions()), READ)
    assert made.verbatim_tools == (KnownTool(name="weather", texts={"city": ()}),)
