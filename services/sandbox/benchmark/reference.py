"""The reference: the same turns in one process without a broker, by the same client, normalizer and Discord calls.

Reads one JSON object a line on standard input, `{"turn", "channel", "message"}`, and answers each with the turn's id on
standard output once its last message is sent. Where everything is comes from the settings.
"""

import asyncio
import sys
from collections.abc import AsyncIterator

import msgspec
import orjson
import uvloop

from schemas.chunks import TextChunk
from schemas.deliveries import SendText
from schemas.identities import nonce
from services.delivery.discord_channels import DiscordChannels
from services.delivery.heartbeats import Heartbeats
from services.normalizer.endings import EndOfFile
from services.normalizer.stream import StreamNormalizer
from services.orchestrator.rules import RULES
from services.orchestrator.segments import Buffer, Segment, feed, flush
from services.provider.httpx_transport import HttpxTransport
from services.provider.transport import Call
from services.runtime.discord import rest_client
from services.runtime.settings import Settings


class Order(msgspec.Struct):
    """One turn to run."""

    turn: str
    channel: str
    message: str


class Reference:
    """Runs turns, each as one task that reads the stream and one that sends."""

    def __init__(self, settings: Settings, channels: DiscordChannels) -> None:
        self._settings = settings
        self._channels = channels
        self._transport = HttpxTransport()
        self._typing = Heartbeats(channels.show_typing)

    async def run(self, order: Order) -> None:
        """One turn from its request to its last message."""
        segments: asyncio.Queue[Segment | None] = asyncio.Queue()
        self._typing.begin(order.channel, order.turn, partition=0, age_s=0.0)
        sending = asyncio.create_task(self._send(order, segments))
        async for segment in self._segments(order):
            segments.put_nowait(segment)
        segments.put_nowait(None)
        await sending
        self._typing.end(order.channel, order.turn)

    async def _segments(self, order: Order) -> AsyncIterator[Segment]:
        settings = self._settings
        body = orjson.dumps(
            {
                "model": settings.model,
                "messages": [{"role": "user", "content": "go on"}],
                "stream": True,
                "stream_options": {"include_usage": True},
                "max_tokens": settings.max_tokens,
            }
        )
        headers = {"accept": "text/event-stream", "x-odradek-turn": order.turn}
        response = await self._transport.open(Call(settings.provider_url or "", headers, body, connect_s=10.0))
        normalizer = StreamNormalizer(settings.dialect, settings.model)
        buffer, rules = Buffer(), RULES[max(RULES)]
        try:
            async for data in response.chunks():
                for chunk in normalizer.feed(data):
                    if isinstance(chunk, TextChunk):
                        buffer, complete = feed(buffer, chunk.content, rules)
                        for segment in complete:
                            yield segment
            normalizer.flush(EndOfFile())
        finally:
            await response.aclose()
        for segment in flush(buffer, rules)[1]:
            yield segment

    async def _send(self, order: Order, segments: "asyncio.Queue[Segment | None]") -> None:
        sequence = 0
        while (segment := await segments.get()) is not None:
            text = SendText(
                channel_id=order.channel,
                turn=order.turn,
                sequence=sequence,
                text=segment.text,
                reply_to=order.message if sequence == 0 else None,
                stop_button=sequence == 0,
            )
            async with self._typing.quiet(order.channel):
                await self._channels.post(text, nonce(order.turn, sequence))
            sequence += 1


async def serve() -> None:
    """Run orders until standard input ends."""
    settings = Settings.model_validate({})
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    async with rest_client(settings) as client:
        reference = Reference(settings, DiscordChannels(client, lambda: False))

        async def run(order: Order) -> None:
            await reference.run(order)
            sys.stdout.write(f"{order.turn}\n")
            sys.stdout.flush()

        sys.stdout.write("ready\n")
        sys.stdout.flush()
        async with asyncio.TaskGroup() as turns:
            while line := await lines.readline():
                turns.create_task(run(msgspec.json.decode(line, type=Order)))


if __name__ == "__main__":
    uvloop.run(serve())
