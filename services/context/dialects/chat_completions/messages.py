"""System text and dialogue as chat messages.

https://platform.openai.com/docs/api-reference/chat/create
"""

from collections.abc import Sequence
from typing import assert_never

from schemas.context import StructuredContextItem, TextPart
from services.context.dialects.shown import Clip, Eyes, Notes, Picture, Piece, item_pieces
from services.context.rendered import NativeValue
from services.context.strict_chat import Message


def system_messages(system: Sequence[str], *, in_band: bool) -> list[Message]:
    """The system text as one message, or none. `in_band`: as a user's, for servers that take no other."""
    text = "\n\n".join(system)
    return [{"role": "user" if in_band else "system", "content": text}] if text else []


def dialogue_messages(dialogue: Sequence[StructuredContextItem], eyes: Eyes, notes: Notes) -> list[Message]:
    """One message an item that says something. Media must have been moved off the model's items."""
    out: list[Message] = []
    for item in dialogue:
        if item.role == "model":
            out += assistant_message("\n".join(part.text for part in item.parts if isinstance(part, TextPart)))
        elif pieces := item_pieces(item, eyes, notes):
            out.append({"role": "user", "content": user_content(pieces)})
    return out


def assistant_message(text: str) -> list[Message]:
    """The model's text as a message, or nothing if it is blank."""
    return [{"role": "assistant", "content": text}] if text.strip() else []


def user_content(pieces: Sequence[Piece]) -> NativeValue:
    """Texts alone as one string, else a list of parts."""
    texts = [piece for piece in pieces if isinstance(piece, str)]
    return "\n".join(texts) if len(texts) == len(pieces) else [_part(piece) for piece in pieces]


def _part(piece: Piece) -> NativeValue:
    match piece:
        case str():
            return {"type": "text", "text": piece}
        case Picture():
            return {"type": "image_url", "image_url": {"url": piece.url}}
        case Clip():
            # https://openrouter.ai/docs/features/multimodal/videos
            return {"type": "video_url", "video_url": {"url": piece.url}}
        case _:
            assert_never(piece)
