"""Log lines hold what an operator needs, and nothing that a user wrote or a key opens."""

import json
import logging
from collections.abc import Callable, Iterator

import pytest
import structlog

from services.runtime.logs import configure_logs, get_logger
from services.runtime.repeats import Repeats
from services.runtime.settings import Settings

Lines = Callable[[], str]


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Iterator[Lines]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    levels = {name: logging.getLogger(name).level for name in ("aiokafka", "asyncio", "discord", "httpx")}
    structure = structlog.get_config()
    yield lambda: capsys.readouterr().err
    root.handlers = handlers
    root.setLevel(level)
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)
    structlog.contextvars.clear_contextvars()
    structlog.reset_defaults()
    structlog.configure(**structure)


def configure(log_format: str) -> None:
    configure_logs(Settings.model_validate({"log_format": log_format}), service="provider", instance="provider-0")


def parsed(lines: Lines) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines().splitlines()]


def test_json_lines_say_service_instance_and_turn(lines: Lines) -> None:
    configure("json")
    get_logger("streams").bind(turn="m1", generation=2, channel="7").info("stream ended", ending="eof")
    [line] = parsed(lines)
    assert line.pop("timestamp")
    assert line == {
        "event": "stream ended",
        "ending": "eof",
        "level": "info",
        "logger": "streams",
        "service": "provider",
        "instance": "provider-0",
        "turn": "m1",
        "generation": 2,
        "channel": "7",
    }


def test_lines_of_libraries_look_the_same(lines: Lines) -> None:
    configure("json")
    logging.getLogger("httpx").warning("odd answer of %s", "a host")
    [line] = parsed(lines)
    assert (line["event"], line["logger"], line["service"]) == ("odd answer of a host", "httpx", "provider")


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_a_traceback_shows_no_local_variables(lines: Lines, log_format: str) -> None:
    configure(log_format)

    def call(authorization: str) -> None:
        headers = {"authorization": authorization}
        raise RuntimeError(f"{len(headers)} header")

    secret = "-".join(["very", "secret"])  # the source line itself is shown
    try:
        call(secret)
    except RuntimeError:
        get_logger("streams").exception("defect")
        logging.getLogger("other").exception("defect")
    text = lines()
    assert "RuntimeError" in text
    assert "1 header" in text
    assert "very-secret" not in text


def at(seconds: float, logger: str, message: str, *arguments: object) -> None:
    """A line of a library, written at a time of the test's choosing."""
    record = logging.getLogger(logger).makeRecord(logger, logging.WARNING, "", 0, message, arguments, None)
    record.created = seconds
    logging.getLogger(logger).handle(record)


def test_what_a_library_repeats_is_written_once_in_a_while_with_the_number_left_out(lines: Lines) -> None:
    configure("json")
    for number in range(600):
        at(1_000.0 + number * 0.1, "aiokafka.client", "cannot reach node %s", number)
    at(1_000.5, "aiokafka.client", "something else")
    at(1_000.5, "aiokafka.producer", "cannot reach node %s", 1)
    events = [(line["event"], line["logger"], line.get("suppressed")) for line in parsed(lines)]
    assert events == [
        ("cannot reach node 0", "aiokafka.client", None),
        ("cannot reach node 300", "aiokafka.client", 299),
        ("something else", "aiokafka.client", None),
        ("cannot reach node 1", "aiokafka.producer", None),
    ]


def test_our_own_lines_are_left_out_only_where_they_say_that_an_outage_repeats_them(lines: Lines) -> None:
    configure("json")
    for number in range(50):
        get_logger("feed").error("dead letter", offset=number)
        get_logger("feed").warning("waiting for a dependency", dependency="discord", offset=number, often=True)
    read = parsed(lines)
    assert [line["offset"] for line in read if line["event"] == "dead letter"] == list(range(50))
    [waiting] = [line for line in read if line["event"] == "waiting for a dependency"]
    assert waiting["offset"] == 0
    assert "often" not in waiting


def test_kinds_of_lines_without_number_do_not_fill_the_memory(lines: Lines) -> None:
    configure("json")
    for number in range(3_000):
        at(1_000.0, "aiokafka.client", f"kind {number}")
    [handler] = logging.getLogger().handlers
    [repeats] = handler.filters
    assert isinstance(repeats, Repeats)
    assert repeats.kinds <= 1_000
    assert len(parsed(lines)) == 3_000


def test_lines_below_the_level_are_not_written(lines: Lines) -> None:
    configure("json")
    get_logger("streams").debug("not now")
    logging.getLogger("aiokafka").info("joined")
    assert parsed(lines) == []
