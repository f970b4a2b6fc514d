"""The settings as rows, for people and for programs."""

import json
import os
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, cast

import typer
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from services.cli.environment import Read, is_set, read_settings, unknown_variables, variables
from services.cli.failures import BAD_USAGE
from services.cli.printable import printable
from services.runtime.settings import Settings

MASK = "********"
UNSET = "-"
UNUSABLE = "?"
_USER_INFO = re.compile(r"//[^/@\s]*@")


@dataclass(frozen=True, slots=True)
class Row:
    """One setting. `value` and `default` are as a person reads them: a mask for secrets, a dash for what is unset.

    `problem` says what is wrong with a value that cannot be used; such a value is told there alone.
    """

    variables: tuple[str, ...]
    meaning: str
    default: str
    value: str
    source: Literal["environment", "default"]
    problem: str = ""


def rows(read: Read, environment: Mapping[str, str] = os.environ) -> list[Row]:
    """All settings in the order in which they are declared."""
    return [_row(read, name, info, environment) for name, info in Settings.model_fields.items()]


def _row(read: Read, name: str, info: FieldInfo, environment: Mapping[str, str]) -> Row:
    default = info.default
    # What stands in the code is no secret.
    told = _shown(default.get_secret_value() if isinstance(default, SecretStr) else default)
    given, wrong = is_set(name, environment), name in read.problems
    return Row(
        variables=variables(name),
        meaning=info.description or "",
        default=told,
        value=told if not given else UNUSABLE if wrong else _shown(getattr(read.settings, name)),
        source="environment" if given else "default",
        problem="; ".join(read.problems.get(name, ())),
    )


def _shown(value: object) -> str:
    match value:
        case None | () | "":
            return UNSET
        case SecretStr():
            return MASK if value.get_secret_value() else UNSET
        case dict():
            return MASK if value else UNSET
        case tuple():
            return ",".join(printable(str(part)) for part in cast(tuple[object, ...], value))
        case bool():
            return str(value).lower()
        case _:
            return _USER_INFO.sub(rf"//{MASK}@", printable(str(value)))


def print_settings(*, as_json: bool) -> None:
    """Print all settings, also where some are wrong; exits with 2 then."""
    read = read_settings()
    found = rows(read)
    if as_json:
        print(json.dumps([asdict(row) for row in found], indent=2, ensure_ascii=False))
    else:
        _print(found)
    if read.problems:
        raise typer.Exit(BAD_USAGE)


def _print(found: Sequence[Row]) -> None:
    for row in found:
        print(f"{' or '.join(row.variables)}")
        print(textwrap.fill(row.meaning, 100, initial_indent="    ", subsequent_indent="    "))
        default = "" if row.source == "default" else f" (default: {row.default})"
        print(f"    = {row.value}{default}, from {'the environment' if row.source == 'environment' else 'the default'}")
        if row.problem:
            print(f"    WRONG: {row.problem}")
    for name, meant in unknown_variables().items():
        hint = f"; is {meant} meant?" if meant else ""
        print(f"warning: {printable(name)} is no setting{hint}")
