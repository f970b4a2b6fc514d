"""Tools as a request offers them: names and schemas that the provider takes."""

from schemas.context import ToolDeclaration
from services.context.render import render
from tests.context.openai.conftest import context, target, warned

ODD = ToolDeclaration(name="memory.update", parameters={"type": "object", "properties": {"at": {"$ref": "#/nowhere"}}})


def test_names_are_those_of_the_wire_and_what_a_schema_loses_is_warned_of() -> None:
    for dialect in ("openai-chat", "openai-responses"):
        made = render(context(tools=(ODD,)), target("custom", "m", dialect))
        (tool,) = made.body["tools"]
        assert "." not in tool.get("function", tool)["name"]
        assert warned(made) == [("schema_rewritten", "tools[0].parameters")]
