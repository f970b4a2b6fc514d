"""Messages: sent once a nonce, changed, deleted, and read in pages.

Source: https://docs.discord.com/developers/resources/message
"""

from collections import OrderedDict
from collections.abc import Sequence

from services.sandbox.discord.attachments import Attachments, Upload
from services.sandbox.discord.entities import (
    COMPONENTS_V2,
    EPHEMERAL,
    SUPPRESS_EMBEDS,
    SUPPRESS_NOTIFICATIONS,
    Channel,
    InteractionKind,
    Message,
    MessageKind,
    Origin,
    User,
)
from services.sandbox.discord.errors import edits_another, empty_message, invalid_form
from services.sandbox.discord.events import MessageCreated, MessageDeleted, MessageEdited, TypingStarted
from services.sandbox.discord.forms import MessageForm
from services.sandbox.discord.mentions import mentioned
from services.sandbox.discord.state import State

_NONCE_WINDOW_MS = 300_000
_NONCES_KEPT = 10_000
_SETTABLE_FLAGS = SUPPRESS_EMBEDS | EPHEMERAL | SUPPRESS_NOTIFICATIONS | COMPONENTS_V2


class Posting:
    """Keeps the newest `messages_kept` messages of each channel."""

    def __init__(self, state: State, messages_kept: int) -> None:
        self._state = state
        self.attachments = Attachments(state.snowflakes)
        self._messages_kept = messages_kept
        self._nonces = OrderedDict[tuple[int, str | int], tuple[int, Message]]()

    def send(
        self,
        channel: Channel,
        author: User,
        form: MessageForm,
        uploads: Sequence[Upload] = (),
        *,
        webhook_id: int | None = None,
        origin: Origin | None = None,
        visible_to: int | None = None,
    ) -> Message:
        """The message, or with `enforce_nonce` the one that this author sent with this nonce in the last 5 minutes."""
        content = (form.content or "").strip()
        flags = (form.flags or 0) & _SETTABLE_FLAGS
        if not (content or form.embeds or form.components or uploads):
            raise empty_message()
        if flags & COMPONENTS_V2 and (content or form.embeds):
            message = "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2"
            raise invalid_form(("content",), "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", message)
        components = form.stored_components()
        reply_to = self._replied_to(channel, form)
        earlier = self._sent_before(author, form)
        if earlier is not None:
            return earlier
        target = channel.messages[reply_to] if reply_to is not None else None
        known = self._state.known_to(channel)
        mentions, everyone = mentioned(content, known, target.author if target else None, form.allowed_mentions)
        message = Message(
            id=self._state.snowflakes.make(),
            channel_id=channel.id,
            guild_id=channel.guild_id,
            author=author,
            content=content,
            created_ms=self._state.now_ms(),
            kind=_kind(reply_to, origin),
            nonce=form.nonce,
            reply_to=reply_to,
            embeds=[embed.stored() for embed in form.embeds or ()],
            components=components,
            attachments=self.attachments.store(form.attachments or (), uploads),
            flags=flags if visible_to is None else flags | EPHEMERAL,
            mentions=mentions,
            mention_everyone=everyone,
            webhook_id=webhook_id,
            application_id=self._state.application.id if author is self._state.application.bot else None,
            origin=origin,
            visible_to=visible_to,
        )
        self.add(channel, message)
        return message

    def add(self, channel: Channel, message: Message) -> None:
        """Put a message that is already made at the channel's end."""
        channel.messages[message.id] = message
        if len(channel.messages) > self._messages_kept:
            channel.messages.popitem(last=False)
        if message.nonce is not None:
            self._nonces[message.author.id, message.nonce] = (message.created_ms, message)
            self._nonces.move_to_end((message.author.id, message.nonce))
            if len(self._nonces) > _NONCES_KEPT:
                self._nonces.popitem(last=False)
        self._state.emit(MessageCreated(message))

    def edit(self, message: Message, author: User, form: MessageForm, uploads: Sequence[Upload] = ()) -> Message:
        """Change what the form gives; raises 50005 for another's message, 50006 if nothing would be left."""
        if message.author.id != author.id:
            raise edits_another()
        given = form.model_fields_set
        content = (form.content or "").strip() if "content" in given else message.content
        embeds = [embed.stored() for embed in form.embeds or ()] if "embeds" in given else message.embeds
        components = form.stored_components() if "components" in given else message.components
        kept = message.attachments
        if form.attachments is not None:
            wanted = {attachment.id for attachment in form.attachments}
            kept = tuple(attachment for attachment in kept if attachment.id in wanted)
        attachments = (*kept, *self.attachments.store(form.attachments or (), uploads))
        if not (content or embeds or components or attachments):
            raise empty_message()
        channel = self._state.channels[message.channel_id]
        target = channel.messages.get(message.reply_to or 0)
        allowed = form.allowed_mentions
        if "content" in given or allowed is not None:
            known = self._state.known_to(channel)
            replied = target.author if target else None
            message.mentions, message.mention_everyone = mentioned(content, known, replied, allowed)
        message.content, message.embeds, message.components = content, embeds, components
        message.attachments = attachments
        if form.flags is not None:
            message.flags = message.flags & ~SUPPRESS_EMBEDS | form.flags & SUPPRESS_EMBEDS
        message.edited_ms = self._state.now_ms()
        self._state.emit(MessageEdited(message))
        return message

    def delete(self, message: Message) -> None:
        channel = self._state.channels.get(message.channel_id)
        if channel is not None and channel.messages.pop(message.id, None) is not None:
            if message.nonce is not None:
                self._nonces.pop((message.author.id, message.nonce), None)
            self._state.emit(MessageDeleted(message))

    def history(
        self, channel: Channel, *, before: int | None, after: int | None, around: int | None, limit: int
    ) -> list[Message]:
        """A page, the newest first, as Discord gives it: `around` beats `before` beats `after`."""
        messages = [message for message in channel.messages.values() if message.visible_to is None]
        if around is not None:
            older = [message for message in messages if message.id < around]
            at = [message for message in messages if message.id == around]
            newer = [message for message in messages if message.id > around]
            half = limit // 2
            page = [*older[max(0, len(older) - half) :], *at, *newer[: max(0, limit - half - len(at))]]
        elif before is not None:
            page = [message for message in messages if message.id < before][-limit:]
        elif after is not None:
            page = [message for message in messages if message.id > after][:limit]
        else:
            page = messages[-limit:]
        return page[::-1]

    def type(self, channel: Channel, user: User) -> None:
        self._state.emit(TypingStarted(channel, user, self._state.now_ms()))

    def _sent_before(self, author: User, form: MessageForm) -> Message | None:
        if form.nonce is None or not form.enforce_nonce:
            return None
        at_ms, message = self._nonces.get((author.id, form.nonce), (0, None))
        return message if message is not None and self._state.now_ms() - at_ms < _NONCE_WINDOW_MS else None

    def _replied_to(self, channel: Channel, form: MessageForm) -> int | None:
        reference = form.message_reference
        if reference is None:
            return None
        target = channel.messages.get(reference.message_id)
        if target is not None and target.visible_to is None:
            return target.id
        if reference.fail_if_not_exists:
            raise invalid_form(("message_reference",), "MESSAGE_REFERENCE_UNKNOWN_MESSAGE", "Unknown message")
        return None


def _kind(reply_to: int | None, origin: Origin | None) -> MessageKind:
    if reply_to is not None:
        return MessageKind.REPLY
    by_command = origin is not None and origin.kind is InteractionKind.COMMAND
    return MessageKind.COMMAND if by_command else MessageKind.DEFAULT
