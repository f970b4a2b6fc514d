"""What of a context NovelAI's models are told: text alone, without the lists of emoji and stickers that only cost room."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from schemas.context import ContextTag, NeutralContext, StructuredContextItem
from services.context.dialects.opening import is_continued, reply_opening
from services.context.dialects.shown import Eyes, Notes, item_pieces
from services.context.neutral.partition import Partitioned, partition

EXCLUDED: frozenset[ContextTag] = frozenset({"knowledge_server_emojis", "knowledge_server_stickers"})

_BLIND = Eyes(images=False)


@dataclass(frozen=True, slots=True)
class Said:
    """One thing said; `is_sample` tells examples from what really was."""

    role: Literal["user", "model"]
    text: str
    is_sample: bool = False


def told(items: Iterable[StructuredContextItem]) -> Partitioned:
    """The items that count, system text apart from dialogue."""
    return partition(item for item in items if item.tag not in EXCLUDED)


def said(dialogue: Iterable[StructuredContextItem], notes: Notes) -> list[Said]:
    """The dialogue in its order. Media are told of, not shown."""
    out: list[Said] = []
    for item in dialogue:
        text = "\n".join(piece for piece in item_pieces(item, _BLIND, notes) if isinstance(piece, str))
        if text:
            role = "model" if item.role == "model" else "user"
            out.append(Said(role, text, is_sample=item.tag == "dialogue_sample"))
    return out


def begun(
    context: NeutralContext, dialogue: Sequence[StructuredContextItem], spoken: list[Said]
) -> tuple[list[Said], str]:
    """What was said before the reply, and how the reply begins; a dialogue may end with that already."""
    opening = reply_opening(context, dialogue)
    if not opening and spoken and is_continued(context, dialogue):
        return spoken[:-1], spoken[-1].text
    return spoken, opening
