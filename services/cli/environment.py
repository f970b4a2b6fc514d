"""The settings as a command gets them: options first, then the environment, with errors that name the variable."""

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import AliasChoices, SecretStr, ValidationError

from services.cli.printable import printable
from services.runtime.errors import ConfigurationError
from services.runtime.settings import CRYPTO_SECRET, Settings

PREFIX = "ODRADEK_"


def load_settings(**options: object) -> Settings:
    """The settings; an option that is not None goes before the environment.

    Raises ConfigurationError, which names each variable that is wrong and never shows a secret.
    """
    read = read_settings(**options)
    if read.problems:
        lines = [problem for problems in read.problems.values() for problem in problems]
        raise ConfigurationError("\n".join(lines), remedy=CORRECT_IT)
    return read.settings


def read_settings(**options: object) -> "Read":
    """The settings with the default of each that is wrong, and what is wrong there; an option that is None is not given."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Read(Settings(**given), {})  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        problems: dict[str, tuple[str, ...]] = {}
        for item in error.errors():
            name = _field(str(item["loc"][0]))
            problems[name] = (*problems.get(name, ()), _complaint(name, item["msg"], item["input"]))
    # Under the name by which pydantic looks first, so that it goes before what the environment says.
    fields = {name: Settings.model_fields[name] for name in problems}
    defaults = {
        name if field.validation_alias is None else variables(name)[0]: field.get_default()
        for name, field in fields.items()
    }
    kept = {name: value for name, value in given.items() if name not in problems}
    return Read(Settings(**kept, **defaults), problems)  # pyright: ignore[reportArgumentType]


@dataclass(frozen=True, slots=True)
class Read:
    """Settings as far as they can be used. `problems` says of each field that is wrong why, naming its variable."""

    settings: Settings
    problems: Mapping[str, tuple[str, ...]]


CORRECT_IT = "Correct or unset it; `odradek settings` explains every setting."


def variables(name: str) -> tuple[str, ...]:
    """The environment variables of a field of Settings; the first one that is set counts.

    Of the catalog's secrets, which have a variable a version and all count, the first two.
    """
    if name == "crypto_secrets":
        return ("ODRADEK_CRYPTO_SECRET_V1", "ODRADEK_CRYPTO_SECRET_V2")
    alias = Settings.model_fields[name].validation_alias
    if isinstance(alias, AliasChoices):
        return tuple(choice for choice in alias.choices if isinstance(choice, str))
    return (f"{PREFIX}{name.upper()}",)


def is_set(name: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether the environment sets the field."""
    if name == "crypto_secrets":
        return any(CRYPTO_SECRET.fullmatch(variable) for variable in environment)
    return not {variable.upper() for variable in environment}.isdisjoint(variables(name))


def is_secret(name: str) -> bool:
    """Whether the field's value must never be shown."""
    return "SecretStr" in str(Settings.model_fields[name].annotation)


def unknown_variables(environment: Mapping[str, str] = os.environ) -> dict[str, str | None]:
    """Variables with our prefix that no setting has, each with the setting that was probably meant."""
    known = {variable for name in Settings.model_fields for variable in variables(name)}
    strange = sorted(
        name
        for name in environment
        if name.upper().startswith(PREFIX)
        and name.upper() not in known | OTHER_VARIABLES
        and not CRYPTO_SECRET.fullmatch(name)
    )
    return {name: next(iter(difflib.get_close_matches(name.upper(), known, n=1)), None) for name in strange}


OTHER_VARIABLES = frozenset({"ODRADEK_TEST_KAFKA"})
"""Variables with our prefix that are no setting of a process."""


def _field(place: str) -> str:
    """The field that a place of pydantic's errors means: its own name, or a variable's."""
    return next(field for field in Settings.model_fields if place == field or place in variables(field))


def _complaint(name: str, message: str, value: object) -> str:
    shown = "" if is_secret(name) or isinstance(value, SecretStr) else f", but it is {printable(str(value))[:80]!r}"
    return f"{' or '.join(variables(name))}: {message}{shown}"
