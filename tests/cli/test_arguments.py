"""Arguments that nobody means: each is refused with exit code 2 and its name, before the command does anything."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from services.cli.arguments import MOST_CHARACTERS, guard
from services.cli.main import app
from tests.cli.conftest import Command

PROGRAM = guard(typer.main.get_command(app))


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with its words."""
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))
    if not hasattr(command, "commands"):
        yield path, command


COMMANDS = dict(commands(PROGRAM))


def places(command: Any) -> Iterator[tuple[Any, list[str]]]:
    """Each parameter that takes a value, with what stands before the value."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    yield from ((argument, ["--", *["x"] * number]) for number, argument in enumerate(arguments))
    options = [one for one in command.params if one.param_type_name == "option" and not one.is_flag]
    yield from ((option, [option.opts[0]]) for option in options)


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says of its wrong usage."""
    with pytest.raises(SystemExit) as ended:
        PROGRAM(args=arguments, prog_name="odradek")
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_a_nul_and_an_option_in_the_place_of_a_value_are_refused_by_name(
    path: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for parameter, before in places(COMMANDS[path]):
        is_option = parameter.param_type_name == "option"
        for value in ("a\0b", *([parameter.opts[0]] if is_option else [])):
            said = refusal([*path, *before, value], capsys)
            assert "Invalid value for '" in said
            assert not is_option or f"'{parameter.opts[0]}'" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["catalog", "upgrade"],
        ["provider", "add"],
        ["provider", "add", "openai", "--model"],
        ["model", "set", "openai"],
        ["model", "fallback"],
        ["endpoint", "add", "--url"],
        ["endpoint", "remove"],
        ["context", "render", "--base-url"],
        ["topics", "tail", "--turn"],
    ],
)
def test_what_is_no_text_or_far_too_long_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert "it is no UTF-8" in refusal([*arguments, "\udcff"], capsys)
    assert "it has more than 8192 characters" in refusal([*arguments, "x" * (MOST_CHARACTERS + 1)], capsys)


def test_a_turn_or_channel_that_is_empty_is_not_followed_for_ever(command: Command) -> None:
    for option in ("--turn", "--channel"):
        done = command("topics", "tail", option, "")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: {option} is empty\n")


def test_a_file_whose_name_is_no_utf_8_is_read(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "odd\udcff.json"
    file.write_text("{}")
    done = command("context", "render", "--dialect", "anthropic", str(file))
    assert done.returncode == 2
    assert "holds no neutral context" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("catalog", "upgrade", ""), 2, "it is empty"),
        (("catalog", "downgrade", ""), 2, "it is empty"),
        (("catalog", "upgrade", "@"), 1, "there is no way to revision '@'"),
        (("catalog", "downgrade", "+1"), 1, "there is no way to revision '+1'"),
        (("model", "set", "anthropic", "claude-opus-4-7", "--server", "1", "--channel", ""), 2, "--channel takes"),
        (("model", "set", "anthropic", "claude-opus-4-7", "--server", "1", "--channel", "home"), 2, "--channel takes"),
        (("model", "unset", "--server", "1", "--channel", "1" * 21), 2, "--channel takes a Discord id"),
        (("model", "set", "anthropic", "claude-opus-4-7", "--server", "1", "--persona", ""), 1, "1 to 64 characters"),
        (("model", "unset", "--server", "1", "--persona", "p" * 65), 1, "a persona's id has 1 to 64 characters"),
        (("endpoint", "add", "x", "--url", "https://8.8.8.8", "--model", "m", "--num-ctx", "9" * 20), 2, "--num-ctx"),
    ],
)
def test_ids_and_numbers_that_the_catalog_cannot_hold_are_refused(
    command: Command, arguments: tuple[str, ...], code: int, complaint: str
) -> None:
    command("provider", "add", "anthropic", "--server", "1", stdin="a-key-of-some-length")
    done = command(*arguments)
    assert done.returncode == code, done.stderr
    assert complaint in done.stderr


@pytest.mark.parametrize("content", [b"\xff\xfe", b"topics: 2020-99-99", b"[" * 5_000])
def test_a_topics_file_that_cannot_be_read_is_named(command: Command, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "topics.yaml"
    file.write_bytes(content)
    done = command("topics", "show", "--file", str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {file}")
