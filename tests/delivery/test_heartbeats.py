"""Typing, where turns follow each other faster than Discord answers."""

import asyncio

from services.delivery.heartbeats import Heartbeats


class SlowDiscord:
    """Answers no typing call before it is told to."""

    def __init__(self) -> None:
        self.calls = 0
        self.called = asyncio.Event()
        self.answers = asyncio.Event()

    async def show(self, channel: str) -> bool:
        self.calls += 1
        self.called.set()
        await self.answers.wait()
        return True


async def message(heartbeats: Heartbeats, discord: SlowDiscord) -> bool:
    """Whether the call had been answered when the message was let through."""
    async with heartbeats.quiet("7"):
        return discord.answers.is_set()


async def test_turns_that_end_before_their_call_make_none_and_a_channel_makes_one_call_at_a_time() -> None:
    discord = SlowDiscord()
    heartbeats = Heartbeats(discord.show)
    heartbeats.begin("7", "m1", partition=0, age_s=0)
    await discord.called.wait()
    for number in range(2, 100):
        heartbeats.end("7", f"m{number - 1}")
        heartbeats.begin("7", f"m{number}", partition=0, age_s=0)
        await asyncio.sleep(0)
    heartbeats.end("7", "m99")
    discord.answers.set()
    await heartbeats.close()
    assert discord.calls == 1


async def test_a_message_waits_for_the_typing_call_of_an_earlier_turn() -> None:
    discord = SlowDiscord()
    heartbeats = Heartbeats(discord.show)
    heartbeats.begin("7", "m1", partition=0, age_s=0)
    await discord.called.wait()
    heartbeats.end("7", "m1")
    heartbeats.begin("7", "m2", partition=0, age_s=0)
    heartbeats.end("7", "m2")
    for _ in range(3):
        await asyncio.sleep(0)
    sending = asyncio.create_task(message(heartbeats, discord))
    for _ in range(3):
        await asyncio.sleep(0)
    discord.answers.set()
    assert await sending
    await heartbeats.close()
