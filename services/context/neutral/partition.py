"""System text and dialogue: which of a context's items tell the model what it is, and which are the conversation."""

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.context import ContextTag, StructuredContextItem, TextPart

SYSTEM_TAGS: frozenset[ContextTag] = frozenset(
    {
        "system_humanizer_rules",
        "system_personality",
        "knowledge_server_info",
        "knowledge_server_emojis",
        "knowledge_server_stickers",
        "knowledge_server_memories",
    }
)
"""A user's item with one of these is system text; with any other it is dialogue, where it stands."""


@dataclass(frozen=True, slots=True)
class Partitioned:
    """`system`: one text an item, to be joined as the provider likes it. `dialogue`: users' and the model's items."""

    system: tuple[str, ...]
    dialogue: tuple[StructuredContextItem, ...]


def partition(items: Iterable[StructuredContextItem]) -> Partitioned:
    """Both halves, each in the order of `items`; items that say nothing are left out.

    The text parts of a system item are joined by a newline. Media in one are shown as a user's, since no provider takes
    them as system text.
    """
    system: list[str] = []
    dialogue: list[StructuredContextItem] = []
    for item in items:
        if not is_system(item):
            if any(not isinstance(part, TextPart) or part.text.strip() for part in item.parts):
                dialogue.append(item)
            continue
        text = "\n".join(part.text for part in item.parts if isinstance(part, TextPart) and part.text)
        if text.strip():
            system.append(text)
        if media := tuple(part for part in item.parts if not isinstance(part, TextPart)):
            dialogue.append(item.model_copy(update={"role": "user", "tag": None, "parts": media}))
    return Partitioned(tuple(system), tuple(dialogue))


def is_system(item: StructuredContextItem) -> bool:
    """Whether an item is told as system text."""
    return item.role == "system" or (item.role == "user" and item.tag in SYSTEM_TAGS)
