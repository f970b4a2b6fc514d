"""Following topics of a real broker from the command line."""

import asyncio
import contextlib
import json
import signal
from collections.abc import AsyncIterator
from typing import Any

import pytest

from schemas.deliveries import SendText
from schemas.topics import load_topics
from schemas.turns import Timings, TurnFinished
from services.cli.tail import Printer, starting_time
from services.cli.tail_lines import Filter
from services.runtime.errors import ConfigurationError
from services.runtime.kafka.admin import provision
from services.runtime.kafka.cluster import KafkaLog
from services.runtime.log import LogRecord
from services.runtime.outputs import output
from services.runtime.sender import Sender

TOPICS = load_topics()


class Writer:
    """Writes records of turns into the topics of a test."""

    def __init__(self, sender: Sender, variables: dict[str, str]) -> None:
        self._sender = sender
        self.variables = variables

    async def say(self, text: str, *, channel: str = "7", turn: str = "m1", sequence: int = 0) -> None:
        record = SendText(channel_id=channel, turn=turn, sequence=sequence, text=text)
        event_id = f"{turn}/d{sequence}"
        await self._sender.send(
            output("deliveries", record, channel=channel, event_id=event_id, turn=turn, sequence=sequence)
        )

    async def finish(self, *, channel: str = "7", turn: str = "m1") -> None:
        timings = Timings(received_ms=1, finished_ms=2)
        record = TurnFinished(
            channel_id=channel, guild_id=None, turn=turn, status="completed", generations=1, messages=1, characters=2,
            timings=timings,
        )  # fmt: skip
        await self._sender.send(output("turns", record, channel=channel, event_id=f"{turn}/finished", turn=turn))


@pytest.fixture
async def writer(kafka: Any, topic_prefix: str, make_settings: Any) -> AsyncIterator[Writer]:
    settings = make_settings(kafka=kafka.bootstrap, broker=kafka.kind, prefix=topic_prefix)
    await provision(settings, TOPICS, partitions=2)
    log = KafkaLog(settings, TOPICS)
    await log.start()
    sender = Sender(log, TOPICS)
    yield Writer(
        sender,
        {"ODRADEK_KAFKA": kafka.bootstrap, "ODRADEK_BROKER": kafka.kind, "ODRADEK_PREFIX": topic_prefix},
    )
    await sender.close(within_s=2)
    await log.stop()


async def tail(odradek: Any, writer: Writer, *arguments: str) -> Any:
    return await asyncio.to_thread(odradek, "topics", "tail", *arguments, **writer.variables)


async def test_what_is_there_comes_in_the_order_of_its_time_over_all_topics(odradek: Any, writer: Writer) -> None:
    for sequence in range(20):
        await writer.say(f"part {sequence}", channel=str(sequence), sequence=sequence)
    await writer.finish()

    done = await tail(odradek, writer, "--no-follow")

    assert (done.code, done.err) == (0, "")
    times = [line.split()[0] for line in done.lines]
    assert times == sorted(times)
    assert sorted(line.split()[2] for line in done.lines) == ["SendText"] * 20 + ["TurnFinished"]
    assert {line.split()[5] for line in done.lines} == {"-", *(f"#{n}" for n in range(20))}


async def test_channel_turn_and_topic_narrow_what_is_shown(odradek: Any, writer: Writer) -> None:
    await writer.say("one", channel="7", turn="m1")
    await writer.say("two", channel="8", turn="m2")
    await writer.finish(channel="8", turn="m2")

    by_turn = await tail(odradek, writer, "--no-follow", "--turn", "m2")
    by_channel = await tail(odradek, writer, "deliveries", "--no-follow", "--channel", "8", "--json")

    assert len(by_turn.lines) == 2
    assert [json.loads(line)["value"]["text"] for line in by_channel.lines] == ["two"]


async def test_a_turn_without_records_is_told_beside_the_output(odradek: Any, writer: Writer) -> None:
    await writer.say("one", channel="7", turn="m1")

    done = await tail(odradek, writer, "--no-follow", "--turn", "m9")

    assert (done.code, done.out, done.err) == (0, "", "no record of turn m9 was found\n")


async def test_following_starts_with_what_comes_and_ends_quietly_with_ctrl_c(running: Any, writer: Writer) -> None:
    await writer.say("before", turn="m0")
    async with running("topics", "tail", **writer.variables) as process:
        line = b""
        for sequence in range(1, 200):
            await writer.say(f"after {sequence}", sequence=sequence)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.3):
                    line = await process.stdout.readline()
                    break
        process.send_signal(signal.SIGINT)
        rest, errors = await process.communicate()

    assert b"after" in line
    assert b"before" not in line + rest
    assert (process.returncode, errors) == (0, b"")


async def test_a_reader_that_goes_away_ends_it_quietly(running: Any, writer: Writer) -> None:
    for sequence in range(50):
        await writer.say("x" * 1_000, sequence=sequence)
    async with running("topics", "tail", "--from", "beginning", "--json", **writer.variables) as process:
        await process.stdout.readline()
        process.stdout._transport.close()
        for sequence in range(50, 1_000):
            await writer.say("more", sequence=sequence)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await process.wait()
                    break
        errors = await process.stderr.read()

    assert (process.returncode, errors) == (0, b"")


async def test_an_unknown_topic_is_wrong_usage(odradek: Any, writer: Writer) -> None:
    done = await tail(odradek, writer, "poems", "--no-follow")

    assert done.code == 2
    assert done.err.startswith("error: there is no topic 'poems'\nwhat to do: topics are inbox, ")


def test_topics_that_are_not_made_yet_are_told(odradek: Any, kafka: Any, topic_prefix: str) -> None:
    done = odradek("topics", "tail", "--no-follow", "--kafka", kafka.bootstrap, "--prefix", topic_prefix)

    assert done.code == 1
    assert f"topic '{topic_prefix}inbox' does not exist" in done.err
    assert "odradek topics create" in done.err


@pytest.mark.parametrize(
    ("start", "live", "expected"),
    [
        (None, True, 10_000_000),
        (None, False, 0),
        ("beginning", True, 0),
        ("end", False, 10_000_000),
        ("-30s", True, 9_970_000),
        ("-5m", True, 9_700_000),
        ("-2h", True, 2_800_000),
        ("-1d", True, 0),
    ],
)
def test_where_to_start_is_a_word_or_a_span(start: str | None, live: bool, expected: int) -> None:
    assert starting_time(start, live=live, now_ms=10_000_000) == expected


@pytest.mark.parametrize("start", ["yesterday", "5m", "-5", "-m", "-5w", "-١m"])
def test_another_word_is_refused(start: str) -> None:
    with pytest.raises(ConfigurationError, match="--from"):
        starting_time(start, live=True, now_ms=0)


def test_a_long_backlog_is_written_in_groups_so_that_memory_is_bounded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("services.cli.tail.SORTED_TOGETHER", 3)
    printer = Printer(lambda record: str(record.offset), Filter(0), lambda: None)
    for offset, at_ms in enumerate([30, 20, 10, 5]):
        printer.take(LogRecord("inbox", 0, offset, at_ms, None, None, ()))

    assert capsys.readouterr().out.split() == ["2", "1", "0"]
    printer.caught_up()
    printer.take(LogRecord("inbox", 0, 9, 1, None, None, ()))
    assert capsys.readouterr().out.split() == ["3", "9"]
