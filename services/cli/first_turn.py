"""The first turn of `odradek up`: post a message as a Discord user, print the reply as it is delivered, say how it ended."""

import asyncio
import json
import sys
from dataclasses import dataclass
from typing import Any

import aiohttp

from schemas.errors import BadRecord
from schemas.identities import turn_of_message
from schemas.registry import decode
from schemas.topics import load_topics
from schemas.turns import TurnFinished
from services.cli.printable import printable
from services.runtime.clock import SystemClock
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.log import LogRecord
from services.runtime.settings import Settings

SILENCE_S = 60.0
"""How long nothing may happen before the turn counts as hanging."""


@dataclass(slots=True)
class FirstTurn:
    """One message and its reply in the sandbox Discord at `discord_url`."""

    settings: Settings
    discord_url: str
    message: str

    async def show(self) -> str | None:
        """Print the turn; None when the reply was delivered whole, else why it was not."""
        finished: asyncio.Future[TurnFinished] = asyncio.get_running_loop().create_future()
        wanted: list[str] = []

        def note(read: LogRecord) -> None:
            try:
                _, record = decode(read.headers, read.value)
            except BadRecord:
                return
            if isinstance(record, TurnFinished) and record.turn in wanted and not finished.done():
                finished.set_result(record)

        log = KafkaLog(self.settings, load_topics(self.settings.topics_file))
        await log.start()
        tail = log.tail("turns", since_ms=SystemClock().now_ms(), on_record=note)
        await tail.start()
        try:
            async with aiohttp.ClientSession(self.discord_url) as http:
                return await self._turn(http, wanted, finished)
        finally:
            await tail.stop()
            await log.stop()

    async def _turn(
        self, http: aiohttp.ClientSession, wanted: list[str], finished: "asyncio.Future[TurnFinished]"
    ) -> str | None:
        async with http.get("/_sandbox/state") as response:
            state = await response.json()
        bot = state["bot"]["id"]
        channel = state["guilds"][0]["channels"][0]
        user = next(user for user in state["users"] if user["username"] == "ada")
        print(f"#{channel['name']}  {user['username']}: {self.message}", flush=True)
        # The journal is followed from before the message on, so that no part of the reply is missed.
        async with http.get("/_sandbox/health") as response:
            after = (await response.json())["seq"]
        body = {"user": user["id"], "channel": channel["id"], "content": f"<@{bot}> {self.message}"}
        async with http.post("/_sandbox/messages", json=body) as response:
            answer = await response.json()
            if response.status >= 300:
                return f"the sandbox Discord refused the message: {answer}"
        wanted.append(turn_of_message(answer["message"]["id"]))
        try:
            async with asyncio.timeout(SILENCE_S) as limit:
                printing = asyncio.create_task(_print_reply(http, after, channel["id"], bot, limit))
                try:
                    result = await finished
                finally:
                    printing.cancel()
                    await asyncio.wait({printing})
        except TimeoutError:
            return f"nothing happened for {SILENCE_S:g} s"
        return _verdict(result)


async def _print_reply(http: aiohttp.ClientSession, after: int, channel: str, bot: str, limit: asyncio.Timeout) -> None:
    """Print the bot's messages as they come; each one, and each typing, is a sign of life."""
    endless = aiohttp.ClientTimeout(total=None)
    async with http.get("/_sandbox/events", params={"after": str(after)}, timeout=endless) as stream:
        async for line in stream.content:
            if not line.startswith(b"data:"):
                continue
            entry: dict[str, Any] = json.loads(line[5:])
            author: dict[str, Any] = entry.get("author") or {}
            if entry.get("channel_id") != channel or author.get("id") != bot:
                continue
            limit.reschedule(asyncio.get_running_loop().time() + SILENCE_S)
            if entry["kind"] == "typing":
                print("odradek is typing ...", file=sys.stderr, flush=True)
            elif entry["kind"] == "message_create":
                print(f"odradek: {printable(entry['message']['content'])}", flush=True)


def _verdict(result: TurnFinished) -> str | None:
    if result.status == "completed":
        return None
    if result.error is not None:
        return f"the turn ended as {result.status}: {printable(result.error.message)} ({result.error.code})"
    return f"the turn ended as {result.status}"
