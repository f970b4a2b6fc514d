"""A broker that is killed in mid-turn and comes back some seconds later."""

import asyncio
from typing import Any

import aiohttp

from services.sandbox.provider.replies import whole_reply
from services.sandbox.provider.script import Reply, Stream


async def readiness(crowd: Any) -> dict[str, tuple[int, str]]:
    """What each process's /readyz says; every /livez is to be well."""
    found: dict[str, tuple[int, str]] = {}
    async with aiohttp.ClientSession() as session:
        for slot, child in crowd.supervisor.children.items():
            url = child.command.ready_url
            async with session.get(url.replace("/readyz", "/livez")) as answer:
                assert answer.status == 200, slot
            async with session.get(url) as answer:
                found[slot] = answer.status, await answer.text()
    return found


async def test_every_process_says_that_it_is_not_ready_while_its_broker_is_away_and_lives_on(
    open_crowd: Any, jvm_kafka_factory: Any
) -> None:
    broker = await jvm_kafka_factory()
    async with open_crowd(broker.bootstrap) as crowd:
        assert {status for status, _ in (await readiness(crowd)).values()} == {200}
        await broker.kill()
        async with asyncio.timeout(60):
            found = await readiness(crowd)
            while any(status == 200 for status, _ in found.values()):
                await asyncio.sleep(0.1)  # the ports tell nobody
                found = await readiness(crowd)
        assert all(f"kafka: no answer from {broker.bootstrap}" in text for _, text in found.values())
        await broker.restart()
        async with asyncio.timeout(60):
            while any(status != 200 for status, _ in (await readiness(crowd)).values()):
                await asyncio.sleep(0.1)
        assert {child.starts for child in crowd.supervisor.children.values()} == {1}


async def test_a_turn_goes_on_when_its_broker_comes_back(open_crowd: Any, jvm_kafka_factory: Any) -> None:
    broker = await jvm_kafka_factory()
    async with open_crowd(broker.bootstrap) as crowd:
        talk = crowd.talk()
        turn = talk.say("Tell me something long.", play=Stream((Reply(),), pace_ms=10.0))
        await talk.shows(2)
        await broker.kill()
        asked_meanwhile = crowd.talk()
        meanwhile = asked_meanwhile.say("Say hello.")
        await broker.restart()
        finished = await talk.finished(turn)
        [call] = talk.calls(turn)
        assert finished.status == "completed"
        assert talk.words == whole_reply("sandbox-echo", call.body["messages"][-1]["content"]).split()
        assert (await asked_meanwhile.finished(meanwhile)).status == "completed"
        assert len(asked_meanwhile.calls(meanwhile)) == 1
        assert (await talk.finished(talk.say("And again."))).status == "completed"
        await crowd.at_rest()
        assert crowd.records["dead-letters"] == []
        assert crowd.leaks() == []
        assert crowd.contradictions() == []
        assert {child.starts for child in crowd.supervisor.children.values()} == {1}
