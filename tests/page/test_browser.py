"""The page in a real Chromium: a person types, a bot answers, a button is pressed, records are wound, nothing is run."""

import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, Request, async_playwright, expect

from services.sandbox.brokers.ports import free_port

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
HOSTILE = "<img src=x onerror=\"window.owned='yes'\"><script>window.owned='yes'</script>"
WITHIN_S = 30

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(
        not os.path.exists(CHROMIUM),
        reason=f"{CHROMIUM} is not there: apt-get install --no-install-recommends chromium",
    ),
]


@dataclass
class Tab:
    """A tab, with what it complained about and where it went."""

    tab: Page
    url: str
    complaints: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tab.on("console", self._on_console)
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", self._on_request)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _on_request(self, request: Request) -> None:
        if not request.url.startswith(self.url):
            self.foreign.append(request.url)

    async def say(self, text: str) -> None:
        await self.tab.get_by_label("Message", exact=True).fill(text)
        await self.tab.keyboard.press("Enter")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        await browser.close()


@asynccontextmanager
async def open_tab(browser: Browser, url: str) -> AsyncIterator[Tab]:
    """A tab at the page. Whatever a test does there, nothing may be complained about or fetched from elsewhere."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, permissions=["clipboard-write"])
    context.set_default_timeout(WITHIN_S * 1_000)
    expect.set_options(timeout=WITHIN_S * 1_000)
    tab = Tab(await context.new_page(), url)
    await tab.tab.goto(url)
    await expect(tab.tab.locator("#chat-link")).to_have_attribute("data-state", "connected")
    yield tab
    assert tab.complaints == []
    assert tab.foreign == []
    await context.close()


@pytest_asyncio.fixture(loop_scope="module")
async def tab(browser: Browser, page) -> AsyncIterator[Tab]:
    """The page without a broker."""
    async with open_tab(browser, page.url) as tab:
        yield tab


@pytest_asyncio.fixture(loop_scope="module")
async def tab_with_log(browser: Browser, page_with_log) -> AsyncIterator[Tab]:
    async with open_tab(browser, page_with_log.url) as tab:
        await expect(tab.tab.locator("#log-link")).to_have_attribute("data-state", "connected")
        yield tab


async def test_an_empty_page_says_what_to_do(tab: Tab) -> None:
    await expect(tab.tab.get_by_text("Nothing is wound on it yet")).to_be_visible()
    await expect(tab.tab.get_by_text("Nobody has written yet")).to_be_visible()


async def test_a_person_types_and_the_bot_answers(tab: Tab, page) -> None:
    world = page.discord.world
    await tab.say("what is **a spool**?")
    messages = tab.tab.locator("#messages > li")
    await expect(messages).to_have_count(1)
    await expect(messages.first).to_contain_text("@odradek what is a spool?")
    await expect(messages.first.locator("strong")).to_have_text("a spool")
    assert page.newest_message().author.username == "ada"
    await expect(tab.tab.get_by_label("Message", exact=True)).to_have_value("")

    world.posting.type(world.channel("general"), world.bot)
    await expect(tab.tab.locator("#typing")).to_contain_text("odradek is typing")
    page.bot_says("A thing to wind on.\n```py\nx < y\n```\n-# small")
    await expect(messages).to_have_count(2)
    await expect(messages.last.locator("pre")).to_have_text("x < y")
    await expect(tab.tab.locator("#typing")).to_be_empty()


async def test_another_person_replies_to_a_message(tab: Tab, page) -> None:
    message = page.bot_says("ask me")
    await tab.tab.get_by_text("grace").click()
    await tab.tab.locator("#messages > li").hover()
    await tab.tab.get_by_role("button", name="Reply to odradek").click()
    await tab.say("really?")
    await expect(tab.tab.locator(".replied")).to_contain_text("odradek ask me")
    written = page.newest_message()
    assert (written.author.username, written.reply_to) == ("grace", message.id)
    await expect(tab.tab.locator("#replying")).to_be_hidden()


async def test_the_stop_button_reaches_the_bot_once(tab: Tab, page) -> None:
    message = page.bot_says("counting", button="odradek:stop:m1")
    stop = tab.tab.locator("#messages").get_by_role("button", name="Stop")
    await stop.click()
    entry = await page.discord.world.wait_for(lambda entry: entry.kind == "interaction", WITHIN_S)
    assert entry.data["interaction"]["data"]["custom_id"] == "odradek:stop:m1"
    await expect(stop).to_be_disabled()
    page.bot_edits(message, "stopped")
    await expect(stop).to_have_count(0)


async def test_the_composers_stop_presses_the_newest_stop_button(tab: Tab, page) -> None:
    stop = tab.tab.locator("#composer").get_by_role("button", name="Stop")
    await expect(stop).to_be_disabled()
    page.bot_says("an old reply", button="odradek:stop:m1")
    message = page.bot_says("counting", button="odradek:stop:m2")
    page.bot_says("on and on")
    await stop.click()
    entry = await page.discord.world.wait_for(lambda entry: entry.kind == "interaction", WITHIN_S)
    assert entry.data["interaction"]["data"]["custom_id"] == "odradek:stop:m2"
    await expect(stop).to_be_disabled()
    page.bot_edits(message, "stopped")
    await expect(stop).to_be_enabled()


async def test_kill_is_a_command_to_type_and_a_button(tab: Tab, page) -> None:
    world = page.discord.world
    world.interactions.commands["kill"] = {"id": "1", "name": "kill", "options": []}
    await tab.say("/kill")
    first = await world.wait_for(lambda entry: entry.kind == "interaction", WITHIN_S)
    await tab.tab.get_by_role("button", name="/kill").click()
    await world.wait_for(lambda entry: entry.kind == "interaction", WITHIN_S, after=first.seq)
    assert not world.messages(world.channel("general"))


async def test_the_spool_follows_a_turn_and_shows_each_record(tab_with_log: Tab, produce, make_turn) -> None:
    turn = make_turn(time.time_ns() // 1_000_000)
    await produce(*turn.whole())
    rows = tab_with_log.tab.locator("#records > li")
    await expect(rows).to_have_count(10)
    await expect(rows.first).to_contain_text("MessageReceived")
    await expect(tab_with_log.tab.locator("#facts")).to_contain_text("completed")
    await expect(tab_with_log.tab.locator("#turn-id")).to_have_text(turn.turn)
    await tab_with_log.tab.get_by_role("button", name="Copy the turn's id").click()
    await expect(tab_with_log.tab.locator("#copy-turn")).to_have_text("copied")
    await expect(tab_with_log.tab.locator("#hops > li")).to_have_count(7)
    await expect(tab_with_log.tab.locator("#thread .knot")).to_have_count(10)

    prompt = tab_with_log.tab.get_by_role("button", name="ProviderRequest")
    await prompt.click()
    await expect(prompt).to_have_attribute("aria-expanded", "true")
    await expect(tab_with_log.tab.locator(".detail pre")).to_contain_text('"dialect": "openai-chat"')
    await expect(tab_with_log.tab.locator(".detail dl")).to_contain_text(turn.turn)
    await prompt.press("Enter")
    await expect(tab_with_log.tab.locator(".detail")).to_have_count(0)


async def test_a_stream_is_folded_to_a_line_with_its_count(tab_with_log: Tab, produce, make_turn) -> None:
    turn = make_turn(time.time_ns() // 1_000_000)
    await produce(turn.message(), *(turn.slice(b"x", number) for number in range(4)), turn.text("x"))
    rows = tab_with_log.tab.locator("#records > li")
    shown = tab_with_log.tab.locator("#records > li:visible")
    run = tab_with_log.tab.get_by_role("button", name="4 × RawSlice, folded")
    await expect(rows).to_have_count(6)
    await expect(shown).to_have_count(3)
    await run.click()
    await expect(shown).to_have_count(6)
    await tab_with_log.tab.get_by_label("fold streams").uncheck()
    await tab_with_log.tab.get_by_label("fold streams").check()
    await expect(shown).to_have_count(3)
    await tab_with_log.tab.locator("#thread .knot[data-topic=raw]").last.click()
    await expect(tab_with_log.tab.locator(".detail pre")).to_have_text("x")
    await expect(shown).to_have_count(6)


async def test_the_newest_turn_is_shown_until_another_is_chosen(tab_with_log: Tab, produce, make_turn) -> None:
    now_ms = time.time_ns() // 1_000_000
    first, second, third = (make_turn(now_ms + number) for number in range(3))
    await produce(first.message("one"), first.finished(), second.message("two"))
    await expect(tab_with_log.tab.locator("#facts q")).to_have_text("two")
    await tab_with_log.tab.get_by_label("Turn", exact=True).select_option(first.turn)
    await expect(tab_with_log.tab.locator("#facts q")).to_have_text("one")
    await expect(tab_with_log.tab.locator("#records > li")).to_have_count(2)
    await produce(third.message("three"))
    await expect(tab_with_log.tab.locator("#turn option")).to_have_count(3)
    await expect(tab_with_log.tab.locator("#facts q")).to_have_text("one")
    await tab_with_log.tab.get_by_label("follow the latest").check()
    await expect(tab_with_log.tab.locator("#facts q")).to_have_text("three")


async def test_what_is_written_to_harm_stays_text(tab_with_log: Tab, page_with_log, produce, make_turn) -> None:
    world = page_with_log.discord.world
    villain = world.add_user("<b onclick=owned()>v</b>")
    world.post_as(villain, world.channel("general"), HOSTILE)
    page_with_log.bot_says(f"**{HOSTILE}** `{HOSTILE}`\n```{HOSTILE}```", button=HOSTILE[:100])
    turn = make_turn(time.time_ns() // 1_000_000)
    await produce(
        turn.message(HOSTILE, name=HOSTILE), turn.prompt(HOSTILE), turn.slice(HOSTILE.encode()), turn.text(HOSTILE)
    )
    await expect(tab_with_log.tab.locator("#messages > li")).to_have_count(2)
    await expect(tab_with_log.tab.locator("#messages > li").first).to_contain_text(HOSTILE)
    rows = tab_with_log.tab.locator("#records > li")
    await expect(rows).to_have_count(4)
    for row in await rows.all():
        await row.get_by_role("button").click()
        await expect(row.locator(".detail pre")).to_contain_text("onerror")
    for where in ("#messages", ".spool"):
        await expect(tab_with_log.tab.locator(f"{where} :is(script, img[src=x], b[onclick])")).to_have_count(0)
    assert await tab_with_log.tab.evaluate("window.owned") is None


async def test_a_narrow_page_does_not_scroll_sideways(tab_with_log: Tab, page_with_log, produce, make_turn) -> None:
    page_with_log.bot_says("w" * 1_500 + "\n```" + "c" * 400 + "```")
    await produce(*make_turn(time.time_ns() // 1_000_000).whole())
    await tab_with_log.tab.set_viewport_size({"width": 360, "height": 740})
    await expect(tab_with_log.tab.locator("#records > li")).to_have_count(10)
    wide = await tab_with_log.tab.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide == 0


async def test_a_server_that_is_gone_is_told_with_how_to_start_it(
    browser: Browser, settings, discord, open_page
) -> None:
    port = free_port()
    async with open_page(settings, discord.address.url, port) as url, open_tab(browser, url) as tab:
        gone = tab.tab.locator("#gone")
        await expect(gone).to_be_hidden()
        await tab.tab.clock.install()
        await tab.tab.route("**/events", lambda route: route.abort())
        await tab.tab.reload()
        await tab.tab.clock.fast_forward(6_000)
        await expect(gone).to_contain_text("make up")
        await tab.tab.unroute("**/events")
        await tab.tab.clock.fast_forward(6_000)
        await expect(gone).to_be_hidden()
        tab.complaints.clear()


async def test_a_problem_is_told_in_words(tab: Tab, page) -> None:
    await page.discord.stop()
    await expect(tab.tab.locator("#chat-link")).to_have_attribute("data-state", "reconnecting")
    await tab.say("anybody?")
    await expect(tab.tab.get_by_role("alert")).to_contain_text("unavailable")
    # Chromium itself reports the answer 503 of the request that could not be done.
    assert all("503" in complaint for complaint in tab.complaints)
    tab.complaints.clear()
