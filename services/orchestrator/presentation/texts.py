"""The texts by language and key, read once from the TOML files beside this one."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files

from schemas.inbox import Locale


@cache
def texts(locale: Locale) -> Mapping[str, str]:
    """All texts of a language, by dotted key. Placeholders are those of `str.format`."""
    source = (
        files("services.orchestrator.presentation").joinpath("locales", f"{locale}.toml").read_text(encoding="utf-8")
    )
    return dict(_flat(tomllib.loads(source), ""))


def _flat(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{prefix}{name}", str(value)
