"""The world as the control API shows it."""

from services.sandbox.discord.entities import Channel, ChannelKind, Guild, User
from services.sandbox.discord.faults import Faults
from services.sandbox.discord.gateway.sessions import Sessions
from services.sandbox.discord.jsontypes import JsonObject
from services.sandbox.discord.world import World


def user_view(user: User) -> JsonObject:
    return {"id": str(user.id), "username": user.username, "bot": user.bot}


def channel_view(channel: Channel) -> JsonObject:
    return {
        "id": str(channel.id),
        "name": channel.name,
        "guild_id": None if channel.guild_id is None else str(channel.guild_id),
        "dm": channel.kind is ChannelKind.DM,
        "denied": channel.denied,
        "messages": len(channel.messages),
    }


def guild_view(world: World, guild: Guild) -> JsonObject:
    return {
        "id": str(guild.id),
        "name": guild.name,
        "members": [str(user_id) for user_id in guild.members],
        "channels": [channel_view(world.state.channels[channel_id]) for channel_id in guild.channel_ids],
    }


def state_view(world: World, sessions: Sessions, faults: Faults, now: float) -> JsonObject:
    state = world.state
    return {
        "seq": world.journal.last_seq,
        "application_id": str(state.application.id),
        "bot": user_view(world.bot),
        "users": [user_view(user) for user in state.users.values()],
        "guilds": [guild_view(world, guild) for guild in state.guilds.values()],
        "dms": [channel_view(channel) for channel in state.channels.values() if channel.kind is ChannelKind.DM],
        "commands": list(world.interactions.commands.values()),
        "sessions": [
            {
                "id": session.id,
                "shard": session.shard,
                "shard_count": session.shard_count,
                "connected": session.holder is not None,
                "seq": session.seq,
            }
            for session in sessions.all()
        ],
        "faults": faults.listed(),
        "away": faults.away(now),
    }
