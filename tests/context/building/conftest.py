"""What the tests of the builder share: a channel's messages in short, and how the items made of them are read."""

from dataclasses import replace
from typing import Any

from schemas.context import ImagePart, StructuredContextItem, TextPart, VideoPart
from services.context.building.build import Built, build
from services.context.building.known import Asked, Scene
from services.context.building.messages import HistoryMessage

BOT = "42"
ADA, GRACE = "7", "8"


def said(number: int, content: str, author: str = GRACE, name: str = "Grace", **more: Any) -> HistoryMessage:
    return HistoryMessage(str(number), author, name, content, **more)


def scene(content: str = "and you?", **more: Any) -> Scene:
    """A scene in which Ada asks, by message 500."""
    asked = Asked("500", ADA, "Ada", content)
    known = {"bot_id": BOT, "bot_name": "Odradek", "asked": asked} | more
    return Scene(**known)


def asking(where: Scene, **more: Any) -> Scene:
    return replace(where, asked=replace(where.asked, **more))


def items(where: Scene, *history: HistoryMessage) -> tuple[StructuredContextItem, ...]:
    return made(where, *history).context.items


def made(where: Scene, *history: HistoryMessage) -> Built:
    return build(where, history)


def text(item: StructuredContextItem) -> str:
    return "\n".join(part.text for part in item.parts if isinstance(part, TextPart))


def lines(where: Scene, *history: HistoryMessage) -> list[tuple[str, str]]:
    """Role and text of each item."""
    return [(item.role, text(item)) for item in items(where, *history)]


def media(item: StructuredContextItem) -> list[ImagePart | VideoPart]:
    return [part for part in item.parts if isinstance(part, ImagePart | VideoPart)]
