"""System text as a chat message, and pieces of dialogue as its parts.

https://platform.openai.com/docs/api-reference/chat/create
"""

from collections.abc import Sequence
from typing import assert_never

from services.context.dialects.shown import Clip, Picture, Piece
from services.context.rendered import NativeValue
from services.context.strict_chat import Message


def system_messages(system: Sequence[str], *, in_band: bool) -> list[Message]:
    """The system text as one message, or none. `in_band`: as a user's, for servers that take no other."""
    text = "\n\n".join(system)
    return [{"role": "user" if in_band else "system", "content": text}] if text else []


def part(piece: Piece) -> NativeValue:
    """A piece as a part of a message's content."""
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
