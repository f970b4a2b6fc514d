"""The light provider: it notes calls, and who closed them when."""

import asyncio

import httpx

from services.sandbox.benchmark.provider import Plan
from services.sandbox.benchmark.replies import make_reply
from services.sandbox.benchmark.stage import Stage


async def test_a_turn_without_a_plan_is_not_found(stage: Stage) -> None:
    async with httpx.AsyncClient() as client:
        assert (
            await client.post(str(stage.settings.provider_url), headers={"x-odradek-turn": "m1"})
        ).status_code == 404


async def test_one_connection_carries_one_stream_after_another(stage: Stage) -> None:
    for number in (1, 2):
        stage.expect(f"m{number}", Plan(make_reply(number, paragraphs=1), 0.0))
    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=1)) as client:
        for number in (1, 2):
            url, headers = str(stage.settings.provider_url), {"x-odradek-turn": f"m{number}"}
            text = (await client.post(url, headers=headers, content=b"{}")).text
            assert f"[{number}.0]" in text
    assert [turn.call.how for turn in stage.turns.values() if turn.call is not None] == ["finished", "finished"]


async def test_a_silent_call_sends_nothing_and_notes_when_it_is_closed(stage: Stage) -> None:
    turn = stage.expect("m1", Plan(make_reply(1), 0.0, silent=True))
    async with httpx.AsyncClient(timeout=None) as client:
        url, headers = str(stage.settings.provider_url), {"x-odradek-turn": "m1"}
        asking = asyncio.create_task(client.post(url, headers=headers, content=b"{}"))
        await turn.called.wait()
        asking.cancel()
        await asyncio.wait({asking})
    assert turn.call is not None
    await turn.call.ended.wait()
    assert turn.call.how == "closed"
    assert turn.call.deltas == 0


async def test_a_call_is_answered_no_sooner_than_its_plan_says_and_another_one_at_once(stage: Stage) -> None:
    slow = stage.expect("m1", Plan(make_reply(1, paragraphs=1), 0.0, first_byte_s=0.2))
    quick = stage.expect("m2", Plan(make_reply(2, paragraphs=1), 0.0))
    async with httpx.AsyncClient() as client:
        url = str(stage.settings.provider_url)
        asked = (client.post(url, headers={"x-odradek-turn": turn}, content=b"{}") for turn in ("m1", "m2"))
        await asyncio.gather(*asked)
    assert slow.call is not None
    assert quick.call is not None
    assert slow.call.wrote[0] - slow.call.arrived_s >= 0.2
    assert quick.call.wrote[0] < slow.call.wrote[0]


async def test_an_endless_call_writes_more_than_its_reply_until_it_is_closed(stage: Stage) -> None:
    turn = stage.expect("m1", Plan(make_reply(1, paragraphs=1), 0.0, endless=True))
    read = 0
    async with httpx.AsyncClient() as client:
        url, headers = str(stage.settings.provider_url), {"x-odradek-turn": "m1"}
        async with client.stream("POST", url, headers=headers, content=b"{}") as response:
            async for data in response.aiter_bytes():
                read += len(data)
                if read > 4 * 1024 * 1024:
                    break
    assert turn.call is not None
    await turn.call.ended.wait()
    assert turn.call.how == "closed"
