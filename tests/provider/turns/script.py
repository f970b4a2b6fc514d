"""What is said in every turn, whichever provider plays it: a question with a picture, thoughts, two calls, an answer."""

import base64
from collections.abc import Mapping
from typing import Any

from schemas.context import (
    FunctionResult,
    GenerationOptions,
    ImagePart,
    NeutralContext,
    StructuredContextItem,
    TextPart,
    ToolDeclaration,
)

USERS_PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGP8z8DAwMAAAAYIAQHLR3Z1AAAAAElFTkSuQmCC"
)
TOOLS_PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGNkYPjPwMAAAAQKAQHOAd3hAAAAAElFTkSuQmCC"
)
"""PNGs of two pixels; the first is red, the second blue."""

SYSTEM = "You are Odradek."
QUESTION = "What is on this picture? 猫?"
UNSEEN = '[System: An image ("cat.png") is not shown: this model takes no images.]'
THOUGHTS = ("A cat? ", "I should look “twice” — 猫.\n")
SAID = ("Let me ", "look. ")
ARGS = {"what": 'the café\n"3"', "zoom": 2}
ARGS_TEXT = '{"what": "the caf\\u00e9\\n\\"3\\"", "zoom": 2}'
ANSWER = ("It is a cat, ", "seen at noon. 猫です")
NOTE = "[System: This is what look saw.]"
SEEN = {"seen": "a cat 猫"}
TIME = {"time": "noon"}
SIGNATURE = "Ev4BCkYIBxgCKkC+/sig=="

BEGUN, REST = ANSWER
"""An answer that broke off, and how it goes on."""
THOUGHT, TEXT, REPLY = "".join(THOUGHTS), "".join(SAID), "".join(ANSWER)

LOOK = ToolDeclaration(
    name="look",
    description="Looks at something.",
    parameters={
        "type": "object",
        "properties": {"what": {"type": "string"}, "zoom": {"type": "integer"}},
        "required": ["what"],
    },
)
CLOCK = ToolDeclaration(name="clock", description="Tells the time.")


def item(role: Any, *parts: TextPart | ImagePart | str, tag: Any = "dialogue_history") -> StructuredContextItem:
    made = tuple(TextPart(text=part) if isinstance(part, str) else part for part in parts)
    return StructuredContextItem(role=role, parts=made, tag=tag)


def asked(picture: ImagePart, **options: Any) -> NeutralContext:
    """A short talk whose last message shows a picture, with both tools on offer and much thinking asked for."""
    return NeutralContext(
        items=(
            item("system", SYSTEM, tag="system_instruction_block"),
            item("user", "Ada: hello"),
            item("model", "Hello, Ada."),
            item("user", QUESTION, picture),
        ),
        tools=(LOOK, CLOCK),
        options=GenerationOptions(**{"thinking_level": "high", "temperature": 0.5} | options),
    )


def results(call_ids: Mapping[str, str], picture: ImagePart) -> tuple[FunctionResult, ...]:
    """What both tools answer, the later call's first; `call_ids` by the tools' names."""
    return (
        FunctionResult(call_id=call_ids["clock"], name="clock", response=TIME),
        FunctionResult(call_id=call_ids["look"], name="look", response=SEEN, images=(picture,), note=NOTE),
    )
