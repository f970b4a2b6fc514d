"""What every command has: a quick start, help with examples, and errors without tracebacks."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from services.cli.failures import BAD_USAGE, FAILED, explain
from services.cli.main import app
from services.runtime.errors import ConfigurationError, OdradekError, Unavailable
from services.sandbox.brokers.errors import BrokerUnavailable


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands and groups of commands, with their words."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: " ".join(("odradek", *path)))
def test_every_command_says_what_it_does_with_an_example(path: tuple[str, ...]) -> None:
    text = COMMANDS[path].help or ""

    assert text.strip()
    assert f"odradek {' '.join(path)}" in text.partition("Example")[2]


def test_the_command_line_starts_without_what_its_commands_need() -> None:
    heavy = ("pydantic", "aiokafka", "discord", "aiohttp", "httpx", "yaml", "rich", "structlog", "uvloop")
    script = f"import sys, services.cli.main; print([name for name in {heavy!r} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_wrong_setting_is_named_without_a_traceback(odradek: Any) -> None:
    done = odradek("catalog", "check", ODRADEK_HTTP_PORT="many", ODRADEK_BROKER="rabbit")

    assert done.code == 2
    assert done.out == ""
    assert "error: ODRADEK_HTTP_PORT: " in done.err
    assert "error: ODRADEK_BROKER: " in done.err
    assert "'rabbit'" in done.err
    assert "what to do: " in done.err


def test_an_unusable_topics_file_is_named_without_a_traceback(odradek: Any, tmp_path: Any) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("topics: [\n")

    done = odradek("topics", "show", "--file", str(path))

    assert done.code == 2
    assert done.err.startswith(f"error: {path}:2:1: not YAML")


def test_a_broker_that_is_away_is_a_failure_that_says_what_to_do(odradek: Any) -> None:
    done = odradek("topics", "create", "--kafka", "127.0.0.1:1")

    assert done.code == 1
    assert done.err.splitlines()[0] == (
        "error: Kafka is unavailable: no broker answers at 127.0.0.1:1 (Connection refused)"
    )
    assert done.err.splitlines()[1].startswith("what to do: ")
    assert len(done.err.splitlines()) == 2


def test_wrong_usage_exits_with_two(odradek: Any) -> None:
    done = odradek("topics", "create", "--partitions", "0")

    assert done.code == 2
    assert "--partitions" in done.err


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (ConfigurationError("it is wrong", remedy="mend it"), BAD_USAGE, "error: it is wrong\nwhat to do: mend it"),
        (OdradekError("it failed"), FAILED, "error: it failed"),
        (Unavailable("discord", "gone"), FAILED, "error: discord is unavailable: gone"),
        (BrokerUnavailable("no Java", "install it"), FAILED, "error: no Java\nwhat to do: install it"),
        (OdradekError("two\n\x1b[31mlines"), FAILED, "error: two\nerror: \\x1b[31mlines"),
    ],
)
def test_an_expected_error_becomes_one_message(error: Exception, code: int, text: str) -> None:
    failure = explain(error)

    assert failure is not None
    assert (failure.exit_code, failure.text) == (code, text)


def test_a_defect_keeps_its_traceback() -> None:
    assert explain(KeyError("x")) is None
