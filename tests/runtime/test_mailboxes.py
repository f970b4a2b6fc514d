"""Mailboxes: one channel in order, the others beside it, and nothing left behind."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from services.runtime.inbound import Inbound, Pending
from services.runtime.mailboxes import Mailboxes


def fake(channel: str, number: int) -> tuple[str, Any, Pending]:
    return channel, SimpleNamespace(what=(channel, number)), Pending(lambda: None)


class Bench:
    """Records what is processed; channels whose gate is closed stand still."""

    def __init__(self) -> None:
        self.done: list[tuple[str, int]] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.running: set[str] = set()
        self.fails: set[tuple[str, int]] = set()
        self.mailboxes = Mailboxes(self.process)

    async def process(self, inbound: Inbound, pending: Pending) -> None:
        channel, _ = what = inbound.what  # type: ignore[attr-defined]
        assert channel not in self.running
        self.running.add(channel)
        try:
            if channel in self.gates:
                await self.gates[channel].wait()
            await asyncio.sleep(0)
            if what in self.fails:
                raise RuntimeError("boom")
            self.done.append(what)
        finally:
            self.running.discard(channel)

    def of(self, channel: str) -> list[int]:
        return [number for name, number in self.done if name == channel]


@given(st.lists(st.sampled_from("abc"), max_size=40))
def test_each_channel_is_handled_in_order_and_one_record_at_a_time(channels: list[str]) -> None:
    async def run() -> None:
        bench = Bench()
        for number, channel in enumerate(channels):
            bench.mailboxes.put(*fake(channel, number))
        await bench.mailboxes.idle()
        for channel in "abc":
            assert bench.of(channel) == [n for n, name in enumerate(channels) if name == channel]
        assert not bench.mailboxes._waiting
        assert not bench.mailboxes._tasks

    asyncio.run(run())


async def test_a_blocked_channel_does_not_hold_up_another() -> None:
    bench = Bench()
    bench.gates["slow"] = asyncio.Event()
    for number in range(3):
        bench.mailboxes.put(*fake("slow", number))
        bench.mailboxes.put(*fake("quick", number))
    await until(lambda: bench.of("quick") == [0, 1, 2])
    assert bench.of("slow") == []
    assert bench.mailboxes.busy
    bench.gates["slow"].set()
    await bench.mailboxes.idle()
    assert bench.of("slow") == [0, 1, 2]


async def test_a_drop_forgets_what_waits_and_lets_the_record_in_hand_end() -> None:
    bench = Bench()
    bench.gates["a"] = asyncio.Event()
    for number in range(3):
        bench.mailboxes.put(*fake("a", number))
    await until(lambda: "a" in bench.running)
    bench.mailboxes.drop()
    assert not bench.mailboxes._waiting
    bench.gates["a"].set()
    await bench.mailboxes.idle()
    assert bench.of("a") == [0]
    assert not bench.mailboxes.busy


async def test_an_error_at_one_record_does_not_lose_those_behind_it() -> None:
    bench = Bench()
    bench.fails.add(("a", 1))
    for number in range(4):
        bench.mailboxes.put(*fake("a", number))
    await bench.mailboxes.idle()
    assert bench.of("a") == [0, 2, 3]
    assert not bench.mailboxes._waiting


async def test_cancelling_ends_a_record_that_hangs() -> None:
    bench = Bench()
    bench.gates["a"] = asyncio.Event()
    bench.mailboxes.put(*fake("a", 0))
    await until(lambda: "a" in bench.running)
    bench.mailboxes.drop()
    bench.mailboxes.cancel()
    await bench.mailboxes.idle()
    assert bench.done == []
    assert not bench.mailboxes._waiting


async def until(condition: Callable[[], object]) -> None:
    for _ in range(1_000):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("never came true")


async def test_a_channel_with_many_records_lets_another_have_its_turn_though_its_handler_never_waits() -> None:
    done: list[tuple[str, int]] = []

    async def process(inbound: Inbound, pending: Pending) -> None:
        done.append(inbound.what)  # type: ignore[attr-defined]

    mailboxes = Mailboxes(process)
    for number in range(100):
        mailboxes.put(*fake("flooded", number))
    mailboxes.put(*fake("quiet", 0))
    await mailboxes.idle()
    assert done.index(("quiet", 0)) <= 1
    assert [number for name, number in done if name == "flooded"] == list(range(100))
