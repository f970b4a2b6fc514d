"""The delivery worker: the handler bound to the log and to Discord's REST API."""

import types

import aiohttp

from services.delivery.discord_channels import LONGEST_WAIT_S, DiscordChannels
from services.delivery.fence import Fence
from services.delivery.handler import DeliveryHandler
from services.delivery.metrics import RATE_LIMITED
from services.runtime.assembly import Context, WorkerSpec
from services.runtime.discord import RestSession

_TOO_MANY_REQUESTS = 429


async def build(context: Context) -> DeliveryHandler:
    """The handler of one process."""
    fence = Fence(context.heartbeat_age_s)
    session = RestSession(context.settings, http_trace=trace(fence), longest_wait_s=LONGEST_WAIT_S)
    handler = DeliveryHandler(
        lambda: DiscordChannels(session.client(), session.limits_all), context.clock, context.log, fence
    )
    context.add_background(session.run)
    context.add_ready_check("discord", session.missing)
    context.on_stop(handler.close)
    return handler


def trace(fence: Fence) -> aiohttp.TraceConfig:
    """Checks the fence before each request and once it has a connection, behind all of discord.py's own waits.

    Also counts what discord.py waits out by itself and tells nobody.
    """

    async def start(
        _: aiohttp.ClientSession, own: types.SimpleNamespace, asked: aiohttp.TraceRequestStartParams
    ) -> None:
        own.changes = asked.method != "GET"
        if own.changes:
            fence.check()

    async def connected(
        _: aiohttp.ClientSession, own: types.SimpleNamespace, __: aiohttp.TraceConnectionCreateEndParams
    ) -> None:
        if own.changes:
            fence.check()

    async def count(_: aiohttp.ClientSession, __: types.SimpleNamespace, answer: aiohttp.TraceRequestEndParams) -> None:
        if answer.response.status == _TOO_MANY_REQUESTS:
            RATE_LIMITED.inc()

    config = aiohttp.TraceConfig()
    config.on_request_start.append(start)
    config.on_connection_create_end.append(connected)
    config.on_request_end.append(count)
    return config


SPEC = WorkerSpec(name="delivery", reads="deliveries", build=build)
