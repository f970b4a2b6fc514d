"""Stops on their way to two logs."""

import asyncio

from services.gateway.stops import Stops, either, kill_channel


def kill(number: int):
    return kill_channel(channel_id=7, interaction_id=number, user_id=9)


async def test_one_acknowledgement_of_two_is_enough(log) -> None:
    log.silent.add("inbox")
    assert await either(Stops(log.send).write(kill(1)), within_s=10)


async def test_a_stop_that_no_log_has_is_not_confirmed(log) -> None:
    log.silent |= {"inbox", "control"}
    writes = Stops(log.send).write(kill(1))
    assert not await either(writes, within_s=0.01)
    log.answer()
    await asyncio.gather(*writes)


async def test_a_failed_write_waits_for_the_other_one() -> None:
    loop = asyncio.get_running_loop()
    broken, good = loop.create_future(), loop.create_future()
    broken.set_exception(RuntimeError("no"))
    waiting = asyncio.create_task(either([broken, good], within_s=10))
    good.set_result(None)
    assert await waiting


async def test_presses_while_the_log_is_away_are_bounded(log) -> None:
    log.silent |= {"inbox", "control"}
    stops = Stops(log.send)
    written = [stops.write(kill(number)) for number in range(1_000)]
    assert not written[-1]
    assert len(log.records) <= 1_001
