"""Uses of the bot by people: commands, buttons and forms, what the bot answers, and until when it may.

Source: https://docs.discord.com/developers/interactions/receiving-and-responding
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence

from services.sandbox.discord.attachments import Upload
from services.sandbox.discord.commands import use_of
from services.sandbox.discord.components import find_usable
from services.sandbox.discord.entities import (
    EPHEMERAL,
    LOADING,
    CallbackKind,
    Channel,
    Interaction,
    InteractionKind,
    Message,
    MessageKind,
    User,
)
from services.sandbox.discord.errors import (
    already_acknowledged,
    invalid_form,
    invalid_webhook_token,
    unknown_interaction,
    unknown_message,
    unknown_webhook,
)
from services.sandbox.discord.events import InteractionAnswered, InteractionCreated
from services.sandbox.discord.forms import MessageForm
from services.sandbox.discord.jsontypes import JsonObject, JsonValue
from services.sandbox.discord.posting import Posting
from services.sandbox.discord.state import State

_ANSWER_WITHIN_MS = 3_000
_TOKEN_VALID_MS = 900_000
_KEPT = 1_000


class Interactions:
    """The newest 1,000 interactions, by id and by token, and the bot's commands, by name."""

    def __init__(self, state: State, posting: Posting) -> None:
        self._state = state
        self._posting = posting
        self._by_token = OrderedDict[str, Interaction]()
        self.commands = dict[str, JsonObject]()

    def press(self, user: User, message: Message, custom_id: str) -> Interaction:
        """Press a button; raises LookupError if the message has no such button that can be pressed."""
        component = find_usable(message.components, custom_id)
        if component is None:
            raise LookupError(f"message {message.id} has no button {custom_id!r} that can be pressed")
        data: JsonObject = {"custom_id": custom_id, "component_type": component["type"], "id": component["id"]}
        channel = self._state.channels[message.channel_id]
        return self._create(InteractionKind.COMPONENT, user, channel, data, message)

    def use_command(self, user: User, channel: Channel, name: str, options: Mapping[str, JsonValue]) -> Interaction:
        """Use a slash command, `name` with its groups ("draft approve"), users and channels given by id.

        Raises LookupError for what is not registered or does not exist.
        """
        use = use_of(self.commands, name, options)
        known = self._state.users | self._state.channels
        named = tuple(known[named_id] for named_id in use.named)
        return self._create(InteractionKind.COMMAND, user, channel, use.data, None, named)

    def submit_modal(self, user: User, shown: Interaction, values: Mapping[str, str]) -> Interaction:
        """Send the form that an interaction's answer showed; `values` are its text inputs by custom id."""
        if shown.modal is None:
            raise LookupError(f"interaction {shown.id} showed no form")
        inputs: list[JsonValue] = [
            {"type": 1, "components": [{"type": 4, "custom_id": custom_id, "value": value}]}
            for custom_id, value in values.items()
        ]
        data: JsonObject = {"custom_id": shown.modal.get("custom_id"), "components": inputs}
        return self._create(InteractionKind.MODAL, user, shown.channel, data, shown.message)

    def get(self, interaction_id: int) -> Interaction | None:
        return next((found for found in self._by_token.values() if found.id == interaction_id), None)

    def answer(
        self,
        interaction_id: int,
        token: str,
        kind: CallbackKind,
        data: MessageForm,
        modal: JsonObject,
        uploads: Sequence[Upload],
    ) -> Interaction:
        """The bot's first answer, within 3 seconds."""
        interaction = self._by_token.get(token)
        if interaction is None or interaction.id != interaction_id:
            raise unknown_interaction()
        if interaction.answered is not None:
            raise already_acknowledged()
        if self._state.now_ms() - interaction.created_ms > _ANSWER_WITHIN_MS:
            raise unknown_interaction()
        self._state.readable(interaction.channel.id)
        message = interaction.message
        match kind:
            case CallbackKind.MESSAGE:
                message = self._say(interaction, data, uploads)
            case CallbackKind.DEFERRED_MESSAGE:
                message = self._think(interaction, data)
            case CallbackKind.UPDATE | CallbackKind.DEFERRED_UPDATE:
                if message is None:
                    raise invalid_form(
                        ("type",), "INTERACTION_CALLBACK_TYPE_INVALID", "Invalid interaction callback type"
                    )
                if kind is CallbackKind.UPDATE:
                    self._posting.edit(message, message.author, data, uploads)
            case CallbackKind.MODAL:
                interaction.modal = modal
        interaction.answered = kind
        if message is not None:
            interaction.original_id = message.id
        self._state.emit(InteractionAnswered(interaction, kind, message))
        return interaction

    def by_token(self, token: str) -> Interaction:
        """The answered interaction whose token is valid still."""
        interaction = self._by_token.get(token)
        if interaction is None or self._state.now_ms() - interaction.created_ms > _TOKEN_VALID_MS:
            raise invalid_webhook_token()
        if interaction.answered is None:
            raise unknown_webhook()
        self._state.readable(interaction.channel.id)
        return interaction

    def follow_up(self, interaction: Interaction, form: MessageForm, uploads: Sequence[Upload]) -> Message:
        """Another message; the first one after a deferred answer takes that answer's place."""
        if interaction.answered is CallbackKind.DEFERRED_MESSAGE:
            original = interaction.channel.messages.get(interaction.original_id or 0)
            if original is not None and original.flags & LOADING:
                return self.edit(original, form, uploads)
        return self._say(interaction, form, uploads)

    def message(self, interaction: Interaction, message_id: int | None) -> Message:
        """A message of this interaction; None is the original answer."""
        found = interaction.channel.messages.get(message_id or interaction.original_id or 0)
        original = found is not None and found.id == interaction.original_id
        if found is None or not (original or (found.origin is not None and found.origin.id == interaction.id)):
            raise unknown_message()
        return found

    def edit(self, message: Message, form: MessageForm, uploads: Sequence[Upload]) -> Message:
        message.flags &= ~LOADING
        return self._posting.edit(message, message.author, form, uploads)

    def _create(
        self,
        kind: InteractionKind,
        user: User,
        channel: Channel,
        data: JsonObject,
        message: Message | None,
        named: tuple[User | Channel, ...] = (),
    ) -> Interaction:
        interaction = Interaction(
            id=self._state.snowflakes.make(),
            token=self._state.new_token(),
            kind=kind,
            user=user,
            channel=channel,
            data=data,
            created_ms=self._state.now_ms(),
            message=message,
            named=named,
        )
        self._by_token[interaction.token] = interaction
        if len(self._by_token) > _KEPT:
            self._by_token.popitem(last=False)
        self._state.emit(InteractionCreated(interaction))
        return interaction

    def _say(self, interaction: Interaction, form: MessageForm, uploads: Sequence[Upload]) -> Message:
        visible_to = interaction.user.id if (form.flags or 0) & EPHEMERAL else None
        bot = self._state.application.bot
        origin, webhook_id = interaction.origin, self._state.application.id
        return self._posting.send(
            interaction.channel, bot, form, uploads, webhook_id=webhook_id, origin=origin, visible_to=visible_to
        )

    def _think(self, interaction: Interaction, form: MessageForm) -> Message:
        ephemeral = (form.flags or 0) & EPHEMERAL
        message = Message(
            id=self._state.snowflakes.make(),
            channel_id=interaction.channel.id,
            guild_id=interaction.channel.guild_id,
            author=self._state.application.bot,
            content="",
            created_ms=self._state.now_ms(),
            kind=MessageKind.COMMAND if interaction.kind is InteractionKind.COMMAND else MessageKind.DEFAULT,
            flags=LOADING | ephemeral,
            webhook_id=self._state.application.id,
            application_id=self._state.application.id,
            origin=interaction.origin,
            visible_to=interaction.user.id if ephemeral else None,
        )
        self._posting.add(interaction.channel, message)
        return message
