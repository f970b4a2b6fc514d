"""Log lines hold what an operator needs, and nothing that a user wrote or a key opens."""

import json
import logging
from collections.abc import Callable, Iterator

import pytest
import structlog

from services.runtime.logs import configure_logs, get_logger
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


def test_what_the_kafka_client_repeats_is_written_once_a_second(lines: Lines) -> None:
    configure("json")
    for number in range(50):
        logging.getLogger("aiokafka.client").warning("cannot reach node %s", number)
        logging.getLogger("services").warning("our own line")
    logging.getLogger("aiokafka.client").warning("something else")
    events = [line["event"] for line in parsed(lines)]
    assert events.count("cannot reach node 0") == 1
    assert sum(str(event).startswith("cannot reach") for event in events) <= 2
    assert events.count("our own line") == 50
    assert events.count("something else") == 1


def test_lines_below_the_level_are_not_written(lines: Lines) -> None:
    configure("json")
    get_logger("streams").debug("not now")
    logging.getLogger("aiokafka").info("joined")
    assert parsed(lines) == []
