"""Short ways to say a context and a target in the tests of native dialects."""

from dataclasses import replace
from typing import Any

from schemas.chunks import FunctionCall
from schemas.context import (
    BlobRef,
    ContextPart,
    ContextTag,
    FunctionExchange,
    FunctionResult,
    ImagePart,
    InlineData,
    NeutralContext,
    Origin,
    StructuredContextItem,
    TextPart,
    ToolDeclaration,
)
from services.catalog.target import ModelFacts, Target

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNgYGAAAAAEAAH2FzhVAAAAAElFTkSuQmCC"
"""A PNG of one pixel, whose base64 is the same in both alphabets."""

KEY = "ab" * 32
"""Names a blob."""

CLAUDE = Target(
    "anthropic",
    "anthropic",
    ModelFacts("claude-haiku-4-5", has_tools=True, sees_images=True, strict_role_alternation=True),
)
GEMINI = Target(
    "google",
    "google",
    ModelFacts("gemini-2.5-flash", has_tools=True, sees_images=True, sees_videos=True, sees_youtube=True),
)
GLM = Target("novelai", "novelai", ModelFacts("glm-4-6", has_tools=True))
KAYRA = Target("novelai", "novelai", ModelFacts("kayra-v1"))

WEATHER = ToolDeclaration(
    name="weather",
    description="Say the weather.",
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def model(target: Target, codename: str, **facts: Any) -> Target:
    """The target with another model."""
    return replace(target, model=replace(target.model, codename=codename, **facts))


def text(value: str) -> TextPart:
    return TextPart(text=value)


def image(name: str | None = None, mime_type: str = "image/png", data: str = PIXEL) -> ImagePart:
    return ImagePart(mime_type=mime_type, name=name, inline_data=InlineData(mime_type=mime_type, data=data))


def blob(size: int, mime_type: str = "image/png", name: str | None = None) -> ImagePart:
    return ImagePart(mime_type=mime_type, name=name, blob=BlobRef(key=KEY, size=size))


def user(
    *parts: ContextPart | str, tag: ContextTag | None = "dialogue_history", **fields: Any
) -> StructuredContextItem:
    return _item("user", parts, tag, fields)


def bot(*parts: ContextPart | str, tag: ContextTag | None = "dialogue_history", **fields: Any) -> StructuredContextItem:
    return _item("model", parts, tag, fields)


def system(*parts: str) -> StructuredContextItem:
    return _item("system", parts, "system_instruction_block", {})


def _item(role: Any, parts: Any, tag: ContextTag | None, fields: dict[str, Any]) -> StructuredContextItem:
    made = tuple(text(part) if isinstance(part, str) else part for part in parts)
    return StructuredContextItem(role=role, parts=made, tag=tag, **fields)


def exchange(
    *called: tuple[str, dict[str, Any], dict[str, Any]],
    said: str = "",
    ids: tuple[str, ...] = (),
    images: tuple[Any, ...] = (),
    note: str | None = None,
    replay: tuple[dict[str, Any], ...] = (),
    origin: Origin | None = None,
    signature: str | None = None,
) -> FunctionExchange:
    """Calls with their arguments and responses; images and note belong to the first result."""
    names = ids or tuple(f"call_{index}" for index in range(len(called)))
    return FunctionExchange(
        text=said,
        calls=tuple(
            FunctionCall(id=name, name=tool, args=args, thought_signature=signature if index == 0 else None)
            for index, (name, (tool, args, _)) in enumerate(zip(names, called, strict=True))
        ),
        results=tuple(
            FunctionResult(
                call_id=name,
                name=tool,
                response=response,
                images=images if index == 0 else (),
                note=note if index == 0 else None,
            )
            for index, (name, (tool, _, response)) in enumerate(zip(names, called, strict=True))
        ),
        replay=replay,
        origin=origin,
    )


def context(*items: StructuredContextItem, **fields: Any) -> NeutralContext:
    return NeutralContext(items=items, **fields)
