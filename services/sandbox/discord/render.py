"""Objects as Discord's JSON: the same message, member or channel wherever it appears.

Source: https://docs.discord.com/developers/resources
"""

from datetime import UTC, datetime

from services.sandbox.discord.entities import (
    Application,
    Attachment,
    Channel,
    ChannelKind,
    Guild,
    Interaction,
    Message,
    Origin,
    User,
    Webhook,
)
from services.sandbox.discord.jsontypes import JsonObject
from services.sandbox.discord.state import State

_EVERYTHING = str((1 << 50) - 1)
_ATTACHMENT_LIMIT = 10 * 1024 * 1024


def timestamp(unix_ms: int) -> str:
    return datetime.fromtimestamp(unix_ms / 1000, UTC).isoformat()


class Render:
    """Makes payloads; `base_url` is where attachments can be fetched."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.base_url = ""

    def user(self, user: User) -> JsonObject:
        return {
            "id": str(user.id),
            "username": user.username,
            "global_name": None if user.bot else user.username.capitalize(),
            "discriminator": "0000" if user.webhook or user.bot else "0",
            "avatar": None,
            "bot": user.bot,
            "public_flags": 0,
        }

    def own_user(self, application: Application) -> JsonObject:
        return self.user(application.bot) | {"verified": True, "mfa_enabled": False, "flags": 0, "email": None}

    def member(self, guild: Guild, user: User, *, with_user: bool = True) -> JsonObject:
        member: JsonObject = {
            "roles": [],
            "nick": None,
            "avatar": None,
            "joined_at": timestamp(guild.joined_ms),
            "premium_since": None,
            "communication_disabled_until": None,
            "deaf": False,
            "mute": False,
            "pending": False,
            "flags": 0,
        }
        return member | {"user": self.user(user)} if with_user else member

    def application(self, application: Application) -> JsonObject:
        return {
            "id": str(application.id),
            "name": application.bot.username,
            "icon": None,
            "description": "",
            "summary": "",
            "bot_public": False,
            "bot_require_code_grant": False,
            "verify_key": "0" * 64,
            "flags": application.flags,
            "owner": self.user(application.owner),
            "bot": self.user(application.bot),
            "team": None,
            "interactions_endpoint_url": None,
        }

    def guild(self, guild: Guild) -> JsonObject:
        return {
            "id": str(guild.id),
            "name": guild.name,
            "icon": None,
            "splash": None,
            "banner": None,
            "description": None,
            "owner_id": str(guild.owner_id),
            "afk_channel_id": None,
            "afk_timeout": 300,
            "verification_level": 0,
            "default_message_notifications": 0,
            "explicit_content_filter": 0,
            "roles": [self._everyone(guild)],
            "emojis": [],
            "stickers": [],
            "features": [],
            "mfa_level": 0,
            "application_id": None,
            "system_channel_id": None,
            "system_channel_flags": 0,
            "rules_channel_id": None,
            "public_updates_channel_id": None,
            "max_members": 250_000,
            "premium_tier": 0,
            "premium_subscription_count": 0,
            "preferred_locale": "en-US",
            "nsfw_level": 0,
            "premium_progress_bar_enabled": False,
        }

    def full_guild(self, guild: Guild, *, all_members: bool) -> JsonObject:
        """What GUILD_CREATE tells; without the members intent the bot is the only member told."""
        told = guild.members.values() if all_members else (self._state.application.bot,)
        return self.guild(guild) | {
            "joined_at": timestamp(guild.joined_ms),
            "large": False,
            "unavailable": False,
            "member_count": len(guild.members),
            "members": [self.member(guild, user) for user in told],
            "channels": [self.channel(self._state.channels[channel_id]) for channel_id in guild.channel_ids],
            "threads": [],
            "voice_states": [],
            "presences": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
        }

    def channel(self, channel: Channel) -> JsonObject:
        last = next(reversed(channel.messages), None)
        payload: JsonObject = {
            "id": str(channel.id),
            "type": int(channel.kind),
            "last_message_id": None if last is None else str(last),
            "flags": 0,
        }
        if channel.kind is ChannelKind.DM:
            return payload | {"recipients": [self.user(channel.recipient)] if channel.recipient else []}
        of_guild: JsonObject = {
            "guild_id": str(channel.guild_id),
            "name": channel.name,
            "position": channel.position,
            "permission_overwrites": [],
            "parent_id": None,
            "topic": None,
            "nsfw": False,
            "rate_limit_per_user": 0,
        }
        return payload | of_guild

    def message(self, message: Message, *, nested: bool = False) -> JsonObject:
        """A message; `nested` is one inside a reply, which does not show what it replies to."""
        payload: JsonObject = {
            "id": str(message.id),
            "channel_id": str(message.channel_id),
            "type": int(message.kind),
            "author": self.user(message.author),
            "content": message.content,
            "timestamp": timestamp(message.created_ms),
            "edited_timestamp": None if message.edited_ms is None else timestamp(message.edited_ms),
            "tts": False,
            "mention_everyone": message.mention_everyone,
            "mentions": [self.user(user) for user in message.mentions],
            "mention_roles": [],
            "attachments": [self._attachment(message, attachment) for attachment in message.attachments],
            "embeds": message.embeds,
            "components": message.components,
            "pinned": False,
            "flags": message.flags,
        }
        if message.webhook_id is not None:
            payload["webhook_id"] = str(message.webhook_id)
        if message.application_id is not None:
            payload["application_id"] = str(message.application_id)
        if message.origin is not None:
            payload["interaction_metadata"] = self._origin(message.origin)
        if message.reply_to is not None:
            payload["message_reference"] = self._reference(message, message.reply_to)
            if not nested:
                channel = self._state.channels.get(message.channel_id)
                target = None if channel is None else channel.messages.get(message.reply_to)
                payload["referenced_message"] = None if target is None else self.message(target, nested=True)
        return payload

    def message_event(self, message: Message) -> JsonObject:
        """A message as the gateway tells it: with its guild, and its author and mentions as members."""
        payload = self.message(message)
        guild = self._state.guilds.get(message.guild_id or 0)
        if guild is None:
            return payload
        payload["guild_id"] = str(guild.id)
        if message.webhook_id is None:
            payload["member"] = self.member(guild, message.author, with_user=False)
        payload["mentions"] = [
            self.user(user) | {"member": self.member(guild, user, with_user=False)} for user in message.mentions
        ]
        return payload

    def interaction(self, interaction: Interaction) -> JsonObject:
        application = self._state.application
        channel = interaction.channel
        payload: JsonObject = {
            "id": str(interaction.id),
            "application_id": str(application.id),
            "type": int(interaction.kind),
            "token": interaction.token,
            "version": 1,
            "data": interaction.data | self._resolved(interaction),
            "channel_id": str(channel.id),
            "channel": self.channel(channel) | {"permissions": _EVERYTHING},
            "locale": "en-US",
            "app_permissions": _EVERYTHING,
            "entitlements": [],
            "authorizing_integration_owners": {"0": str(channel.guild_id or 0)},
            "attachment_size_limit": _ATTACHMENT_LIMIT,
            "context": 1 if channel.guild_id is None else 0,
        }
        if interaction.message is not None:
            payload["message"] = self.message(interaction.message)
        guild = self._state.guilds.get(channel.guild_id or 0)
        if guild is None:
            return payload | {"user": self.user(interaction.user)}
        of_guild: JsonObject = {
            "guild_id": str(guild.id),
            "guild_locale": "en-US",
            "guild": {"id": str(guild.id), "locale": "en-US", "features": []},
            "member": self.member(guild, interaction.user) | {"permissions": _EVERYTHING},
        }
        return payload | of_guild

    def _resolved(self, interaction: Interaction) -> JsonObject:
        users = [named for named in interaction.named if isinstance(named, User)]
        channels = [named for named in interaction.named if isinstance(named, Channel)]
        if not interaction.named:
            return {}
        guild = self._state.guilds.get(interaction.channel.guild_id or 0)
        members = {} if guild is None else {str(user.id): self.member(guild, user, with_user=False) for user in users}
        resolved: JsonObject = {
            "users": {str(user.id): self.user(user) for user in users},
            "members": {user_id: member | {"permissions": _EVERYTHING} for user_id, member in members.items()},
            "channels": {str(one.id): self.channel(one) | {"permissions": _EVERYTHING} for one in channels},
        }
        return {"resolved": resolved}

    def webhook(self, webhook: Webhook) -> JsonObject:
        return {
            "id": str(webhook.id),
            "type": 1,
            "name": webhook.name,
            "avatar": None,
            "channel_id": str(webhook.channel_id),
            "guild_id": None if webhook.guild_id is None else str(webhook.guild_id),
            "application_id": str(self._state.application.id),
            "token": webhook.token,
            "user": self.user(webhook.owner),
        }

    def _everyone(self, guild: Guild) -> JsonObject:
        return {
            "id": str(guild.id),
            "name": "@everyone",
            "color": 0,
            "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
            "hoist": False,
            "position": 0,
            "permissions": _EVERYTHING,
            "managed": False,
            "mentionable": False,
            "flags": 0,
        }

    def _attachment(self, message: Message, attachment: Attachment) -> JsonObject:
        url = f"{self.base_url}/attachments/{message.channel_id}/{attachment.id}/{attachment.filename}"
        payload: JsonObject = {
            "id": str(attachment.id),
            "filename": attachment.filename,
            "size": attachment.size,
            "url": url,
            "proxy_url": url,
            "content_type": attachment.content_type,
        }
        return payload if attachment.description is None else payload | {"description": attachment.description}

    def _reference(self, message: Message, target_id: int) -> JsonObject:
        reference: JsonObject = {"type": 0, "message_id": str(target_id), "channel_id": str(message.channel_id)}
        return reference if message.guild_id is None else reference | {"guild_id": str(message.guild_id)}

    def _origin(self, origin: Origin) -> JsonObject:
        return {
            "id": str(origin.id),
            "type": int(origin.kind),
            "user": self.user(origin.user),
            "authorizing_integration_owners": {},
        }
