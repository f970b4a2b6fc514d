"""The channel's messages as items of a dialogue: whose each is, what it shows, and what one author said in a row as one.

An item has its media first, then the blocks about them, then the text behind its speaker's label. The model's own items
have no blocks; those follow as a user's. Only what this system writes goes without a label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise

import msgspec

from schemas.context import ContextPart, ContextRole, ImagePart, StructuredContextItem, TextPart, VideoPart
from schemas.deliveries import NOTICE
from services.context.building.attachments import shown
from services.context.building.custom_emojis import custom_emojis
from services.context.building.known import Scene
from services.context.building.messages import HistoryMessage
from services.context.building.names import block, honest, name_line
from services.context.building.participants import Participants
from services.context.building.previews import previews
from services.context.building.references import References
from services.context.building.speakers import AS_THE_BOT, Heard, Speaker, the_model
from services.context.building.wording import worded
from services.context.hostile import quoted

WORDLESS = "[sent no text]"
MOST_QUOTED = 100
"""Characters of a message that is quoted where another one answers it."""


class Said(msgspec.Struct, frozen=True, gc=False):
    """What one speaker said, in one message or in several in a row.

    `is_verbatim`: the model wrote it, so it stays as it was. `emojis` counts the custom ones.
    """

    speaker: Speaker
    is_model: bool
    is_verbatim: bool
    message_id: str
    text: str
    media: tuple[ImagePart | VideoPart, ...] = ()
    hints: tuple[str, ...] = ()
    emojis: int = 0

    @property
    def is_text_only(self) -> bool:
        """Whether it may be told together with what the same speaker said before or after."""
        return not self.media and not self.hints


class Telling:
    """Makes what was said of a turn's messages."""

    def __init__(self, scene: Scene, people: Participants, messages: Sequence[Heard]) -> None:
        self._scene = scene
        self._people = people
        self._model = the_model(scene)
        self._is_labelled = bool(scene.speaker)
        self._messages = messages
        self._by_id = {heard.message.id: heard for heard in messages}
        self._before = {after.message.id: before.message.id for before, after in pairwise(messages)}
        self._texts: dict[str, str] = {}
        self.references = References()

    def told(self) -> list[Said]:
        """What the messages say. Those of one speaker in a row are one, but the message that asks stands alone."""
        rows: list[list[Said]] = []
        for heard in self._messages:
            said = self._said(heard)
            if said is None:
                continue
            if rows and said.message_id != self._scene.asked.message_id and _go_together(rows[-1][-1], said):
                rows[-1].append(said)
            else:
                rows.append([said])
        return [self._joined(row) for row in rows]

    def items(self, said: Said) -> list[StructuredContextItem]:
        """The item, and behind one of the model's another one with the blocks about it."""
        label = self._people.labels[said.speaker]
        hints = [TextPart(text=hint) for hint in said.hints]
        if not said.is_model:
            text = TextPart(text=f"{label}: {said.text or WORDLESS}")
            return [self._item("user", said, (*said.media, *hints, text))]
        text = f"{label}: {said.text}" if self._is_labelled and said.text else said.text
        own = (*said.media, TextPart(text=text)) if text else said.media
        items = [self._item("model", said, own)] if own else []
        return [*items, self._item("user", said, tuple(hints))] if hints else items

    def _item(self, role: ContextRole, said: Said, parts: tuple[ContextPart, ...]) -> StructuredContextItem:
        people, speaker = self._people, said.speaker
        return StructuredContextItem(
            role=role,
            parts=parts,
            tag="dialogue_history",
            sender=people.labels[speaker],
            message_id=said.message_id,
            conversation_users=people.users,
            participant_target_index=people.index[speaker],
        )

    def _said(self, heard: Heard) -> Said | None:
        message, speaker = heard.message, heard.speaker
        own = speaker == self._model
        is_bots = speaker.kind == "persona" and not heard.is_for_the_bot
        if is_bots and message.content.startswith(NOTICE):
            return None
        emojis = custom_emojis(message.content)
        seen = shown(message, emojis, self.references, self._scene.tools, is_own=own)
        hints = seen.hints if is_bots else (*seen.hints, *previews(message))
        text = self._text(heard)
        if not (text or seen.media or hints or message.id == self._scene.asked.message_id):
            return None
        return Said(
            speaker=speaker,
            is_model=own,
            is_verbatim=own and is_bots,
            message_id=message.id,
            text=text,
            media=seen.media,
            hints=hints if message.reply_to is None else (*self._answered(message, message.reply_to), *hints),
            emojis=len(emojis),
        )

    def _text(self, heard: Heard) -> str:
        """Kept, since a message is told, and quoted wherever another one answers it."""
        text = self._texts.get(heard.message.id)
        if text is None:
            names = heard.message.names
            text = worded(heard.words, partial(self._name, dict(names))) if "<" in heard.words else heard.words
            if heard.is_for_the_bot:
                text = text.removeprefix(AS_THE_BOT).strip()
            self._texts[heard.message.id] = text
        return text

    def _name(self, names: Mapping[str, str], mentioned: str) -> str | None:
        """How the model knows who takes part; of others what Discord says in the message that mentions them."""
        scene = self._scene
        name = self._people.labels.get(Speaker("account", mentioned))
        if name is None:
            name = scene.bot_name if scene.bot_name and mentioned == scene.bot_id else names.get(mentioned)
        return None if name is None else name_line(name)

    def _joined(self, row: Sequence[Said]) -> Said:
        """What one speaker said in a row, as one; only its first line follows the speaker's label, where there is one."""
        last = row[-1]
        others = self._people.others(last.speaker)
        labelled = row[0] if self._is_labelled or not last.is_model else None
        texts = [one.text if one.is_verbatim else honest(one.text, others, begins=one is labelled) for one in row]
        if len(row) == 1:
            return last if texts[0] == last.text else msgspec.structs.replace(last, text=texts[0])
        emojis = sum([one.emojis for one in row])
        return msgspec.structs.replace(last, text="\n".join(texts), emojis=emojis)

    def _answered(self, message: HistoryMessage, reply_to: str) -> list[str]:
        """What the message replies to, unless that stands right before it."""
        if reply_to == self._before.get(message.id):
            return []
        answered = self._by_id.get(reply_to)
        if answered is None:
            return []
        who = self._people.labels[answered.speaker]
        quote = quoted(self._text(answered), MOST_QUOTED)
        called = f" ({self.references.message(answered.message.id)})" if self._scene.tools else ""
        words = f": {quote}" if quote else "."
        return [block(f'This answers a message of "{who}"{called}{words}')]


def asked_message(scene: Scene, found: HistoryMessage | None) -> HistoryMessage:
    """The message that asks: its words as the turn was asked for, the rest as the channel has it, where it was found."""
    asked = scene.asked
    said = found or HistoryMessage(asked.message_id, asked.author_id, asked.author_name, "")
    return replace(said, author_id=asked.author_id, author_name=asked.author_name, content=asked.content)


def _go_together(before: Said, said: Said) -> bool:
    return before.speaker == said.speaker and before.is_text_only and said.is_text_only
