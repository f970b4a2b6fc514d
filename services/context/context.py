"""The neutral context: what the model is told, before any provider's words for it.

Messages of others carry the name of who spoke, since a channel has many voices and the wire has one user.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from schemas.deliveries import NOTICE
from schemas.generations import GenerationRequested
from services.context.history import HistoryMessage
from services.runtime.settings import Settings

CONTINUE = "[System: Continue your reply exactly where it stopped, without repeating anything.]"
WORDLESS = "[sent no text]"

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said. `speaker` is None for the model itself and for what Odradek says to it."""

    role: Role
    text: str
    speaker: str | None = None

    @property
    def line(self) -> str:
        """The text as the model reads it."""
        return self.text if self.speaker is None else f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class NeutralContext:
    """All that a request says; `turns` end with a user's."""

    model: str
    system: str
    turns: tuple[Turn, ...]
    stop: tuple[str, ...]
    max_tokens: int
    temperature: float | None = None


def assemble(
    settings: Settings, request: GenerationRequested, history: Iterable[HistoryMessage], bot_id: str
) -> NeutralContext:
    """The context of one generation.

    `history` may hold anything of the channel in any order: only messages before the cause count, oldest first. The
    cause itself is told by the request, so it is there even where the history is not.
    """
    before = sorted(
        (message for message in history if int(message.id) < int(request.message_id)),
        key=lambda message: int(message.id),
    )
    turns = [turn for message in before if (turn := _turn(message, request, bot_id)) is not None]
    asked = _without_mention(request.content, bot_id) or WORDLESS
    turns.append(Turn("user", asked, _name(request.author.name)))
    if request.emitted.strip():
        turns += [Turn("assistant", request.emitted), Turn("user", CONTINUE)]
    return NeutralContext(
        model=settings.model,
        system=settings.system_prompt.strip(),
        turns=tuple(turns),
        stop=tuple(dict.fromkeys(text for text in settings.stop_strings if text)),
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
    )


def _turn(message: HistoryMessage, request: GenerationRequested, bot_id: str) -> Turn | None:
    if message.author_id == bot_id:
        text = message.content.strip()
        return Turn("assistant", text) if text and not text.startswith(NOTICE) else None
    text = _without_mention(message.content, bot_id)
    # One person has one name in a context: the one that the channel shows, which only the cause knows.
    name = request.author.name if message.author_id == request.author.id else message.author_name
    return Turn("user", text, _name(name)) if text else None


def _without_mention(content: str, bot_id: str) -> str:
    return re.sub(rf"\A\s*<@!?{re.escape(bot_id)}>[\s,:]*", "", content).strip()


def _name(name: str) -> str:
    """The name on one line, so that it cannot pose as a message of somebody else."""
    return " ".join(name.split()) or "somebody"
