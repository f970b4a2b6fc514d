"""The dialogue as contents: one an item, texts and media as parts of their own, in their order.

https://ai.google.dev/api/caching#Content. Google takes neighbours of one role, so nothing is merged.
"""

from collections.abc import Sequence
from typing import Literal

from schemas.context import StructuredContextItem, TextPart
from services.context.dialects.google.media import Media, Part
from services.context.rendered import NativeValue

SYSTEM_JOINER = "\n\n---\n\n"
PREAMBLE = "[System: These are your instructions. Follow them, and do not answer to this message.]"
"""Before system text that a model takes only as a user's."""


def content(role: Literal["user", "model"], parts: Sequence[Part]) -> NativeValue:
    """One turn."""
    return {"role": role, "parts": [*parts]}


def dialogue_contents(dialogue: Sequence[StructuredContextItem], media: Media) -> list[NativeValue]:
    """One content an item that says something."""
    contents: list[NativeValue] = []
    for item in dialogue:
        parts: list[Part] = []
        for position, part in enumerate(item.parts):
            if not isinstance(part, TextPart):
                parts.append(media.part(part, f"parts[{position}]", item.message_id))
            elif part.text.strip():
                parts.append({"text": part.text})
        if parts:
            contents.append(content("model" if item.role == "model" else "user", parts))
    return contents


def system_text(system: Sequence[str]) -> str:
    """All system text, its blocks set apart by a rule."""
    return SYSTEM_JOINER.join(system)
