"""Gateway sessions: each keeps its newest events, so that a client that comes back gets what it missed.

Source: https://docs.discord.com/developers/events/gateway#sessions
"""

import asyncio
from collections import OrderedDict, deque
from dataclasses import dataclass, field

import orjson

from services.sandbox.discord.entities import HIDDEN, Channel, Guild, Message
from services.sandbox.discord.events import (
    ChannelCreated,
    ChannelDeleted,
    GuildCreated,
    InteractionAnswered,
    InteractionCreated,
    MessageCreated,
    MessageDeleted,
    MessageEdited,
    TypingStarted,
    WorldEvent,
)
from services.sandbox.discord.gateway import intents as needs
from services.sandbox.discord.jsontypes import JsonObject
from services.sandbox.discord.snowflakes import shard_of
from services.sandbox.discord.world import World

_EVENTS_KEPT = 2_000
_SESSIONS_KEPT = 64


@dataclass(slots=True, eq=False)
class Session:
    """`events` are encoded dispatches with their sequence; `told` wakes the
    connection that sends them, which is `holder`."""

    id: str
    shard: int
    shard_count: int
    intents: int
    seq: int = 0
    events: deque[tuple[int, bytes]] = field(default_factory=lambda: deque[tuple[int, bytes]](maxlen=_EVENTS_KEPT))
    told: asyncio.Event = field(default_factory=asyncio.Event)
    holder: object | None = None

    def tell(self, kind: str, data: JsonObject) -> None:
        self.seq += 1
        self.events.append((self.seq, orjson.dumps({"op": 0, "t": kind, "s": self.seq, "d": data})))
        self.told.set()

    def keeps_after(self, seq: int) -> bool:
        """Whether every event after `seq` is kept."""
        oldest = self.events[0][0] if self.events else 1
        return oldest - 1 <= seq <= self.seq

    def after(self, seq: int) -> list[tuple[int, bytes]]:
        newer = list[tuple[int, bytes]]()
        for event in reversed(self.events):
            if event[0] <= seq:
                break
            newer.append(event)
        return newer[::-1]


class Sessions:
    """All sessions; one that is not connected is kept until 64 newer ones exist."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._sessions = OrderedDict[str, Session]()
        self.started = 0
        world.state.listen(self._on_event)

    def start(self, shard: int, shard_count: int, intents: int, resume_url: str) -> Session:
        world = self._world
        application = world.state.application
        session = Session(f"{world.state.snowflakes.make():032x}", shard, shard_count, intents)
        guilds = [guild for guild in world.state.guilds.values() if shard_of(guild.id, shard_count) == shard]
        session.tell(
            "READY",
            {
                "v": 10,
                "user": world.render.own_user(application),
                "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
                "session_id": session.id,
                "resume_gateway_url": resume_url,
                "shard": [shard, shard_count],
                "application": {"id": str(application.id), "flags": application.flags},
            },
        )
        if intents & needs.GUILDS:
            for guild in guilds:
                self._tell_guild(session, guild)
        self._sessions[session.id] = session
        self.started += 1
        if len(self._sessions) > _SESSIONS_KEPT:
            oldest = next((old for old in self._sessions.values() if old.holder is None), None)
            if oldest is not None:
                self.forget(oldest)
        return session

    def resumable(self, session_id: str, seq: int) -> Session | None:
        session = self._sessions.get(session_id)
        return session if session is not None and session.keeps_after(seq) else None

    def forget(self, session: Session) -> None:
        self._sessions.pop(session.id, None)

    def all(self) -> list[Session]:
        return list(self._sessions.values())

    def tell_members(self, session: Session, guild: Guild, wanted: JsonObject) -> None:
        """Answer to a request for members by name prefix or ids."""
        ids = wanted.get("user_ids")
        query = str(wanted.get("query") or "")
        limit = wanted.get("limit")
        if isinstance(ids, (list, tuple, str, int)):
            listed = {str(user_id) for user_id in (ids if isinstance(ids, (list, tuple)) else (ids,))}
            found = [user for user in guild.members.values() if str(user.id) in listed]
        else:
            found = [user for user in guild.members.values() if user.username.startswith(query)]
        found = found[: limit if isinstance(limit, int) and limit > 0 else None]
        members = [self._world.render.member(guild, user) for user in found]
        chunk: JsonObject = {
            "guild_id": str(guild.id),
            "members": members,
            "chunk_index": 0,
            "chunk_count": 1,
            "not_found": [],
            "nonce": wanted.get("nonce"),
        }
        session.tell("GUILD_MEMBERS_CHUNK", chunk)

    def _tell_guild(self, session: Session, guild: Guild) -> None:
        all_members = bool(session.intents & needs.GUILD_MEMBERS)
        session.tell("GUILD_CREATE", self._world.render.full_guild(guild, all_members=all_members))

    def _of_guild(self, guild_id: int | None, intent: int, dm_intent: int) -> list[Session]:
        """The sessions that get an event of a guild, or for None of a DM; these go to shard 0."""
        needed = intent if guild_id is not None else dm_intent
        return [
            session
            for session in self._sessions.values()
            if session.intents & needed == needed
            and session.shard == (0 if guild_id is None else shard_of(guild_id, session.shard_count))
        ]

    def _on_event(self, event: WorldEvent) -> None:
        render = self._world.render
        match event:
            case MessageCreated(message):
                self._tell_message("MESSAGE_CREATE", message, message.nonce)
            case MessageEdited(message):
                self._tell_message("MESSAGE_UPDATE", message, None)
            case MessageDeleted(message):
                self._tell_deletion(message)
            case TypingStarted(channel, user, at_ms):
                data: JsonObject = {"channel_id": str(channel.id), "user_id": str(user.id), "timestamp": at_ms // 1000}
                guild = self._world.state.guilds.get(channel.guild_id or 0)
                if guild is not None:
                    data |= {"guild_id": str(guild.id), "member": render.member(guild, user)}
                for session in self._of_guild(
                    channel.guild_id, needs.GUILD_MESSAGE_TYPING, needs.DIRECT_MESSAGE_TYPING
                ):
                    session.tell("TYPING_START", data)
            case InteractionCreated(interaction):
                payload = render.interaction(interaction)
                for session in self._of_guild(interaction.channel.guild_id, 0, 0):
                    session.tell("INTERACTION_CREATE", payload)
            case InteractionAnswered():
                pass
            case ChannelCreated(channel):
                self._tell_channel("CHANNEL_CREATE", channel)
            case ChannelDeleted(channel):
                self._tell_channel("CHANNEL_DELETE", channel)
            case GuildCreated(guild):
                for session in self._of_guild(guild.id, needs.GUILDS, 0):
                    self._tell_guild(session, guild)

    def _hidden(self, channel_id: int) -> bool:
        channel = self._world.state.channels.get(channel_id)
        return channel is not None and channel.denied == HIDDEN

    def _tell_message(self, kind: str, message: Message, nonce: str | int | None) -> None:
        if message.visible_to is not None or self._hidden(message.channel_id):
            return
        payload = self._world.render.message_event(message)
        if nonce is not None:
            payload["nonce"] = nonce
        bot_id = self._world.bot.id
        for session in self._of_guild(message.guild_id, needs.GUILD_MESSAGES, needs.DIRECT_MESSAGES):
            session.tell(kind, needs.with_allowed_content(payload, message, session.intents, bot_id))

    def _tell_deletion(self, message: Message) -> None:
        if message.visible_to is not None or self._hidden(message.channel_id):
            return
        data: JsonObject = {"id": str(message.id), "channel_id": str(message.channel_id)}
        if message.guild_id is not None:
            data["guild_id"] = str(message.guild_id)
        for session in self._of_guild(message.guild_id, needs.GUILD_MESSAGES, needs.DIRECT_MESSAGES):
            session.tell("MESSAGE_DELETE", data)

    def _tell_channel(self, kind: str, channel: Channel) -> None:
        if channel.guild_id is not None:
            for session in self._of_guild(channel.guild_id, needs.GUILDS, 0):
                session.tell(kind, self._world.render.channel(channel))
