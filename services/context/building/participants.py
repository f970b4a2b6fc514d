"""Who speaks in a conversation, under which label, and whose words are the model's.

Only the active persona is the model; other personas, bots and people are users. In a turn that speaks for a user, that
user is the model and the persona is a user.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from schemas.context import ConversationUser
from services.context.building.known import KnownUser, Scene
from services.context.building.messages import HistoryMessage
from services.context.building.names import MOST_NAME, folded, name_line
from services.context.building.wording import without_call

Kind = Literal["persona", "account", "webhook"]
AS_THE_BOT = "$:"
"""How a person's message begins that counts as said by the bot."""

_ORDER: Mapping[Kind, int] = {"persona": 0, "account": 1, "webhook": 2}


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whose a message is. `id`: of an account its snowflake, of a persona its webhook name, empty for the bot's own account.

    A webhook speaks for whoever writes through it, so its name belongs to its id.
    """

    kind: Kind
    id: str


@dataclass(frozen=True, slots=True)
class Participants:
    """All speakers, in an order that does not depend on who spoke first. `users` are the hidden data of the items."""

    labels: Mapping[Speaker, str]
    folded: Mapping[Speaker, str]
    users: tuple[ConversationUser, ...]
    index: Mapping[Speaker, int]

    def others(self, speaker: Speaker) -> frozenset[str]:
        """The folded labels of all but one, which that one must not pose as."""
        return frozenset(self.folded.values()) - {self.folded[speaker]}


def speaker_of(message: HistoryMessage, scene: Scene) -> Speaker:
    """Who says the message."""
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
            return active_persona(scene) if is_for_the_bot(message, scene) else Speaker("account", message.author_id)


def is_for_the_bot(message: HistoryMessage, scene: Scene) -> bool:
    """Whether a person put the words into the bot's mouth."""
    is_person = message.voice == "account" and message.author_id != scene.bot_id
    return is_person and without_call(message.content, scene.bot_id).startswith(AS_THE_BOT)


def active_persona(scene: Scene) -> Speaker:
    """The persona that the model plays, or would play."""
    return Speaker("persona", "" if scene.persona is None else scene.persona.webhook_name or "")


def is_model(speaker: Speaker, scene: Scene) -> bool:
    """Whether the speaker's words are the model's own."""
    if scene.impersonated is None:
        return speaker == active_persona(scene)
    return speaker == Speaker("account", scene.impersonated.user_id)


def participants(messages: Iterable[HistoryMessage], scene: Scene) -> Participants:
    """Everyone who speaks in the messages, who asks, and the persona, each with a label of their own."""
    known = {user.id: user for user in scene.users}
    names: dict[Speaker, str] = {active_persona(scene): _persona_name(scene)}
    for message in messages:
        # The newest name that the channel shows counts.
        speaker = speaker_of(message, scene)
        if speaker != active_persona(scene):
            names[speaker] = scene.bot_name if speaker == Speaker("persona", "") else message.author_name
    names[Speaker("account", scene.asked.author_id)] = scene.asked.author_name
    if scene.impersonated is not None:
        names[Speaker("account", scene.impersonated.user_id)] = scene.impersonated.name
    for speaker in names:
        if speaker.kind == "account" and (user := known.get(speaker.id)) is not None and user.name is not None:
            names[speaker] = user.name
    labels = _labels(names)
    users = tuple(_user(speaker, label, known) for speaker, label in labels.items())
    plain = {speaker: folded(label) for speaker, label in labels.items()}
    return Participants(labels, plain, users, {speaker: index for index, speaker in enumerate(labels)})


def _persona_name(scene: Scene) -> str:
    return scene.bot_name if scene.persona is None else scene.persona.name


def _labels(names: Mapping[Speaker, str]) -> dict[Speaker, str]:
    taken: set[str] = set()
    labels: dict[Speaker, str] = {}
    for speaker in sorted(names, key=_rank):
        plain = label = name_line(names[speaker])
        number = 1
        while folded(label) in taken:
            number += 1
            label = f"{plain[: MOST_NAME - 6]} ({number})"
        taken.add(folded(label))
        labels[speaker] = label
    return labels


def _rank(speaker: Speaker) -> tuple[int, int, str]:
    age = int(speaker.id) if speaker.kind == "account" else 0
    return (_ORDER[speaker.kind], age, speaker.id)


def _user(speaker: Speaker, label: str, known: Mapping[str, KnownUser]) -> ConversationUser:
    user = known.get(speaker.id) if speaker.kind == "account" else None
    is_person = speaker.kind == "account"
    return ConversationUser(
        target_id=speaker.id if is_person else f"{speaker.kind}:{speaker.id}",
        display_label=label,
        aliases=() if user is None else tuple(name_line(alias) for alias in user.aliases),
        mentionable=is_person,
    )
