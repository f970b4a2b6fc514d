"""Every kind of worker killed once in mid-turn: the reply is shown whole, once and in order all the same."""

import signal
from typing import Any

import pytest
import pytest_asyncio

from schemas.headers import HeaderReader
from schemas.inbox import ChunkBatch
from services.sandbox.provider.replies import whole_reply
from services.sandbox.provider.script import Reply, Stream

pytestmark = pytest.mark.asyncio(loop_scope="module")

LONG = Stream((Reply(),), pace_ms=5.0)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crowd(open_crowd: Any, kafka: Any) -> Any:
    async with open_crowd(kafka.bootstrap, broker=kafka.kind, grace_s=30.0) as crowd:
        yield crowd


def whole(call: Any) -> list[str]:
    return whole_reply("sandbox-echo", call.body["messages"][-1]["content"]).split()


@pytest.mark.parametrize("kind", ["gateway", "context", "provider", "normalizer", "orchestrator", "delivery"])
async def test_a_worker_killed_in_mid_turn_neither_loses_nor_repeats_text(crowd: Any, kind: str) -> None:
    await crowd.all_ready()
    talk = crowd.talk()
    turn = talk.say("Tell me something long.", play=LONG, times=None)
    await talk.shows(2)
    await crowd.kill(kind)
    finished = await talk.finished(turn)
    first, *others = talk.calls(turn)
    assert finished.status == "completed"
    assert talk.words == whole(first)
    assert talk.notices == []
    await crowd.until(lambda: not talk.buttons, "the button to be cleared")
    lost = [read for read in crowd.records["raw"] if _is_lost(read, turn)]
    assert len(others) <= len(lost)
    if kind != "provider":
        assert others == []
    await crowd.all_ready()
    assert (await talk.finished(talk.say("And again."))).status == "completed"
    await crowd.at_rest()


@pytest.mark.parametrize("kind", ["gateway", "context", "provider", "normalizer", "orchestrator", "delivery"])
async def test_a_message_that_comes_while_a_worker_is_dead_is_answered(crowd: Any, kind: str) -> None:
    await crowd.all_ready()
    talk = crowd.talk()
    before = talk.say("First.")
    assert (await talk.finished(before)).status == "completed"
    await crowd.kill(kind)
    turn = talk.say("Say hello.")
    assert (await talk.finished(turn)).status == "completed"
    [call] = talk.calls(turn)
    assert talk.words[-len(whole(call)) :] == whole(call)


async def test_a_provider_that_is_told_to_end_finishes_its_stream(crowd: Any) -> None:
    await crowd.all_ready()
    talk = crowd.talk()
    turn = talk.say("Tell me something long.", play=LONG)
    await talk.shows(2)
    [child] = crowd.children("provider")
    first_pid = child.pid
    await crowd.kill("provider", signal.SIGTERM)
    assert (await talk.finished(turn)).status == "completed"
    [call] = talk.calls(turn)
    assert call.ended.how == "completed"
    assert talk.words == whole(call)
    assert {batch.instance for _, batch in talk.records("inbox", ChunkBatch)} == {"provider-0"}
    await crowd.all_ready()
    assert child.pid != first_pid
    assert (await talk.finished(talk.say("And again."))).status == "completed"
    await crowd.at_rest()
    assert crowd.records["dead-letters"] == []
    assert crowd.leaks() == []
    assert crowd.contradictions() == []


async def test_a_rolling_restart_of_everything_neither_ends_nor_repeats_a_turn(crowd: Any) -> None:
    await crowd.all_ready()
    talk = crowd.talk()
    turn = talk.say("Tell me something long.", play=Stream((Reply(),), pace_ms=15.0))
    await talk.shows(1)
    for kind in ("provider", "normalizer", "orchestrator", "delivery", "context", "gateway"):
        [child] = crowd.children(kind)
        process = child.process
        process.terminate()
        if kind != "provider":
            await process.wait()
    assert (await talk.finished(turn)).status == "completed"
    [call] = talk.calls(turn)
    assert talk.words == whole(call)
    assert (await talk.finished(talk.say("And again."))).status == "completed"
    await crowd.at_rest()


def _is_lost(read: Any, turn: str) -> bool:
    headers = HeaderReader(read.headers)
    return headers.text("turn") == turn and headers.text("ending") == "lost"
