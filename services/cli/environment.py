"""The settings as a command gets them: options first, then the environment, with errors that name the variable."""

import difflib
import os
from collections.abc import Mapping

from pydantic import AliasChoices, SecretStr, ValidationError

from services.cli.printable import printable
from services.runtime.errors import ConfigurationError
from services.runtime.settings import CRYPTO_SECRET, Settings

PREFIX = "ODRADEK_"


def load_settings(**options: object) -> Settings:
    """The settings; an option that is not None goes before the environment.

    Raises ConfigurationError, which names each variable that is wrong and never shows a secret.
    """
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Settings(**given)  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        lines = [
            _complaint(str(item["loc"][0]) if item["loc"] else "", item["msg"], item["input"])
            for item in error.errors()
        ]
        raise ConfigurationError(
            "\n".join(lines), remedy="Correct or unset it; `odradek settings` explains every setting."
        ) from None


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


def _complaint(place: str, message: str, value: object) -> str:
    name = next((field for field in Settings.model_fields if place == field or place in variables(field)), None)
    if name is None:
        return f"{place}: {message}"
    shown = "" if is_secret(name) or isinstance(value, SecretStr) else f", but it is {printable(str(value))[:80]!r}"
    return f"{' or '.join(variables(name))}: {message}{shown}"
