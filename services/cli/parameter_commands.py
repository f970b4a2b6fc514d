"""What `odradek model parameters` does."""

import json
from collections.abc import Mapping, Sequence
from typing import TypeVar, get_args

from schemas.sampling import SamplingParameter, ThinkingLevel
from services.catalog.catalog import open_catalog
from services.catalog.owners import Owner
from services.catalog.parameters import PARAMETERS, Changes, Number, Parameter, disabled
from services.catalog.providers import provider_named
from services.catalog.tuning import change_parameters, parameters_of
from services.cli.catalog_arguments import owner_of, provider_of
from services.cli.environment import load_settings
from services.cli.shell import run
from services.context.neutral.sampling import SUPPORTED
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings

Name = TypeVar("Name", bound=str)
_SAMPLING: tuple[SamplingParameter, ...] = get_args(SamplingParameter)


def parameters(
    name: str,
    *,
    server: str | None,
    user: str | None,
    numbers: Mapping[Number, float],
    thinking_level: ThinkingLevel | None,
    disable: Sequence[str],
    enable: Sequence[str],
    reset: Sequence[str],
    as_json: bool,
) -> None:
    """Change what is given, and print what is set then."""
    settings, owner, provider = load_settings(), owner_of(server, user), provider_of(name)
    named = _named("--reset", [word for word in reset if word != "all"], PARAMETERS)
    changes = Changes(
        numbers=numbers,
        thinking_level=thinking_level,
        reset=frozenset(PARAMETERS if "all" in reset else named),
        disable=_named("--disable", disable, _SAMPLING),
        enable=_named("--enable", enable, _SAMPLING),
    )
    held = run(settings, _held(settings, owner, provider, changes))
    if as_json:
        values = {parameter: held.get(parameter) for parameter in PARAMETERS}
        print(json.dumps(values | {"disabled_parameters": list(disabled(held))}, indent=2))
        return
    for parameter in PARAMETERS:
        print(f"{parameter}: {_told(provider, held, parameter)}")


def _named(option: str, names: Sequence[str], known: Sequence[Name]) -> list[Name]:
    for name in names:
        if name not in known:
            raise ConfigurationError(
                f"{option} knows no parameter {name[:40]!r}", remedy=f"Name one of {', '.join(known)}."
            )
    return [name for name in known if name in names]


async def _held(settings: Settings, owner: Owner, provider: str, changes: Changes) -> Mapping[str, object]:
    async with open_catalog(settings) as catalog:
        if not changes:
            async with catalog.database.reading() as session:
                return await parameters_of(session, owner, provider)
        async with catalog.database.writing() as session:
            return await change_parameters(session, owner, provider, changes)


def _told(provider: str, held: Mapping[str, object], parameter: Parameter) -> str:
    """The value, and whether it is for nothing: sampling parameters that a provider does not know are not sent."""
    if parameter == "disabled_parameters":
        return ", ".join(disabled(held)) or "none"
    if parameter not in held:
        return "not set"
    if parameter in disabled(held):
        return f"{held[parameter]} (disabled)"
    known = SUPPORTED[provider_named(provider) or "custom"]
    unknown = parameter not in ("thinking_level", "max_output_tokens") and parameter not in known
    return f"{held[parameter]} (not sent: {provider} does not know it)" if unknown else f"{held[parameter]}"
