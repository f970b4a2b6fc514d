"""Stops reach whoever waits for one, and those who come later; by the fold's own predicate."""

from typing import Any

import pytest

from schemas.stops import ChannelTurns, OneTurn, StopRequested, TurnInterrupted
from services.runtime import control as module
from services.runtime.clock import SystemClock
from services.runtime.control import Control
from services.runtime.log import NewRecord
from services.runtime.outputs import output

CHANNEL = "77"


def stop(number: int, *, turn: str | None = None, channel: str = CHANNEL) -> NewRecord:
    target = ChannelTurns(before=str(number)) if turn is None else OneTurn(turn=turn)
    record = StopRequested(channel_id=channel, stop_id=str(number), target=target, manner="graceful", requested_by="1")
    return output("control", record, channel=channel, event_id=f"stop:{number}")


def interrupt(turn: str) -> NewRecord:
    record = TurnInterrupted(channel_id=CHANNEL, turn=turn, reason="follow_up")
    return output("control", record, channel=CHANNEL, event_id=f"interrupt:{turn}")


@pytest.fixture
async def bench(cluster: Any):
    log = await cluster.connect()
    sender = await cluster.sender(log)

    async def start() -> Control:
        control = Control(log, SystemClock())
        await control.start()
        cluster.stack.push_async_callback(control.stop)
        return control

    return start, sender


async def passed(control: Control, sender: Any) -> None:
    """Wait until the control has read all that was sent before."""
    async with control.watch("m1", "1", "1") as mark:
        await sender.send(stop(5, turn="m1", channel="1"))
        await mark


async def test_a_stop_that_came_before_resolves_a_watch_at_once(bench: Any) -> None:
    start, sender = bench
    await sender.send(stop(500, turn="m100"))
    control = await start()
    async with control.watch("m100", CHANNEL, "100") as hit:
        assert hit.done()
        assert hit.result().stop_id == "500"
    assert control.hit("m100", CHANNEL, "100") is not None
    assert control.hit("m101", CHANNEL, "101") is None


async def test_a_stop_that_comes_resolves_the_watches_of_its_turn_only(bench: Any) -> None:
    start, sender = bench
    control = await start()
    async with control.watch("m100", CHANNEL, "100") as hit, control.watch("m101", CHANNEL, "101") as other:
        assert not hit.done()
        await sender.send(interrupt("m100"))
        assert (await hit).turn == "m100"
        assert not other.done()
    assert not control._watchers


async def test_a_channel_wide_stop_hits_the_turns_with_an_older_cause_in_its_channel(bench: Any) -> None:
    start, sender = bench
    control = await start()
    async with (
        control.watch("m100", CHANNEL, "100") as older,
        control.watch("m900", CHANNEL, "900") as newer,
        control.watch("m50", "78", "50") as elsewhere,
    ):
        await sender.send(stop(500))
        await older
        await passed(control, sender)
        assert not newer.done()
        assert not elsewhere.done()
    assert control.hit("m499", CHANNEL, "499") is not None
    assert control.hit("m500", CHANNEL, "500") is None


async def test_a_later_narrower_stop_does_not_take_back_a_wider_one(bench: Any) -> None:
    start, sender = bench
    control = await start()
    await sender.send(stop(1_000))
    await sender.send(stop(500))
    await passed(control, sender)
    assert control.hit("m800", CHANNEL, "800") is not None


async def test_records_that_are_no_stops_are_passed_over(bench: Any, note: Any) -> None:
    start, sender = bench
    good = stop(500, turn="m100")
    await sender.send(note(CHANNEL, 1, topic="control"))
    await sender.send(NewRecord("control", good.key, b"{", good.headers))
    await sender.send(NewRecord("control", good.key, None, ()))
    control = await start()
    async with control.watch("m100", CHANNEL, "100") as hit:
        await sender.send(good)
        await hit


async def test_stops_are_remembered_up_to_a_bound(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 3)
    start, sender = bench
    control = await start()
    for number in range(6):
        await sender.send(stop(number, turn=f"m{number}"))
    await passed(control, sender)
    assert len(control._turns) == 3
    assert control.hit("m0", CHANNEL, "0") is None
    assert control.hit("m5", CHANNEL, "5") is not None
