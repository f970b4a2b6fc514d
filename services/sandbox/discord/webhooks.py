"""Webhooks of channels, and sending through them.

Source: https://docs.discord.com/developers/resources/webhook
"""

from collections.abc import Sequence

from services.sandbox.discord.attachments import Upload
from services.sandbox.discord.entities import Channel, Message, User, Webhook
from services.sandbox.discord.errors import (
    DiscordError,
    invalid_form,
    invalid_webhook_token,
    unknown_message,
    unknown_webhook,
)
from services.sandbox.discord.forms import MessageForm
from services.sandbox.discord.posting import Posting
from services.sandbox.discord.state import State

_PER_CHANNEL = 15


class Webhooks:
    def __init__(self, state: State, posting: Posting) -> None:
        self._state = state
        self._posting = posting
        self._webhooks = dict[int, Webhook]()

    def create(self, channel: Channel, owner: User, name: str) -> Webhook:
        if not 1 <= len(name.strip()) <= 80:
            raise invalid_form(("name",), "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 80 in length.")
        if len(self.of(channel)) >= _PER_CHANNEL:
            raise DiscordError(400, 30007, f"Maximum number of webhooks reached ({_PER_CHANNEL})")
        webhook = Webhook(
            id=self._state.snowflakes.make(),
            token=self._state.new_token(),
            name=name.strip(),
            channel_id=channel.id,
            guild_id=channel.guild_id,
            owner=owner,
        )
        self._webhooks[webhook.id] = webhook
        return webhook

    def of(self, channel: Channel) -> list[Webhook]:
        return [webhook for webhook in self._webhooks.values() if webhook.channel_id == channel.id]

    def get(self, webhook_id: int, token: str | None = None) -> Webhook:
        """The webhook; with a token, only if it is the right one."""
        webhook = self._webhooks.get(webhook_id)
        if webhook is None or webhook.channel_id not in self._state.channels:
            raise unknown_webhook()
        if token is not None and token != webhook.token:
            raise invalid_webhook_token()
        return webhook

    def delete(self, webhook: Webhook) -> None:
        del self._webhooks[webhook.id]

    def execute(self, webhook: Webhook, form: MessageForm, uploads: Sequence[Upload]) -> Message:
        channel = self._state.channels[webhook.channel_id]
        author = User(webhook.id, form.username or webhook.name, bot=True, webhook=True)
        return self._posting.send(channel, author, form, uploads, webhook_id=webhook.id)

    def message(self, webhook: Webhook, message_id: int) -> Message:
        message = self._state.channels[webhook.channel_id].messages.get(message_id)
        if message is None or message.webhook_id != webhook.id:
            raise unknown_message()
        return message
