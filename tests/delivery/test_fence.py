"""The fence: a process that its group has not confirmed for 3 s changes nothing in Discord, and goes on afterwards."""

import asyncio
from typing import Any

import pytest

from schemas.deliveries import ClearStopButton, SendText
from schemas.inbox import Sent
from services.delivery import fence as module
from services.delivery.discord_channels import DiscordChannels
from services.delivery.fence import Fence, judged
from services.runtime.errors import Unavailable


def text(delivery: Any, sequence: int, words: str = "Once upon a time") -> SendText:
    return SendText(channel_id=delivery.channel, turn="m1", sequence=sequence, text=words)


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAIT_S", 0.0)


async def test_nothing_is_sent_while_the_last_heartbeat_is_old(delivery: Any, heard: Any) -> None:
    heard.age_s = 3.5
    inbound = delivery.inbound(text(delivery, 0))
    with pytest.raises(Unavailable, match="group"):
        await delivery.handler.handle(inbound)
    assert delivery.shown() == []
    heard.age_s = 0.5
    await delivery.handler.handle(inbound)
    [message] = delivery.shown()
    assert delivery.log.receipts == [(0, Sent(message_id=str(message.id)))]


async def test_a_process_that_was_away_lets_the_runtime_look_at_the_partition_before_it_sends(
    delivery: Any, heard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def confirmed(_: float) -> None:
        heard.age_s = 0.0

    monkeypatch.setattr(module.asyncio, "sleep", confirmed)
    heard.age_s = 60.0
    with pytest.raises(Unavailable):
        await delivery.handler.handle(delivery.inbound(text(delivery, 0)))
    assert delivery.shown() == []


async def test_a_request_that_waited_in_the_client_does_not_start_with_an_old_heartbeat(
    delivery: Any, heard: Any, session: Any
) -> None:
    channels = DiscordChannels(session.client(), session.limits_all)
    # Stands for any wait inside discord.py, such as one for a rate limit.
    session.client().http._global_over.clear()
    posting = asyncio.create_task(channels.post(text(delivery, 0), "nonce"))
    await asyncio.sleep(0)
    heard.age_s = 4.0
    session.client().http._global_over.set()
    with pytest.raises(Unavailable, match="group"):
        await posting
    assert delivery.shown() == []


async def test_a_request_that_waited_in_the_client_for_too_long_is_judged_again(
    delivery: Any, session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HOLDS_S", -1.0)
    with judged(), pytest.raises(Unavailable, match="waited too long"):
        await DiscordChannels(session.client(), session.limits_all).post(text(delivery, 0), "nonce")
    assert delivery.shown() == []


async def test_the_channel_may_be_read_with_an_old_heartbeat(delivery: Any, heard: Any, session: Any) -> None:
    await delivery.give(text(delivery, 0))
    heard.age_s = 60.0
    [message] = delivery.shown()
    found = await DiscordChannels(session.client(), session.limits_all).find(text(delivery, 0), "1", frozenset())
    assert found == Sent(message_id=str(message.id))


async def test_no_button_is_taken_off_while_the_last_heartbeat_is_old(delivery: Any, heard: Any) -> None:
    order = text(delivery, 0).model_copy(update={"stop_button": True})
    await delivery.give(order)
    [message] = delivery.shown()
    heard.age_s = 4.0
    clear = ClearStopButton(channel_id=delivery.channel, turn="m1", sequence=1, of=0, message_id=str(message.id))
    with pytest.raises(Unavailable, match="group"):
        await delivery.give(clear)
    assert delivery.shown()[0].components


async def test_typing_is_not_shown_with_an_old_heartbeat(delivery: Any, heard: Any, session: Any) -> None:
    heard.age_s = 4.0
    with pytest.raises(Unavailable, match="group"):
        await DiscordChannels(session.client(), session.limits_all).show_typing(delivery.channel)


def test_a_fence_without_a_group_is_closed() -> None:
    with pytest.raises(Unavailable):
        Fence(lambda: float("inf")).check()
