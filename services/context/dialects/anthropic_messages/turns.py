"""Turns of a conversation as Anthropic wants them: they alternate, a user's comes first, and no block is empty.

https://platform.claude.com/docs/en/api/messages. "Strict chat-completion compatibility" has the rules of merging.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from schemas.context import ImagePart, OmittedPart, StructuredContextItem, TextPart, VideoPart
from services.context.dialects.anthropic_messages.pictures import Block, Pictures, text_block
from services.context.dialects.shown import Notes
from services.context.notices import CONTINUE, notice, omission
from services.context.rendered import NativeValue
from services.context.strict_chat import OPENING

CACHE_CONTROL: NativeValue = {"type": "ephemeral"}


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn; `bears_tools` keeps it apart from its neighbours. `cached`: later requests begin with all up to its end."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]
    bears_tools: bool = False
    cached: bool = False


def dialogue_turns(
    dialogue: Sequence[StructuredContextItem], pictures: Pictures, notes: Notes, cached: int | None
) -> list[Turn]:
    """One turn an item that says something; the item with the index `cached` ends a cached prefix."""
    turns: list[Turn] = []
    for index, item in enumerate(dialogue):
        blocks = _blocks(item, pictures, notes)
        if blocks:
            role = "assistant" if item.role == "model" else "user"
            turns.append(Turn(role, tuple(blocks), cached=index == cached))
    return turns


def assistant_turn(text: str) -> list[Turn]:
    """The model's text as a turn, or nothing if it is blank."""
    return [Turn("assistant", (text_block(text),))] if text.strip() else []


def alternated(turns: Iterable[Turn]) -> list[Turn]:
    """The turns, of which neighbours of one role are merged unless one bears tools; a user's comes first."""
    out: list[Turn] = []
    for turn in turns:
        if not out and turn.role == "assistant":
            out.append(Turn("user", (text_block(OPENING),)))
        last = out[-1] if out else None
        if last is not None and last.role == turn.role and not last.bears_tools and not turn.bears_tools:
            out[-1] = Turn(turn.role, _sealed(last) + turn.blocks, cached=turn.cached)
        else:
            out.append(turn)
    return out or [Turn("user", (text_block(OPENING),))]


def begun(turns: Sequence[Turn], *, prefill: bool) -> list[Turn]:
    """The turns, the last of which may be the model's and is then how its reply begins.

    White space at its end is cut, which Anthropic refuses. A model that takes no prefill is asked to go on from it.
    """
    last = turns[-1]
    if last.role == "user":
        return [*turns]
    *before, end = last.blocks
    text = end.get("text")
    if isinstance(text, str):
        end = {**end, "text": text.rstrip()}
    out = [*turns[:-1], replace(last, blocks=(*before, end))]
    return out if prefill else [*out, Turn("user", (text_block(CONTINUE),))]


def message(turn: Turn) -> NativeValue:
    """The native message; text alone is a string."""
    blocks = _sealed(turn)
    content: NativeValue = [*blocks]
    if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
        content = blocks[0]["text"]
    return {"role": turn.role, "content": content}


def _sealed(turn: Turn) -> tuple[Block, ...]:
    if not turn.cached:
        return turn.blocks
    return (*turn.blocks[:-1], {**turn.blocks[-1], "cache_control": CACHE_CONTROL})


def _blocks(item: StructuredContextItem, pictures: Pictures, notes: Notes) -> list[Block]:
    texts = [part.text for part in item.parts if isinstance(part, TextPart)]
    if len(texts) == len(item.parts):
        text = "\n".join(text for text in texts if text.strip())
        return [text_block(text)] if text else []
    blocks: list[Block] = []
    for index, part in enumerate(item.parts):
        place = notes.places.get(id(part), f"parts[{index}]")
        match part:
            case TextPart():
                if part.text.strip():
                    blocks.append(text_block(part.text))
            case ImagePart():
                blocks += pictures.blocks(part, place, item.message_id)
            case OmittedPart():
                if part.medium == "image":
                    blocks += pictures.blocks(part, place, item.message_id)
                else:
                    blocks.append(text_block(omission(part)))
            case VideoPart():
                blocks.append(text_block(notice("video", "this model takes no videos", name=part.name)))
                notes.warn("video_unsupported", place, "the model takes no videos")
            case _:
                assert_never(part)
    return blocks
