"""Order and gaps on the way into the inbox, with a channel's history in memory."""

import asyncio

import aiohttp
import discord
import pytest

from schemas.headers import HeaderReader
from services.gateway.admission import SeenMessage
from services.gateway.intake import PAGE, Intake
from services.gateway.watermarks import Watermarks
from services.runtime.pace import Pace

BOT = 42
STEP = 1 << 22


def message(number: int, channel: int = 7) -> SeenMessage:
    """The `number`-th message, a direct one, so that it is for the bot; an id a millisecond."""
    return SeenMessage(
        id=(1_000_000 + number) * STEP,
        channel_id=channel,
        guild_id=None,
        author_id=9,
        author_name="Ada",
        author_bot=False,
        content=str(number),
    )


class Channel:
    """A history whose pages are given out one by one when `open` is set."""

    def __init__(self, messages: list[SeenMessage]) -> None:
        self.messages = messages
        self.failures: list[Exception] = []
        self.asked = asyncio.Event()
        self.open = asyncio.Event()
        self.open.set()

    async def messages_after(self, channel_id: int, guild_id: int | None, after: int) -> list[SeenMessage]:
        self.asked.set()
        await self.open.wait()
        if self.failures:
            raise self.failures.pop(0)
        return [known for known in self.messages if known.channel_id == channel_id and known.id > after][:PAGE]


def numbers(log, topic: str = "inbox") -> list[str]:
    """The numbers of the received messages, in the order of the log."""
    ids = [HeaderReader(new.headers).need("id") for new in log.records if new.topic == topic]
    return [str(int(event_id.removeprefix("message:")) // STEP - 1_000_000) for event_id in ids]


def mark(watermarks: Watermarks, seen: SeenMessage) -> None:
    watermarks.saw(seen.channel_id, seen.guild_id, seen.id, addressed=True)


def forbidden() -> discord.Forbidden:
    class Answer:
        status = 403
        reason = "Forbidden"

    return discord.Forbidden(Answer(), {"code": 50001, "message": "Missing Access"})  # type: ignore[arg-type]


def intake_of(log, watermarks: Watermarks | None = None, limit: int = 1_000, burst: int = 10_000) -> Intake:
    pace = Pace(burst=burst, every_s=0.001)
    return Intake(log.send, watermarks or Watermarks(), limit=limit, retry_s=0.001, pace=pace)


async def test_a_live_message_waits_until_its_channel_was_read_again(log) -> None:
    marks = Watermarks()
    mark(marks, message(1))
    channel = Channel([message(1), message(2), message(3)])
    channel.open.clear()
    intake = intake_of(log, marks)
    intake.connected(BOT, channel)
    await channel.asked.wait()
    intake.receive(message(4))
    intake.receive(message(1, channel=8))
    assert numbers(log) == ["1"], "only the channel without a gap goes on"
    channel.open.set()
    await intake.caught_up()
    intake.receive(message(5))
    assert numbers(log)[1:] == ["1", "2", "3", "4", "5"]


async def test_a_gap_of_several_pages_is_read_in_order(log) -> None:
    marks = Watermarks()
    mark(marks, message(0))
    channel = Channel([message(number) for number in range(1, PAGE + 30)])
    intake = intake_of(log, marks)
    intake.connected(BOT, channel)
    intake.receive(message(PAGE + 30))
    await intake.caught_up()
    assert numbers(log) == [str(number) for number in range(1, PAGE + 31)]


async def test_a_gap_without_end_is_read_within_bounds_and_live_messages_still_come(log) -> None:
    marks = Watermarks()
    mark(marks, message(0))
    channel = Channel([message(number) for number in range(1, 50 * PAGE)])
    intake = intake_of(log, marks)
    intake.connected(BOT, channel)
    intake.receive(message(60 * PAGE))
    await intake.caught_up()
    assert len(log.records) < 10 * PAGE
    assert numbers(log)[-1] == str(60 * PAGE)


async def test_history_that_is_closed_to_the_bot_does_not_keep_live_messages(log) -> None:
    marks = Watermarks()
    mark(marks, message(1))
    channel = Channel([])
    channel.failures.append(forbidden())
    intake = intake_of(log, marks)
    intake.connected(BOT, channel)
    intake.receive(message(2))
    await intake.caught_up()
    assert numbers(log) == ["2"]


@pytest.mark.parametrize(
    "error", [aiohttp.ServerDisconnectedError(), TimeoutError(), RuntimeError("Session is closed")]
)
async def test_reading_a_gap_is_tried_again(log, error: Exception) -> None:
    marks = Watermarks()
    mark(marks, message(1))
    channel = Channel([message(2)])
    channel.failures += [error, error]
    intake = intake_of(log, marks)
    intake.connected(BOT, channel)
    await intake.caught_up()
    assert numbers(log) == ["2"]


async def test_a_log_that_takes_no_more_loses_nothing_and_keeps_the_order(log) -> None:
    log.silent.add("inbox")
    sent = [message(number) for number in range(30)]
    channel = Channel([])
    intake = intake_of(log, limit=10)
    intake.connected(BOT, channel)
    for one in sent:
        channel.messages.append(one)
        intake.receive(one)
    assert len(log.records) == 10, "no more than the limit waits for the log"
    log.answer()
    await intake.caught_up()
    ordered = list(dict.fromkeys(numbers(log)))
    assert ordered == [str(number) for number in range(30)]


async def test_a_new_session_amid_a_gap_reads_on_with_the_new_client(log) -> None:
    marks = Watermarks()
    mark(marks, message(1))
    old, new = Channel([message(2)]), Channel([message(2), message(3)])
    old.open.clear()
    intake = intake_of(log, marks)
    intake.connected(BOT, old)
    await old.asked.wait()
    old.failures.append(RuntimeError("Session is closed"))
    intake.connected(BOT, new)
    old.open.set()
    await intake.caught_up()
    assert list(dict.fromkeys(numbers(log))) == ["2", "3"]


async def test_a_channel_with_many_messages_at_once_is_written_at_its_pace_and_others_at_once(log) -> None:
    intake = intake_of(log, burst=3)
    for number in range(10):
        intake.receive(message(number))
    intake.receive(message(1, channel=8))
    assert numbers(log) == ["0", "1", "2", "1"]
    await intake.caught_up()
    assert numbers(log) == ["0", "1", "2", "1", *(str(number) for number in range(3, 10))]


async def test_what_waits_for_its_pace_is_bounded_and_nothing_is_lost_or_overtaken(
    log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.gateway.intake._PACED", 4)
    intake = intake_of(log, burst=1)
    for number in range(10):
        intake.receive(message(number))
    assert numbers(log) == [str(number) for number in range(6)]
    await intake.caught_up()
    assert numbers(log) == [str(number) for number in range(10)]


async def test_what_waits_for_its_pace_is_written_at_the_end_of_the_process(log) -> None:
    intake = intake_of(log, burst=1)
    for number in range(5):
        intake.receive(message(number))
    await intake.close()
    assert numbers(log) == [str(number) for number in range(5)]


async def test_a_history_that_never_answers_is_given_up_and_its_channel_goes_on(
    log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.gateway.intake._READ_S", 0.01)
    marks = Watermarks()
    mark(marks, message(1))
    channel = Channel([])
    channel.open.clear()
    intake = intake_of(log, marks)
    intake.connected(BOT, channel)
    intake.receive(message(2))
    await intake.caught_up()
    assert numbers(log) == ["2"]
