"""The context of one generation: what the channel said, and what the settings say.

Messages of others carry the name of who spoke, since a channel has many voices and the wire has one user.
"""

import re
from collections.abc import Iterable

from schemas.context import ContextRole, GenerationOptions, NeutralContext, StructuredContextItem, TextPart
from schemas.deliveries import NOTICE
from schemas.generations import GenerationRequested
from services.context.history import HistoryMessage
from services.runtime.settings import Settings

CONTINUE = "[System: Continue your reply exactly where it stopped, without repeating anything.]"
WORDLESS = "[sent no text]"


def assemble(
    settings: Settings, request: GenerationRequested, history: Iterable[HistoryMessage], bot_id: str
) -> NeutralContext:
    """The context of one generation.

    `history` may hold anything of the channel in any order: only messages before the cause count, oldest first. The
    cause itself is told by the request, so it is there even where the history is not. The items end with a user's.
    """
    before = sorted(
        (message for message in history if int(message.id) < int(request.message_id)),
        key=lambda message: int(message.id),
    )
    items: list[StructuredContextItem] = []
    if system := settings.system_prompt.strip():
        items.append(_item("system", system))
    items += [item for message in before if (item := _said(message, request, bot_id)) is not None]
    asked = _without_mention(request.content, bot_id) or WORDLESS
    items.append(_of(request.author.name, asked, request.message_id))
    if request.emitted.strip():
        items += [_item("model", request.emitted), _item("user", CONTINUE)]
    options = GenerationOptions(
        temperature=settings.temperature,
        max_output_tokens=settings.max_tokens,
        stop_strings=tuple(dict.fromkeys(text for text in settings.stop_strings if text)),
    )
    return NeutralContext(items=tuple(items), options=options)


def _said(message: HistoryMessage, request: GenerationRequested, bot_id: str) -> StructuredContextItem | None:
    if message.author_id == bot_id:
        text = message.content.strip()
        shown = text and not text.startswith(NOTICE)
        return _item("model", text, message_id=message.id) if shown else None
    text = _without_mention(message.content, bot_id)
    # One person has one name in a context: the one that the channel shows, which only the cause knows.
    name = request.author.name if message.author_id == request.author.id else message.author_name
    return _of(name, text, message.id) if text else None


def _of(name: str, text: str, message_id: str) -> StructuredContextItem:
    speaker = _name(name)
    return _item("user", f"{speaker}: {text}", sender=speaker, message_id=message_id)


def _item(
    role: ContextRole, text: str, *, sender: str | None = None, message_id: str | None = None
) -> StructuredContextItem:
    tag = "system_instruction_block" if role == "system" else "dialogue_history"
    return StructuredContextItem(role=role, parts=(TextPart(text=text),), tag=tag, sender=sender, message_id=message_id)


def _without_mention(content: str, bot_id: str) -> str:
    return re.sub(rf"\A\s*<@!?{re.escape(bot_id)}>[\s,:]*", "", content).strip()


def _name(name: str) -> str:
    """The name on one line, so that it cannot pose as a message of somebody else."""
    return " ".join(name.split()) or "somebody"
