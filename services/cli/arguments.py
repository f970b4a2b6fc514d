"""What every text on the command line must be, whatever it means: text of a bounded length, and not a forgotten value."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

MOST_CHARACTERS = 8_192
"""More than any name, address or list that a command takes."""


def guard(command: Any) -> Any:
    """The command as typer makes it, with a check before each text that it or a command below it takes.

    Refused, with exit code 2 and the argument's name: bytes that are no UTF-8, which Python reads as lone surrogates; NUL;
    more than MOST_CHARACTERS; an argument that is blank; and an option of the command in the place of another one's value,
    which then has none. A path, and what the help calls FILE, may be any bytes but NUL, as names of files are.
    """
    for inner in getattr(command, "commands", {}).values():
        guard(inner)
    for parameter in command.params:
        parameter.callback = _check
    return command


def _check(context: Any, parameter: Any, value: Any) -> Any:
    for one in _texts(value):
        text = str(one)
        problem = _problem(text, is_file=isinstance(one, Path) or "FILE" in (parameter.metavar or ""))
        is_option = parameter.param_type_name == "option"
        if problem is None and is_option and text in _options(context.command):
            problem = f"its value is missing: {text} is an option"
        if problem is None and not is_option and not text.strip():
            problem = "it is empty"
        if problem is not None:
            raise typer.BadParameter(problem, ctx=context, param=parameter)
    return value


def _texts(value: Any) -> Iterator[str | Path]:
    if isinstance(value, str | Path):
        yield value
    elif isinstance(value, list | tuple):
        for one in value:  # pyright: ignore[reportUnknownVariableType] -- click's own
            yield from _texts(one)


def _problem(text: str, *, is_file: bool) -> str | None:
    if "\0" in text:
        return "it holds a NUL"
    if is_file:
        return None
    if len(text) > MOST_CHARACTERS:
        return f"it has more than {MOST_CHARACTERS} characters"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "it is no UTF-8"
    return None


def _options(command: Any) -> set[str]:
    return {name for other in command.params for name in (*other.opts, *other.secondary_opts) if name.startswith("-")}
