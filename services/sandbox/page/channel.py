"""The channel as the browser shows it: people, and the newest messages with what they reply to."""

from collections.abc import Iterator, Sequence

from services.sandbox.page.discord_api import BUTTON, THINKING, Channel, Component, Message, State, User
from services.sandbox.page.jsontypes import ButtonView, ChannelView, MessageView, PersonView, ReplyView
from services.sandbox.page.markup import blocks_of

MESSAGES = 200
_EXCERPT_CHARS = 120
_SILENT = "owner"


class ShownChannel:
    """The first channel of the first guild, kept up to date entry by entry. Applying one twice does no harm."""

    def __init__(self, state: State, messages: Sequence[Message]) -> None:
        guild = state.guilds[0]
        self.channel: Channel = guild.channels[0]
        self.bot: User = state.bot
        # The guild's owner exists because every guild has one; it is nobody's part to play.
        self.people = [
            user for user in state.users if user.id in guild.members and not user.bot and user.username != _SILENT
        ]
        self._names = {user.id: user.username for user in state.users}
        self._messages: dict[str, Message] = {}
        for message in messages:
            self.put(message)

    def put(self, message: Message) -> MessageView:
        """Take a new or edited message."""
        self._messages[message.id] = message
        if len(self._messages) > MESSAGES:
            del self._messages[next(iter(self._messages))]
        return self._message_view(message)

    def remove(self, message_id: str) -> None:
        """Forget a deleted message."""
        self._messages.pop(message_id, None)

    def view(self) -> ChannelView:
        """All of it."""
        return ChannelView(
            name=self.channel.name,
            bot=person_view(self.bot),
            people=[person_view(user) for user in self.people],
            messages=[self._message_view(message) for message in self._messages.values()],
        )

    def _message_view(self, message: Message) -> MessageView:
        return MessageView(
            id=message.id,
            author=person_view(message.author),
            at_ms=int(message.timestamp.timestamp() * 1000),
            edited=message.edited_timestamp is not None,
            thinking=bool(message.flags & THINKING),
            blocks=blocks_of(message.content, self._names),
            buttons=list(_buttons(message.components)),
            files=[attachment.filename for attachment in message.attachments],
            reply=None if message.reply_to is None else self._reply_view(message.reply_to),
            visible_to=message.visible_to,
        )

    def _reply_view(self, message_id: str) -> ReplyView:
        target = self._messages.get(message_id)
        if target is None:
            return ReplyView(id=message_id, author=None, excerpt="")
        excerpt = self._plain(" ".join(target.content[: 2 * _EXCERPT_CHARS].split()))[:_EXCERPT_CHARS]
        return ReplyView(id=message_id, author=target.author.username, excerpt=excerpt)

    def _plain(self, text: str) -> str:
        for user_id, name in self._names.items():
            text = text.replace(f"<@{user_id}>", f"@{name}")
        return text


def person_view(user: User) -> PersonView:
    """A person or the bot."""
    return PersonView(id=user.id, name=user.username, bot=user.bot)


def _buttons(components: Sequence[Component]) -> Iterator[ButtonView]:
    for component in components:
        if component.type == BUTTON and component.custom_id and not component.disabled:
            yield ButtonView(label=component.label or "…", custom_id=component.custom_id)
        yield from _buttons(component.components)
