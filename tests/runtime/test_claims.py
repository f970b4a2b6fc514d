"""Claims on a real log: one winner an effect, silence is noticed, and a stale view declares nobody lost."""

import asyncio
from typing import Any

import pytest

from schemas.claims import Closed
from schemas.prompts import StreamDeadlines
from schemas.registry import decode
from services.runtime import claims as module
from services.runtime.claims import Claims, Ended, Held, Won
from services.runtime.kafka import tail as tail_module

CHANNEL = "77"


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ALIVE_EVERY_S", 0.1)
    monkeypatch.setattr(module, "SILENCE_S", 0.8)
    monkeypatch.setattr(module, "WATCH_EVERY_S", 0.02)


def test_claims_are_read_back_over_the_longest_call_also_where_a_clock_is_two_minutes_ahead() -> None:
    assert StreamDeadlines().total_ms + 120_000 <= module.READ_BACK_MS


async def silence(claims: Claims) -> None:
    """End a life without a word, as a kill does."""
    for task in claims._tasks:
        task.cancel()
    await claims._tail.stop()


async def test_of_two_processes_that_race_for_effects_each_effect_has_one_winner(cluster: Any) -> None:
    first = await cluster.claims("a", "a:1")
    second = await cluster.claims("b", "b:1")
    effects = [f"stream:m{number}:1" for number in range(50)]
    results = await asyncio.gather(
        *(claims.claim(effect, str(index)) for index, effect in enumerate(effects) for claims in (first, second))
    )
    for index, effect in enumerate(effects):
        pair = results[2 * index : 2 * index + 2]
        assert sorted(type(result).__name__ for result in pair) == ["Held", "Won"], effect
        winner, loser = ("a", pair[1]) if isinstance(pair[0], Won) else ("b", pair[0])
        assert loser == Held(winner)


async def test_an_open_effect_is_won_once_although_its_own_process_asks_twice(cluster: Any) -> None:
    claims = await cluster.claims("a", "a:1")
    both = await asyncio.gather(claims.claim("e", CHANNEL), claims.claim("e", CHANNEL))
    assert sorted(both, key=lambda r: type(r).__name__) == [Held("a"), Won()]
    assert await claims.claim("e", CHANNEL) == Held("a")
    await claims.close("e", CHANNEL, "done")
    assert await claims.claim("e", CHANNEL) == Ended("done")
    assert not claims._given


async def test_whoever_waits_for_an_outcome_gets_the_first_close(cluster: Any) -> None:
    holder = await cluster.claims("a", "a:1")
    watcher = await cluster.claims("b", "b:1")
    assert await holder.claim("e", CHANNEL) == Won()
    assert await watcher.claim("e", CHANNEL) == Held("a")
    waiting = [asyncio.create_task(watcher.outcome("e", CHANNEL)) for _ in range(2)]
    await holder.close("e", CHANNEL, "stopped")
    await holder.close("e", CHANNEL, "done")
    assert await asyncio.gather(*waiting) == ["stopped", "stopped"]
    assert await watcher.claim("e", CHANNEL) == Ended("stopped")
    assert await watcher.outcome("e", CHANNEL) == "stopped"


async def test_a_new_life_in_an_exclusive_slot_closes_what_the_one_before_held(cluster: Any) -> None:
    dead = await cluster.claims("a", "a:1", exclusive=True)
    assert await dead.claim("left", CHANNEL) == Won()
    assert await dead.claim("ended", CHANNEL) == Won()
    await dead.close("ended", CHANNEL, "done")
    other = await cluster.claims("b", "b:1", exclusive=True)
    assert await other.claim("others", CHANNEL) == Won()
    await silence(dead)
    successor = await cluster.claims("a", "a:2", exclusive=True)
    assert await successor.claim("left", CHANNEL) == Ended("lost")
    assert await successor.claim("ended", CHANNEL) == Ended("done")
    assert await successor.claim("others", CHANNEL) == Held("b")


async def test_a_new_life_in_a_shared_slot_closes_nothing(cluster: Any) -> None:
    before = await cluster.claims("a", "a:1")
    assert await before.claim("e", CHANNEL) == Won()
    assert await (await cluster.claims("a", "a:2")).claim("e", CHANNEL) == Held("a")


@pytest.mark.usefixtures("_quick")
async def test_a_holder_that_falls_silent_is_declared_lost_and_one_that_lives_is_not(cluster: Any) -> None:
    living = await cluster.claims("a", "a:1")
    dead = await cluster.claims("b", "b:1")
    watcher = await cluster.claims("c", "c:1")
    assert await living.claim("kept", CHANNEL) == Won()
    assert await dead.claim("left", CHANNEL) == Won()
    kept = asyncio.create_task(watcher.outcome("kept", CHANNEL))
    await silence(dead)
    assert await watcher.outcome("left", CHANNEL) == "lost"
    # The living one has been watched for as long, and longer than the silence that was needed.
    assert not kept.done()
    await living.close("kept", CHANNEL, "done")
    assert await kept == "done"


@pytest.mark.usefixtures("_quick")
async def test_an_effect_that_nobody_claimed_is_declared_lost_in_the_end(cluster: Any) -> None:
    watcher = await cluster.claims("c", "c:1")
    assert await watcher.outcome("unheard of", CHANNEL) == "lost"


async def test_a_holder_learns_that_it_was_declared_lost(cluster: Any) -> None:
    holder = await cluster.claims("a", "a:1")
    other = await cluster.claims("b", "b:1")
    assert await holder.claim("e", CHANNEL) == Won()
    async with holder.guard("e") as lost:
        assert await holder.confirm("e", CHANNEL)
        assert not lost.done()
        await other.close("e", CHANNEL, "lost")
        await lost
        assert not await holder.confirm("e", CHANNEL)
    assert not holder._guards


async def test_an_acknowledgement_that_was_seen_late_counts_from_when_its_record_was_sent(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = await cluster.claims("a", "a:1")
    await claims.claim("e", CHANNEL)
    assert not claims.paused()
    closing = claims._send(closed_record(claims))
    monkeypatch.setattr(module, "PAUSE_S", 0.0)
    sent = asyncio.get_running_loop().time()
    await closing
    assert claims._acknowledged_s <= sent
    assert claims.paused()


def closed_record(claims: Claims) -> Any:
    from services.runtime.outputs import output

    return output("claims", Closed(effect="e", outcome="done", by=claims.incarnation), channel=CHANNEL, event_id="x")


@pytest.mark.usefixtures("_quick")
async def test_while_the_broker_is_away_silence_does_not_count(
    jvm_kafka_factory: Any, new_cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail_module, "FRESH_S", 0.7)
    monkeypatch.setattr(module, "SILENCE_S", 1.2)
    broker = await jvm_kafka_factory()
    async with new_cluster(broker.bootstrap) as cluster:
        holder = await cluster.claims("a", "a:1")
        watcher = await cluster.claims("b", "b:1")
        records, changes = await cluster.follow(await cluster.connect(), "claims")
        assert await holder.claim("e", CHANNEL) == Won()
        watching = asyncio.create_task(watcher.outcome("e", CHANNEL))
        await changes.until(lambda: len(records) >= 3)
        broker.pause()
        # Longer than the silence that is declared; nothing happens meanwhile, so there is nothing else to wait for.
        await asyncio.wait({watching}, timeout=2.5)
        broker.resume()
        seen = len(records)
        await changes.until(lambda: len(records) >= seen + 3)
        assert not any(isinstance(decode(r.headers, r.value)[1], Closed) for r in records)
        await holder.close("e", CHANNEL, "done")
        assert await watching == "done"
