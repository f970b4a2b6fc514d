"""What a session may see: the intent that each event needs, and what is left of a message without its content.

Source: https://docs.discord.com/developers/events/gateway#gateway-intents
"""

from services.sandbox.discord.entities import Message
from services.sandbox.discord.jsontypes import JsonObject

GUILDS = 1 << 0
GUILD_MEMBERS = 1 << 1
GUILD_PRESENCES = 1 << 8
GUILD_MESSAGES = 1 << 9
GUILD_MESSAGE_TYPING = 1 << 11
DIRECT_MESSAGES = 1 << 12
DIRECT_MESSAGE_TYPING = 1 << 14
MESSAGE_CONTENT = 1 << 15
PRIVILEGED = GUILD_MEMBERS | GUILD_PRESENCES | MESSAGE_CONTENT
KNOWN = (1 << 26) - 1

_CONTENT: JsonObject = {"content": "", "embeds": [], "attachments": [], "components": []}


def with_allowed_content(payload: JsonObject, message: Message, intents: int, bot_id: int) -> JsonObject:
    """Without the intent, a guild message has its content only if the bot wrote it or is mentioned in it."""
    mentioned = any(user.id == bot_id for user in message.mentions)
    if intents & MESSAGE_CONTENT or message.guild_id is None or message.author.id == bot_id or mentioned:
        return payload
    return payload | _CONTENT
