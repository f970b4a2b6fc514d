"""Whose a message is, and its words without the mention of the bot: worked out once a message, for all that asks later.

Only the active persona is the model; other personas, bots and people are users. In a turn that speaks for a user, that
user is the model and the persona is a user.
"""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from services.context.building.known import Scene
from services.context.building.messages import HistoryMessage

Kind = Literal["persona", "account", "webhook"]
AS_THE_BOT = "$:"
"""How a person's message begins that counts as said by the bot."""

_BEHIND_CALL = re.compile(r"[\s,:]*")


class Speaker(msgspec.Struct, frozen=True, gc=False):
    """Whose a message is. `id`: of an account its snowflake, of a persona its webhook name, empty for the bot's own account.

    A webhook speaks for whoever writes through it, so its name belongs to its id.
    """

    kind: Kind
    id: str


class Heard(msgspec.Struct, frozen=True, gc=False):
    """A message of the turn. `words`: its content without the mention of the bot with which it may begin.

    `is_for_the_bot`: a person put the words into the bot's mouth.
    """

    message: HistoryMessage
    words: str
    speaker: Speaker
    is_for_the_bot: bool


def heard(messages: Iterable[HistoryMessage], scene: Scene) -> list[Heard]:
    """The messages with who says each."""
    active = active_persona(scene)
    out: list[Heard] = []
    for message in messages:
        words = _without_call(message.content, scene.bot_id)
        is_person = message.voice == "account" and message.author_id != scene.bot_id
        is_for_the_bot = is_person and words.startswith(AS_THE_BOT)
        speaker = active if is_for_the_bot else _speaker_of(message, scene)
        out.append(Heard(message, words, speaker, is_for_the_bot))
    return out


def active_persona(scene: Scene) -> Speaker:
    """The persona that the model plays, or would play."""
    return Speaker("persona", "" if scene.persona is None else scene.persona.webhook_name or "")


def the_model(scene: Scene) -> Speaker:
    """Whose words are the model's own."""
    return active_persona(scene) if scene.impersonated is None else Speaker("account", scene.impersonated.user_id)


def _speaker_of(message: HistoryMessage, scene: Scene) -> Speaker:
    if message.author_id == scene.bot_id:
        return Speaker("persona", "")
    match message.voice:
        case "own_webhook":
            posed = scene.impersonated
            if posed is not None and message.author_name == posed.name:
                return Speaker("account", posed.user_id)
            return Speaker("persona", message.author_name)
        case "other_webhook":
            return Speaker("webhook", f"{message.author_id}:{message.author_name}")
        case "account":
            return Speaker("account", message.author_id)


def _without_call(content: str, bot_id: str) -> str:
    text = content.strip()
    if text.startswith("<@"):
        for call in (f"<@{bot_id}>", f"<@!{bot_id}>"):
            if text.startswith(call):
                behind = _BEHIND_CALL.match(text, len(call))
                return text[behind.end() :] if behind else text
    return text
