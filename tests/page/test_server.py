"""The page's server: one stream of all that happens, records on demand, what people do, and what it refuses."""

import json
import time
from pathlib import Path

import aiohttp
import pytest

from schemas.topics import load_topics
from services.runtime.kafka.admin import provision
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.partitions import partition_of
from services.runtime.settings import Settings
from services.sandbox.brokers.embedded import EmbeddedBroker
from services.sandbox.brokers.ports import free_port
from services.sandbox.discord.server import SandboxDiscord
from services.sandbox.page import hub
from services.sandbox.page.hub import Hub

WITHIN_S = 30

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def post(url: str, path: str, body: dict, **options) -> tuple[int, dict]:
    async with aiohttp.ClientSession() as session, session.post(f"{url}{path}", json=body, **options) as response:
        return response.status, json.loads(await response.read())


async def get(url: str, path: str = "", **options) -> tuple[int, dict[str, str], bytes]:
    async with aiohttp.ClientSession() as session, session.get(f"{url}{path}", **options) as response:
        return response.status, dict(response.headers), await response.read()


async def test_the_channel_and_its_people_come_first(page, streaming) -> None:
    page.bot_says("hello **there**")
    async with streaming(page.url) as stream:
        await stream.until("status", lambda status: status.get("chat") == "connected")
        page.bot_says("again")
        await stream.until("message")
    async with streaming(page.url) as stream:
        channel = await stream.until("channel", lambda channel: channel["messages"])
    assert channel["name"] == "general"
    assert [person["name"] for person in channel["people"]] == ["ada", "grace"]
    assert channel["messages"][0]["blocks"][0]["spans"][1] == {
        "kind": "bold",
        "spans": [{"kind": "text", "text": "there"}],
    }


async def test_what_a_person_writes_mentions_the_bot_and_answers_a_message(page, streaming) -> None:
    first = page.bot_says("ask me")
    ada = page.discord.world.user("ada")
    async with streaming(page.url) as stream:
        await stream.until("status", lambda status: status.get("chat") == "connected")
        body = {"user": str(ada.id), "content": "  why?  ", "reply_to": str(first.id)}
        assert await post(page.url, "messages", body) == (200, {})
        shown = await stream.until("message")
    written = page.newest_message()
    assert (written.content, written.reply_to) == (f"<@{page.discord.world.bot.id}> why?", first.id)
    assert shown["reply"] == {"id": str(first.id), "author": "odradek", "excerpt": "ask me"}
    assert shown["blocks"][0]["spans"][0] == {"kind": "mention", "text": "@odradek"}


async def test_a_mention_that_is_there_is_not_put_there_again(page, streaming) -> None:
    text = f"<@{page.discord.world.bot.id}> hi"
    async with streaming(page.url) as stream:
        await stream.until("channel", lambda channel: channel["name"])
        assert (await post(page.url, "messages", {"user": str(page.discord.world.user("ada").id), "content": text}))[
            0
        ] == 200
        await stream.until("message")
    assert page.newest_message().content == text


async def test_typing_edits_buttons_and_deletions_are_told(page, streaming) -> None:
    world = page.discord.world
    async with streaming(page.url) as stream:
        await stream.until("status", lambda status: status.get("chat") == "connected")
        world.posting.type(world.channel("general"), world.bot)
        assert (await stream.until("typing"))["name"] == "odradek"
        message = page.bot_says("working", button="odradek:stop:m1")
        shown = await stream.until("message")
        assert shown["buttons"] == [{"label": "Stop", "custom_id": "odradek:stop:m1"}]
        page.bot_edits(message, "done")
        edited = await stream.until("message")
        assert (edited["edited"], edited["buttons"]) == (True, [])
        world.delete(message)
        assert (await stream.until("message-gone")) == {"id": str(message.id)}


async def test_another_channel_is_not_shown(page, streaming) -> None:
    world = page.discord.world
    async with streaming(page.url) as stream:
        await stream.until("status", lambda status: status.get("chat") == "connected")
        world.post_as(world.user("ada"), world.channel("help"), "elsewhere")
        page.bot_says("here")
        assert (await stream.until("message"))["blocks"][0]["spans"][0]["text"] == "here"


async def test_a_button_reaches_the_bot(page, streaming) -> None:
    message = page.bot_says("working", button="odradek:stop:m1")
    grace = page.discord.world.user("grace")
    async with streaming(page.url) as stream:
        await stream.until("channel", lambda channel: channel["name"])
        body = {"user": str(grace.id), "message": str(message.id), "custom_id": "odradek:stop:m1"}
        assert await post(page.url, "buttons", body) == (200, {})
    entry = await page.discord.world.wait_for(lambda entry: entry.kind == "interaction", WITHIN_S)
    assert entry.author is grace


async def test_a_command_that_is_not_registered_is_refused_in_words(page, streaming) -> None:
    async with streaming(page.url) as stream:
        await stream.until("channel", lambda channel: channel["name"])
        ada = str(page.discord.world.user("ada").id)
        status, answer = await post(page.url, "commands", {"user": ada, "name": "kill"})
        assert (status, answer["error"]) == (409, "no command /kill is registered; there are: none")
        page.discord.world.interactions.commands["kill"] = {"id": "1", "name": "kill", "options": []}
        assert await post(page.url, "commands", {"user": ada, "name": "kill"}) == (200, {})
    entry = await page.discord.world.wait_for(lambda entry: entry.kind == "interaction", WITHIN_S)
    assert entry.data["interaction"]["data"]["name"] == "kill"


async def test_records_of_all_topics_come_as_they_are_written(page_with_log, streaming, produce, make_turn) -> None:
    turn = make_turn(now_ms())
    async with streaming(page_with_log.url) as stream:
        await stream.until("status", lambda status: status.get("log") == "connected")
        await produce(*turn.whole())
        seen: set[tuple[str, str]] = set()
        last: dict = {}
        while len(seen) < 10:
            last = await stream.until("record")
            seen.add((last["row"]["topic"], last["row"]["type"]))
        assert last["turn"]["turn"] == turn.turn
        status, _, body = await get(page_with_log.url, f"turns/{turn.turn}")
        rows = json.loads(body)["rows"]
        assert (status, len(rows)) == (200, 10)
        key = next(row["key"] for row in rows if row["topic"] == "prompts")
        status, _, body = await get(page_with_log.url, f"turns/{turn.turn}/records/{key}")
    record = json.loads(body)
    assert (status, record["form"]) == (200, "json")
    assert ["turn", turn.turn] in record["headers"]
    async with streaming(page_with_log.url) as stream:
        (view,) = await stream.until("turns")
    assert (view["status"], view["rows"], [hop["worker"] for hop in view["hops"]][-1]) == ("completed", 10, "delivery")


async def test_what_is_not_on_the_spool_is_said_to_be_gone(page) -> None:
    assert (await get(page.url, "turns/m1"))[0] == 404
    assert (await get(page.url, "turns/m1/records/raw.0.0.0"))[0] == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"user": "ada", "content": "x"},
        {"user": "1", "content": " "},
        {"user": "1", "content": "x" * 1_951},
        {"user": "1", "content": "x", "more": 1},
        {"user": "1", "content": "x", "reply_to": "../1"},
    ],
)
async def test_a_body_that_does_not_fit_is_refused(page, body) -> None:
    status, answer = await post(page.url, "messages", body)
    assert status == 400
    assert answer["error"]


async def test_only_json_is_taken_so_that_no_foreign_form_can_post(page) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        assert (await post(page.url, "commands", {}, headers={"Content-Type": kind}))[0] == 415


async def test_a_foreign_name_for_this_machine_is_refused(page) -> None:
    assert (await get(page.url, headers={"Host": "evil.example"}))[0] == 421
    assert (await get(page.url, "events", headers={"Host": "127.0.0.1.evil.example:80"}))[0] == 421
    assert (await get(page.url, headers={"Host": "localhost:1"}))[0] == 200


@pytest.mark.parametrize("path", ["", "static/page.js", "static/odradek.svg", "turns/m1", "nowhere"])
async def test_every_answer_forbids_what_is_not_its_own(page, path) -> None:
    _, headers, _ = await get(page.url, path)
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


async def test_files_outside_of_the_page_cannot_be_read(page) -> None:
    for path in ("static/../server.py", "static/%2e%2e/server.py", "static/..%2fserver.py", "static/"):
        assert (await get(page.url, path))[0] in (403, 404)


async def test_an_address_in_use_is_an_os_error(discord, open_page) -> None:
    settings = Settings(kafka=f"127.0.0.1:{free_port()}")
    async with open_page(settings, discord.address.url) as url:
        port = int(url.rsplit(":", 1)[1].strip("/"))
        with pytest.raises(OSError, match="address already in use"):
            async with open_page(settings, discord.address.url, port=port):
                pass


async def test_a_discord_that_goes_away_and_comes_back_is_shown_anew(streaming, open_page) -> None:
    port = free_port()
    settings = Settings(kafka=f"127.0.0.1:{free_port()}")
    first = SandboxDiscord()
    await first.start(port=port)
    async with open_page(settings, f"http://127.0.0.1:{port}") as url, streaming(url) as stream:
        await stream.until("status", lambda status: status.get("chat") == "connected")
        await first.stop()
        await stream.until("status", lambda status: status.get("chat") == "reconnecting")
        status, answer = await post(url, "messages", {"user": "1", "content": "anybody?"})
        assert (status, "unavailable" in answer["error"]) == (503, True)
        async with SandboxDiscord() as second:
            await second.start(port=port)
            channel = await stream.until("channel")
            await stream.until("status", lambda status: status.get("chat") == "connected")
            assert channel["bot"]["id"] == str(second.world.bot.id)


async def test_a_broker_that_is_born_anew_is_read_again(
    tmp_path: Path, discord, streaming, open_page, make_turn
) -> None:
    port = free_port()
    settings = Settings(kafka=f"127.0.0.1:{port}", broker="embedded")
    async with open_page(settings, discord.address.url) as url, streaming(url) as stream:
        await stream.until("status", lambda status: status.get("log") == "reconnecting")
        for life in range(2):
            broker = await EmbeddedBroker.start(tmp_path, port=port)
            try:
                await provision(settings, load_topics(), partitions=1)
                await stream.until("status", lambda status: status.get("log") == "connected")
                turn = make_turn(now_ms() + life)
                await write(settings, turn.message())
                seen = await stream.until("record", lambda seen, name=turn.turn: seen["turn"]["turn"] == name)
                assert seen["row"]["offset"] == 0
            finally:
                await broker.kill()
            await stream.until("status", lambda status: status.get("log") == "reconnecting")


async def test_a_page_that_reads_too_slowly_is_let_go() -> None:
    told = Hub()
    with told.listening() as slow, told.listening() as quick:
        for number in range(hub.QUEUED + 1):
            told.tell("record", {"n": number})
            assert await quick.next(WITHIN_S)
        assert await slow.next(WITHIN_S) is None
    assert not told.heard


async def test_no_more_pages_than_32_are_served() -> None:
    told = Hub()
    contexts = [told.listening() for _ in range(hub.PAGES)]
    for context in contexts:
        context.__enter__()
    with pytest.raises(hub.TooManyPages), told.listening():
        pass
    for context in contexts:
        context.__exit__(None, None, None)


async def write(settings: Settings, record) -> None:
    log = KafkaLog(settings, load_topics())
    await log.start()
    await (await log.send(record, partition_of(record.key, log.partitions(record.topic))))
    await log.stop()


def now_ms() -> int:
    return time.time_ns() // 1_000_000
