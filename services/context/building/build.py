"""From a channel's messages and what is known of it to the neutral context of one generation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from schemas.context import GenerationOptions, NeutralContext
from services.context.building import macros
from services.context.building.history import Telling, asked_message
from services.context.building.knowledge import dialogue_items, system_items
from services.context.building.known import Scene
from services.context.building.messages import HistoryMessage
from services.context.building.participants import participants
from services.context.building.resets import Remembered, after_last_mark
from services.context.building.speakers import Speaker, heard
from services.context.building.tail import directives, interspersed, opening


@dataclass(frozen=True, slots=True)
class Built:
    """The context; the Discord messages that it tells of; and the snowflakes behind the opaque ids that it names."""

    context: NeutralContext
    messages: tuple[str, ...]
    references: Mapping[str, str]


def build(scene: Scene, history: Iterable[HistoryMessage]) -> Built:
    """The context of one generation.

    `history` may hold anything of the channel in any order: only what is not newer than the message that asks counts, from
    the last reset mark on, and nothing of authors who want nothing told. The message that asks is always there, since its
    author asked.
    """
    remembered = _remembered(scene, history)
    messages = heard(remembered.messages, scene)
    people = participants(messages, scene)
    asker = people.labels[Speaker("account", scene.asked.author_id)]
    bot = scene.speaker or scene.bot_name
    resolve = partial(macros.resolve, user=asker, bot=bot, seed=scene.asked.message_id)
    telling = Telling(scene, people, messages)
    said = telling.told()
    dialogue = [item for one in said for item in telling.items(one)]
    before = [
        *interspersed(dialogue, scene, said, resolve),
        *directives(scene, said[-1], people.labels, resolve),
    ]
    prefill = _prefill(scene)
    items = (
        *system_items(scene, resolve),
        *dialogue_items(scene, people, resolve, remembered.summary),
        *before,
        *opening(scene.asked.emitted, prefill, is_answerable=bool(before) and before[-1].role != "model"),
    )
    return Built(
        NeutralContext(items=items, options=_options(scene, prefill)),
        tuple(message.id for message in remembered.messages),
        telling.references.known(),
    )


def _remembered(scene: Scene, history: Iterable[HistoryMessage]) -> Remembered:
    found = {message.id: message for message in history if int(message.id) <= int(scene.asked.message_id)}
    asked = asked_message(scene, found.pop(scene.asked.message_id, None))
    told = [found[key] for key in sorted(found, key=int)]
    remembered = after_last_mark(told, scene.bot_id)
    kept = (message for message in remembered.messages if message.author_id not in scene.private_authors)
    return Remembered((*kept, asked), remembered.summary)


def _prefill(scene: Scene) -> str:
    """How the reply begins, behind the speaker's label as all that was said; nothing where the reply has begun."""
    prefill = scene.options.prefill or ""
    if not prefill.strip() or scene.asked.emitted.strip():
        return ""
    return f"{scene.speaker}: {prefill}" if scene.speaker else prefill


def _options(scene: Scene, prefill: str) -> GenerationOptions:
    own = {"prefill": prefill or None, "persona_name": scene.options.persona_name or scene.speaker or None}
    return scene.options.model_copy(update=own)
