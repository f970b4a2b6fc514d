"""Messages of users and of the model, as both of OpenAI's APIs have them; only the parts inside are each API's own."""

from collections.abc import Callable, Sequence

from schemas.context import StructuredContextItem, TextPart
from services.context.dialects.shown import Eyes, Notes, Piece, item_pieces
from services.context.rendered import NativeValue
from services.context.strict_chat import Message

Part = Callable[[Piece], NativeValue]
"""Says a piece as a part of a message's content."""


def dialogue_messages(dialogue: Sequence[StructuredContextItem], eyes: Eyes, notes: Notes, part: Part) -> list[Message]:
    """One message an item that says something. Media must have been moved off the model's items."""
    out: list[Message] = []
    for item in dialogue:
        if item.role == "model":
            out += assistant_message("\n".join(said.text for said in item.parts if isinstance(said, TextPart)))
        elif pieces := item_pieces(item, eyes, notes):
            out.append(user_message(pieces, part))
    return out


def assistant_message(text: str) -> list[Message]:
    """The model's text as a message, or nothing if it is blank."""
    return [{"role": "assistant", "content": text}] if text.strip() else []


def user_message(pieces: Sequence[Piece], part: Part) -> Message:
    """A user's message, whose content is one string if all is text, else a list of parts."""
    texts = [piece for piece in pieces if isinstance(piece, str)]
    content = "\n".join(texts) if len(texts) == len(pieces) else [part(piece) for piece in pieces]
    return {"role": "user", "content": content}
