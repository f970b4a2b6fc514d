"""Following topics from the command line, until Ctrl-C, a closed pipe, or the end of what is there."""

import asyncio
import contextlib
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence

from schemas.topics import Topics, load_topics
from services.cli.environment import load_settings
from services.cli.printable import printable
from services.cli.shell import run
from services.cli.tail_lines import Filter, as_json, readable
from services.runtime.errors import ConfigurationError, TopicMismatch
from services.runtime.kafka.admin import connect_admin, reaching
from services.runtime.kafka.connection import client_options, profile_of
from services.runtime.kafka.tail import KafkaTail
from services.runtime.log import LogRecord
from services.runtime.settings import Settings

SORTED_TOGETHER = 10_000
SORTED_CHARACTERS = 32 * 1024 * 1024
_END_BOUND_S = 3.0
_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class Printer:
    """Writes lines: of records that were there already sorted by time, in groups of SORTED_TOGETHER, of later ones at once.

    `closed` is called once when nobody reads the output any more.
    """

    def __init__(self, form: Callable[[LogRecord], str], wanted: Filter, closed: Callable[[], None]) -> None:
        self._form = form
        self._wanted = wanted
        self._closed = closed
        self._open = True
        self._live = False
        self.taken = 0
        """How many records were shown, or are to be."""
        self._earlier: list[tuple[int, str, int, int, str]] = []
        self._characters = 0

    def take(self, record: LogRecord) -> None:
        """A record that was read."""
        if not self._open or not self._wanted.takes(record):
            return
        self.taken += 1
        line = self._form(record)
        if self._live:
            self._write([line])
            return
        self._earlier.append((record.timestamp_ms, record.topic, record.partition, record.offset, line))
        self._characters += len(line)
        if len(self._earlier) >= SORTED_TOGETHER or self._characters >= SORTED_CHARACTERS:
            self._flush()

    def caught_up(self) -> None:
        """Everything that was there has been taken."""
        self._flush()
        self._live = True

    def _flush(self) -> None:
        self._write([line for *_, line in sorted(self._earlier)])
        self._earlier.clear()
        self._characters = 0

    def _write(self, lines: Sequence[str]) -> None:
        try:
            sys.stdout.writelines(f"{line}\n" for line in lines)
            sys.stdout.flush()
        except BrokenPipeError:
            self._open = False
            # The interpreter flushes standard output once more at its end, which would complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            self._closed()


def starting_time(start: str | None, *, live: bool, now_ms: int) -> int:
    """The least timestamp that is shown, in ms since 1970; raises ConfigurationError for a word that is none."""
    match start or ("end" if live else "beginning"):
        case "beginning":
            return 0
        case "end":
            return now_ms
        case other:
            found = re.fullmatch(r"-([0-9]{1,9})([smhd])", other)
            if found is None:
                raise ConfigurationError(
                    f"--from {other!r} is no place to start",
                    remedy="use beginning, end, or a span such as -30s, -5m, -2h",
                )
            return max(0, now_ms - int(found[1]) * _UNITS_MS[found[2]])


def follow(
    names: Sequence[str],
    *,
    kafka: str | None,
    prefix: str | None,
    channel: str | None,
    turn: str | None,
    start: str | None,
    live: bool,
    as_json: bool,
) -> None:
    """Print the records of the topics; returns when all are printed, or on Ctrl-C, or when nobody reads."""
    for option, value in (("--channel", channel), ("--turn", turn)):
        if value is not None and not value.strip():
            raise ConfigurationError(f"{option} is empty", remedy="Name one, or leave the option out.")
    settings = load_settings(kafka=kafka, prefix=prefix)
    topics = _chosen(load_topics(settings.topics_file), names)
    now_ms = time.time_ns() // 1_000_000
    wanted = Filter(since_ms=starting_time(start, live=live, now_ms=now_ms), channel=channel, turn=turn)
    run(settings, _follow(settings, topics, wanted, live=live, form=_form(as_json)))


def _form(json_lines: bool) -> Callable[[LogRecord], str]:
    if json_lines:
        return as_json
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return lambda record: readable(record, colours=colours)


def _chosen(topics: Topics, names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in topics.topics:
            raise ConfigurationError(f"there is no topic {name!r}", remedy=f"topics are {', '.join(topics.topics)}")
    return list(dict.fromkeys(names)) or list(topics.topics)


async def _follow(
    settings: Settings, names: Sequence[str], wanted: Filter, *, live: bool, form: Callable[[LogRecord], str]
) -> None:
    async with connect_admin(settings) as admin:
        present = await admin.topics()
    missing = [name for name in names if name not in present]
    if missing:
        raise TopicMismatch(
            f"topic {settings.prefix + missing[0]!r} does not exist on {settings.kafka}",
            remedy="create the topics with `odradek topics create`",
        )
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    printer = Printer(form, wanted, stop.set)
    tails = [
        KafkaTail(
            client_options(settings),
            profile_of(settings),
            logical=name,
            topic=f"{settings.prefix}{name}",
            partitions=present[name].partitions,
            since_ms=wanted.since_ms,
            on_record=printer.take,
        )
        for name in names
    ]
    try:
        async with reaching(settings, "reading topics"):
            await asyncio.gather(*(tail.start() for tail in tails))
        reading = asyncio.ensure_future(_read(settings, tails, [present[n].partitions for n in names], printer))
        stopped = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({reading, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                await reading
                if not live and printer.taken == 0:
                    _tell_nothing_found(wanted)
            if live:
                await stopped
        finally:
            reading.cancel()
            stopped.cancel()
    finally:
        await asyncio.gather(*(tail.stop() for tail in tails))


def _tell_nothing_found(wanted: Filter) -> None:
    """A misspelt id looks like a turn without records."""
    asked = [f"{name} {value}" for name, value in (("turn", wanted.turn), ("channel", wanted.channel)) if value]
    if asked:
        print(printable(f"no record of {' in '.join(asked)} was found"), file=sys.stderr)


async def _read(settings: Settings, tails: Sequence[KafkaTail], partitions: Sequence[int], printer: Printer) -> None:
    await asyncio.gather(*(tail.caught_up() for tail in tails))
    if not profile_of(settings).exact_times:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_END_BOUND_S):
                await _read_on(tails, partitions)
    printer.caught_up()


async def _read_on(tails: Sequence[KafkaTail], partitions: Sequence[int]) -> None:
    """The embedded broker names an end that is too low after batches of several records, but a fetch tells the true one."""
    while True:
        if all(tail.at_end(p) for tail, count in zip(tails, partitions, strict=True) for p in range(count)):
            return
        await asyncio.sleep(0.02)
