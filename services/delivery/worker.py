"""The delivery worker: the handler bound to the log and to Discord's REST API."""

import types

import aiohttp

from services.delivery.discord_channels import DiscordChannels
from services.delivery.handler import DeliveryHandler
from services.delivery.metrics import RATE_LIMITED
from services.runtime.assembly import Context, WorkerSpec
from services.runtime.discord import RestSession

_TOO_MANY_REQUESTS = 429


async def build(context: Context) -> DeliveryHandler:
    """The handler of one process."""
    session = RestSession(context.settings, http_trace=_trace())
    handler = DeliveryHandler(lambda: DiscordChannels(session.client()), context.clock)
    context.add_background(session.run)
    context.add_ready_check("discord", session.missing)
    context.on_stop(handler.close)
    return handler


def _trace() -> aiohttp.TraceConfig:
    """Counts what discord.py waits out by itself and tells nobody."""

    async def count(_: aiohttp.ClientSession, __: types.SimpleNamespace, answer: aiohttp.TraceRequestEndParams) -> None:
        if answer.response.status == _TOO_MANY_REQUESTS:
            RATE_LIMITED.inc()

    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(count)
    return trace


SPEC = WorkerSpec(name="delivery", reads="deliveries", build=build)
