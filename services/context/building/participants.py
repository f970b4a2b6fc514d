"""Who takes part in a conversation, and under which label: nobody has that of somebody else."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from schemas.context import ConversationUser
from services.context.building.known import KnownUser, Scene
from services.context.building.names import MOST_NAME, name_line
from services.context.building.speakers import Heard, Kind, Speaker, active_persona
from services.context.letters import folded

_ORDER: Mapping[Kind, int] = {"persona": 0, "account": 1, "webhook": 2}

# The same people speak turn after turn.
_key = lru_cache(maxsize=2_048)(folded)


class Others(msgspec.Struct, frozen=True):
    """The folded labels of all but one, which that one must not pose as.

    It looks at the labels of all, since a set of the others for each who speaks would grow with the square of their number.
    """

    by_label: Mapping[str, Speaker]
    speaker: Speaker

    def __contains__(self, label: object) -> bool:
        found = self.by_label.get(label) if isinstance(label, str) else None
        return found is not None and found != self.speaker


@dataclass(frozen=True, slots=True)
class Participants:
    """All speakers, in an order that does not depend on who spoke first. `users` are the hidden data of the items.

    `by_label`: who has which folded label.
    """

    labels: Mapping[Speaker, str]
    by_label: Mapping[str, Speaker]
    users: tuple[ConversationUser, ...]
    index: Mapping[Speaker, int]

    def others(self, speaker: Speaker) -> Others:
        """Whom the speaker must not pose as."""
        return Others(self.by_label, speaker)


def participants(messages: Iterable[Heard], scene: Scene) -> Participants:
    """Everyone who speaks in the messages, who asks, and the persona, each with a label of their own."""
    active, account_of_bot = active_persona(scene), Speaker("persona", "")
    names: dict[Speaker, str] = {active: scene.bot_name if scene.persona is None else scene.persona.name}
    for heard in messages:
        # The newest name that the channel shows counts.
        if heard.speaker != active:
            names[heard.speaker] = scene.bot_name if heard.speaker == account_of_bot else heard.message.author_name
    names[Speaker("account", scene.asked.author_id)] = scene.asked.author_name
    if scene.impersonated is not None:
        names[Speaker("account", scene.impersonated.user_id)] = scene.impersonated.name
    known = {Speaker("account", user.id): user for user in scene.users}
    names |= {speaker: user.name for speaker, user in known.items() if user.name is not None and speaker in names}
    by_label = _by_label(names)
    labels = dict(by_label.values())
    return Participants(
        labels,
        {plain: speaker for plain, (speaker, _) in by_label.items()},
        tuple(_user(speaker, label, known.get(speaker)) for speaker, label in labels.items()),
        {speaker: index for index, speaker in enumerate(labels)},
    )


def _by_label(names: Mapping[Speaker, str]) -> dict[str, tuple[Speaker, str]]:
    """Speakers and labels by folded label."""
    taken: dict[str, tuple[Speaker, str]] = {}
    numbers: dict[str, int] = {}
    for speaker in sorted(names, key=_rank):
        label = name_line(names[speaker])
        key = _key(label)
        if key in taken:
            # Numbers that were taken stay so: who comes later with the name need not try them again.
            short = label[: MOST_NAME - 6]
            number = numbers.get(folded(short), 1)
            while key in taken:
                number += 1
                label = f"{short} ({number})"
                key = folded(label)
            numbers[folded(short)] = number
        taken[key] = (speaker, label)
    return taken


def _rank(speaker: Speaker) -> tuple[int, int, str]:
    age = int(speaker.id) if speaker.kind == "account" else 0
    return (_ORDER[speaker.kind], age, speaker.id)


def _user(speaker: Speaker, label: str, known: KnownUser | None) -> ConversationUser:
    is_person = speaker.kind == "account"
    return ConversationUser(
        target_id=speaker.id if is_person else f"{speaker.kind}:{speaker.id}",
        display_label=label,
        aliases=() if known is None else tuple(name_line(alias) for alias in known.aliases),
        mentionable=is_person,
    )
