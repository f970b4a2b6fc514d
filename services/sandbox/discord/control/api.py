"""The control API's routes."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

import orjson
from aiohttp import web
from pydantic import ValidationError

from services.sandbox.discord.attachments import Upload
from services.sandbox.discord.control import requests
from services.sandbox.discord.control.view import channel_view, guild_view, state_view, user_view
from services.sandbox.discord.entities import Interaction, Message
from services.sandbox.discord.errors import DiscordError
from services.sandbox.discord.faults import Fault, Faults
from services.sandbox.discord.gateway.service import Gateway
from services.sandbox.discord.jsontypes import JsonObject
from services.sandbox.discord.world import World

_PREFIX = "/_sandbox"
_KEEP_ALIVE_S = 15.0
_MESSAGES_SHOWN = 100

_WantedT = TypeVar("_WantedT", bound=requests.Wanted)
_Handler = Callable[[_WantedT], JsonObject]


class Control:
    def __init__(self, world: World, faults: Faults, gateway: Gateway) -> None:
        self._world = world
        self._faults = faults
        self._gateway = gateway

    def add_to(self, app: web.Application) -> None:
        router = app.router
        router.add_get(_PREFIX + "/health", self._health)
        router.add_get(_PREFIX + "/state", self._state)
        router.add_get(_PREFIX + "/events", self._events)
        router.add_get(_PREFIX + "/channels/{channel}/messages", _answering(self._messages))
        router.add_delete(_PREFIX + "/channels/{channel}", _answering(self._delete_channel))
        router.add_post(_PREFIX + "/channels/{channel}/deny", _answering(self._deny))
        router.add_patch(_PREFIX + "/messages/{message}", _answering(self._edit))
        router.add_delete(_PREFIX + "/messages/{message}", _answering(self._delete_message))
        router.add_delete(_PREFIX + "/faults", _answering(self._clear_faults))
        router.add_delete(_PREFIX + "/faults/{fault}", _answering(self._remove_fault))
        router.add_post(_PREFIX + "/disconnect", _answering(self._disconnect))
        router.add_post(_PREFIX + "/users", _doing(requests.NewUser, self._add_user))
        router.add_post(_PREFIX + "/guilds", _doing(requests.NewGuild, self._add_guild))
        router.add_post(_PREFIX + "/channels", _doing(requests.NewChannel, self._add_channel))
        router.add_post(_PREFIX + "/dms", _doing(requests.NewDm, self._open_dm))
        router.add_post(_PREFIX + "/messages", _doing(requests.NewMessage, self._post))
        router.add_post(_PREFIX + "/typing", _doing(requests.Typing, self._type))
        router.add_post(_PREFIX + "/buttons", _doing(requests.Press, self._press))
        router.add_post(_PREFIX + "/commands", _doing(requests.Use, self._use))
        router.add_post(_PREFIX + "/modals", _doing(requests.Submit, self._submit))
        router.add_post(_PREFIX + "/faults", _doing(requests.NewFault, self._add_fault))
        router.add_post(_PREFIX + "/away", _doing(requests.GoAway, self._go_away))

    async def _health(self, request: web.Request) -> web.Response:
        del request
        return _json({"status": "ok", "seq": self._world.journal.last_seq})

    async def _state(self, request: web.Request) -> web.Response:
        del request
        now = asyncio.get_running_loop().time()
        return _json(state_view(self._world, self._gateway.sessions, self._faults, now))

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """The journal as server-sent events; a reader goes on after the id that it saw last."""
        after = request.query.get("after") or request.headers.get("Last-Event-ID") or "0"
        if not after.isdecimal():
            return _json({"error": "after: a number is wanted"}, 400)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        reader = asyncio.create_task(self._write_events(response, int(after)))
        alive = asyncio.create_task(_keep_alive(response))
        try:
            await asyncio.wait((reader, alive), return_when=asyncio.FIRST_COMPLETED)
        finally:
            reader.cancel()
            alive.cancel()
        return response

    async def _write_events(self, response: web.StreamResponse, after: int) -> None:
        with suppress(ConnectionError):
            async for entry in self._world.journal.follow(after):
                data = orjson.dumps(entry.payload())
                await response.write(b"id: %d\nevent: %s\ndata: %s\n\n" % (entry.seq, entry.kind.encode(), data))

    async def _messages(self, request: web.Request) -> JsonObject:
        channel = self._world.channel(request.match_info["channel"])
        limit = int(request.query.get("limit", _MESSAGES_SHOWN))
        shown = self._world.messages(channel)[-limit:] if limit > 0 else []
        return {"messages": [self._world.journal.message(message) for message in shown]}

    async def _delete_channel(self, request: web.Request) -> JsonObject:
        channel = self._world.channel(request.match_info["channel"])
        self._world.delete_channel(channel)
        return {"channel": channel_view(channel)}

    async def _deny(self, request: web.Request) -> JsonObject:
        channel = self._world.channel(request.match_info["channel"])
        wanted = requests.Deny.model_validate_json(await request.read())
        self._world.deny(channel, wanted.code)
        return {"channel": channel_view(channel)}

    async def _edit(self, request: web.Request) -> JsonObject:
        wanted = requests.Edit.model_validate_json(await request.read())
        message = self._message(request.match_info["message"])
        return self._shown(self._world.edit_as(self._world.user(wanted.user), message, wanted.content))

    async def _delete_message(self, request: web.Request) -> JsonObject:
        message = self._message(request.match_info["message"])
        self._world.delete(message)
        return self._shown(message)

    async def _clear_faults(self, request: web.Request) -> JsonObject:
        del request
        self._faults.clear()
        return {"faults": []}

    async def _remove_fault(self, request: web.Request) -> JsonObject:
        if not self._faults.remove(int(request.match_info["fault"])):
            raise LookupError("there is no such fault")
        return {"faults": self._faults.listed()}

    async def _disconnect(self, request: web.Request) -> JsonObject:
        wanted = requests.Disconnect.model_validate_json(await request.read() or b"{}")
        parted = await self._gateway.disconnect(
            wanted.how, code=wanted.code, resumable=wanted.resumable, shard=wanted.shard
        )
        return {"disconnected": parted}

    def _add_user(self, wanted: requests.NewUser) -> JsonObject:
        guild = None if wanted.guild is None else self._world.guild(wanted.guild)
        return {"user": user_view(self._world.add_user(wanted.username, guild))}

    def _add_guild(self, wanted: requests.NewGuild) -> JsonObject:
        members = tuple(self._world.user(name) for name in wanted.members)
        return {"guild": guild_view(self._world, self._world.add_guild(wanted.name, members))}

    def _add_channel(self, wanted: requests.NewChannel) -> JsonObject:
        guild = self._world.first_guild if wanted.guild is None else self._world.guild(wanted.guild)
        return {"channel": channel_view(self._world.add_channel(guild, wanted.name))}

    def _open_dm(self, wanted: requests.NewDm) -> JsonObject:
        return {"channel": channel_view(self._world.open_dm(self._world.user(wanted.user)))}

    def _post(self, wanted: requests.NewMessage) -> JsonObject:
        world = self._world
        target = None if wanted.reply_to is None else self._message(wanted.reply_to)
        files = tuple(
            Upload(index, file.filename, file.content.encode(), "text/plain; charset=utf-8")
            for index, file in enumerate(wanted.files)
        )
        channel = world.channel(wanted.channel)
        return self._shown(world.post_as(world.user(wanted.user), channel, wanted.content, target, files))

    def _type(self, wanted: requests.Typing) -> JsonObject:
        self._world.type_as(self._world.user(wanted.user), self._world.channel(wanted.channel))
        return {}

    def _press(self, wanted: requests.Press) -> JsonObject:
        user, message = self._world.user(wanted.user), self._message(wanted.message)
        return _interaction(self._world.press_button(user, message, wanted.custom_id))

    def _use(self, wanted: requests.Use) -> JsonObject:
        user, channel = self._world.user(wanted.user), self._world.channel(wanted.channel)
        return _interaction(self._world.use_command(user, channel, wanted.name, wanted.options))

    def _submit(self, wanted: requests.Submit) -> JsonObject:
        shown = self._world.interactions.get(int(wanted.interaction))
        if shown is None:
            raise LookupError(f"there is no interaction {wanted.interaction}")
        return _interaction(self._world.submit_modal(self._world.user(wanted.user), shown, wanted.values))

    def _add_fault(self, wanted: requests.NewFault) -> JsonObject:
        return {"id": self._faults.add(Fault(**wanted.model_dump()))}

    def _go_away(self, wanted: requests.GoAway) -> JsonObject:
        self._gateway.go_away(wanted.seconds, wanted.how)
        return {}

    def _message(self, message_id: str) -> Message:
        return self._world.message(int(message_id))

    def _shown(self, message: Message) -> JsonObject:
        return {"message": self._world.journal.message(message)}


def _interaction(interaction: Interaction) -> JsonObject:
    return {"interaction": {"id": str(interaction.id), "type": int(interaction.kind)}}


def _doing(wanted: type[_WantedT], handler: _Handler[_WantedT]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def read_and_do(request: web.Request) -> JsonObject:
        return handler(wanted.model_validate_json(await request.read()))

    return _answering(read_and_do)


def _answering(
    handler: Callable[[web.Request], Awaitable[JsonObject]],
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        # A page of another origin can post forms and plain text unasked, but not JSON: so nothing else is taken.
        if request.body_exists and request.content_type != "application/json":
            return _json({"error": "the body must be application/json"}, 415)
        try:
            return _json(await handler(request))
        except ValidationError as error:
            details = error.errors(include_url=False, include_input=False, include_context=False)
            reasons = [f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in details]
            return _json({"error": "; ".join(reasons)}, 400)
        except DiscordError as error:
            return _json({"error": str(error)}, 400)
        except LookupError as error:
            return _json({"error": str(error)}, 404)
        except ValueError:
            return _json({"error": "an id must be a number"}, 400)

    return answer


async def _keep_alive(response: web.StreamResponse) -> None:
    with suppress(ConnectionError):
        while True:
            await asyncio.sleep(_KEEP_ALIVE_S)
            await response.write(b": keep-alive\n\n")


def _json(body: JsonObject, status: int = 200) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(body), content_type="application/json")
