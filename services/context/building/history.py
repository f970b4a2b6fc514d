"""The channel's messages as items of a dialogue: whose each is, what it shows, and what one author said in a row as one.

An item has its media first, then the blocks about them, then the text behind its speaker's label. The model's own items
have no blocks; those follow as a user's. Only what this system writes goes without a label.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from schemas.context import ContextPart, ImagePart, StructuredContextItem, TextPart, VideoPart
from schemas.deliveries import NOTICE
from services.context.building.attachments import shown
from services.context.building.custom_emojis import custom_emojis
from services.context.building.known import Scene
from services.context.building.messages import HistoryMessage
from services.context.building.names import block, honest, inside_block
from services.context.building.participants import (
    AS_THE_BOT,
    Participants,
    Speaker,
    is_for_the_bot,
    is_model,
    speaker_of,
)
from services.context.building.previews import previews
from services.context.building.references import References
from services.context.building.wording import worded

WORDLESS = "[sent no text]"
MOST_QUOTED = 100
"""Characters of a message that is quoted where another one answers it."""


@dataclass(frozen=True, slots=True)
class Said:
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

    def __init__(self, scene: Scene, people: Participants, messages: Sequence[HistoryMessage]) -> None:
        self._scene = scene
        self._people = people
        self._messages = {message.id: message for message in messages}
        self._before = dict(zip([message.id for message in messages[1:]], messages, strict=False))
        self._names = {speaker.id: label for speaker, label in people.labels.items() if speaker.kind == "account"}
        self.references = References()

    def told(self, messages: Iterable[HistoryMessage]) -> list[Said]:
        """What the messages say. Those of one speaker in a row are one, but the message that asks stands alone."""
        out: list[Said] = []
        for message in messages:
            said = self._said(message)
            if said is None:
                continue
            if out and message.id != self._scene.asked.message_id and _go_together(out[-1], said):
                before = out[-1]
                out[-1] = replace(
                    said, text=f"{before.text}\n{self._honest(said, begins=False)}", emojis=before.emojis + said.emojis
                )
            else:
                out.append(replace(said, text=self._honest(said, begins=True)))
        return out

    def items(self, said: Said) -> list[StructuredContextItem]:
        """The item, and behind one of the model's another one with the blocks about it."""
        label = self._people.labels[said.speaker]
        hints = tuple(TextPart(text=hint) for hint in said.hints)
        if not said.is_model:
            return [self._item(said, (*said.media, *hints, TextPart(text=f"{label}: {said.text or WORDLESS}")))]
        text = f"{label}: {said.text}" if self._scene.speaker and said.text else said.text
        own = (*said.media, *((TextPart(text=text),) if text else ()))
        items = [self._item(said, own)] if own else []
        return [*items, self._item(replace(said, is_model=False), hints)] if hints else items

    def _item(self, said: Said, parts: tuple[ContextPart, ...]) -> StructuredContextItem:
        return StructuredContextItem(
            role="model" if said.is_model else "user",
            parts=parts,
            tag="dialogue_history",
            sender=self._people.labels[said.speaker],
            message_id=said.message_id,
            conversation_users=self._people.users,
            participant_target_index=self._people.index[said.speaker],
        )

    def _said(self, message: HistoryMessage) -> Said | None:
        speaker = speaker_of(message, self._scene)
        own = is_model(speaker, self._scene)
        is_bots = speaker.kind == "persona" and not is_for_the_bot(message, self._scene)
        if is_bots and message.content.startswith(NOTICE):
            return None
        seen = shown(message, self.references, self._scene.tools, is_own=own)
        hints = (*seen.hints, *(() if is_bots else previews(message)))
        text = self._text(message)
        if not (text or seen.media or hints or message.id == self._scene.asked.message_id):
            return None
        return Said(
            speaker=speaker,
            is_model=own,
            is_verbatim=own and is_bots,
            message_id=message.id,
            text=text,
            media=seen.media,
            hints=(*self._answered(message), *hints),
            emojis=len(custom_emojis(message.content)),
        )

    def _text(self, message: HistoryMessage) -> str:
        text = worded(message.content, self._scene.bot_id, self._all_names(message))
        return text.removeprefix(AS_THE_BOT).strip() if is_for_the_bot(message, self._scene) else text

    def _all_names(self, message: HistoryMessage) -> Mapping[str, str]:
        bot = {self._scene.bot_id: self._scene.bot_name} if self._scene.bot_name else {}
        return {**dict(message.names), **bot, **self._names}

    def _honest(self, said: Said, *, begins: bool) -> str:
        return said.text if said.is_verbatim else honest(said.text, self._people.others(said.speaker), begins=begins)

    def _answered(self, message: HistoryMessage) -> list[str]:
        """What the message replies to, unless that stands right before it."""
        answered = self._messages.get(message.reply_to or "")
        before = self._before.get(message.id)
        if answered is None or (before is not None and before.id == answered.id):
            return []
        who = self._people.labels[speaker_of(answered, self._scene)]
        quote = inside_block(self._text(answered), MOST_QUOTED)
        called = f" ({self.references.message(answered.id)})" if self._scene.tools else ""
        words = f': "{quote}"' if quote else "."
        return [block(f"This answers a message of {who}{called}{words}")]


def asked_message(scene: Scene, found: HistoryMessage | None) -> HistoryMessage:
    """The message that asks: its words as the turn was asked for, the rest as the channel has it, where it was found."""
    asked = scene.asked
    said = found or HistoryMessage(asked.message_id, asked.author_id, asked.author_name, "")
    return replace(said, author_id=asked.author_id, author_name=asked.author_name, content=asked.content)


def _go_together(before: Said, said: Said) -> bool:
    return before.speaker == said.speaker and before.is_text_only and said.is_text_only
