"""The settings as rows, for people and for programs."""

import json
import os
import re
import textwrap
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, cast

from pydantic import SecretStr

from services.cli.environment import is_secret, is_set, load_settings, unknown_variables, variables
from services.cli.printable import printable
from services.runtime.settings import Settings

MASK = "********"
UNSET = "-"
_USER_INFO = re.compile(r"//[^/@\s]*@")


@dataclass(frozen=True, slots=True)
class Row:
    """One setting. `value` and `default` are as a person reads them: a mask for secrets, a dash for what is unset."""

    variables: tuple[str, ...]
    meaning: str
    default: str
    value: str
    source: Literal["environment", "default"]


def rows(settings: Settings, environment: Mapping[str, str] = os.environ) -> list[Row]:
    """All settings in the order in which they are declared."""
    return [
        Row(
            variables=variables(name),
            meaning=info.description or "",
            default=UNSET if is_secret(name) else _shown(info.default),
            value=_shown(getattr(settings, name)),
            source="environment" if is_set(name, environment) else "default",
        )
        for name, info in Settings.model_fields.items()
    ]


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
    """Print all settings; raises ConfigurationError where one is wrong."""
    found = rows(load_settings())
    if as_json:
        print(json.dumps([asdict(row) for row in found], indent=2, ensure_ascii=False))
        return
    for row in found:
        print(f"{' or '.join(row.variables)}")
        print(textwrap.fill(row.meaning, 100, initial_indent="    ", subsequent_indent="    "))
        default = "" if row.source == "default" else f" (default: {row.default})"
        print(f"    = {row.value}{default}, from {'the environment' if row.source == 'environment' else 'the default'}")
    for name, meant in unknown_variables().items():
        hint = f"; is {meant} meant?" if meant else ""
        print(f"warning: {printable(name)} is no setting{hint}")
