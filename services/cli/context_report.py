"""The report of `odradek context`: a file and options in, a native request without secrets out."""

import json
import re
import sys
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast, get_args
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pydantic import ValidationError

from schemas.chunks import Dialect
from schemas.context import NeutralContext
from schemas.prompts import Placement
from services.catalog.providers import PROVIDERS, provider_named
from services.catalog.seeds import SEEDS
from services.catalog.seeds.model import ModelSeed
from services.catalog.target import ModelFacts, ProviderName, Target
from services.cli.catalog_arguments import is_endpoint
from services.cli.files import read_file
from services.cli.printable import printable, printable_json
from services.context.failures import CannotAssemble
from services.context.habits.table import habits_of
from services.context.render import render
from services.context.rendered import BlobText, NativeValue
from services.runtime.errors import ConfigurationError

MASKED = "********"
_MOST_PROBLEMS = 10
_MOST_OF_A_PLACE = 400
_PROVIDERS: dict[Dialect, ProviderName] = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "google": "google",
    "novelai": "novelai",
}
_CAPABILITIES = {
    "tools": "has_tools",
    "images": "sees_images",
    "videos": "sees_videos",
    "youtube": "sees_youtube",
    "reasoning": "is_reasoning",
}
_KEY_HEADERS: dict[Placement, dict[str, str]] = {
    "bearer": {"authorization": f"Bearer {MASKED}"},
    "google-adc": {"authorization": f"Bearer {MASKED}"},
    "x-api-key": {"x-api-key": MASKED},
    "x-goog-api-key": {"x-goog-api-key": MASKED},
    "none": {},
}
_SECRET_QUERY = re.compile(r"(?i).*(key|token|secret|password|signature).*")
_Word = TypeVar("_Word", bound=str)


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom a request is made for: under which name, and whether a key is shown."""

    provider: str
    target: Target
    wants_key: bool = True


def asked_by(
    *,
    dialect: str | None,
    provider: str | None,
    model: str | None,
    base_url: str | None,
    num_ctx: int | None,
    capabilities: str | None,
    context_window: int | None,
    max_output_tokens: int | None,
    supported_parameters: str | None,
    strict_role_alternation: bool | None,
    prefix_completion: bool | None,
) -> Asked:
    """Whom the options mean; raises ConfigurationError for options that mean nobody, and what `stored_endpoint` raises."""
    _check_address(base_url)
    given: dict[str, object] = {
        "context_window": context_window,
        "max_output_tokens": max_output_tokens,
        "supported_parameters": None if supported_parameters is None else frozenset(_listed(supported_parameters)),
        "strict_role_alternation": strict_role_alternation,
        "supports_prefix_completion": prefix_completion,
    }
    facts = {name: value for name, value in given.items() if value is not None}
    if capabilities is not None:
        wanted = [_one_of(name, (*_CAPABILITIES, "none"), "--capabilities") for name in _listed(capabilities)]
        facts |= {field: name in wanted for name, field in _CAPABILITIES.items()}
    if provider is not None and is_endpoint(provider):
        if not dialect is model is base_url is num_ctx is None:
            raise ConfigurationError(
                f"the catalog says what {provider} is",
                remedy="Leave out --dialect, --model, --base-url and --num-ctx, or name --provider custom.",
            )
        from services.cli.stored_endpoint import stored_endpoint  # it alone needs a database's client

        stored, wants_key = stored_endpoint(provider)
        target = replace(stored, model=replace(stored.model, **cast("dict[str, Any]", facts)))
        return Asked(provider, target, wants_key)
    spoken = None if dialect is None else _one_of(dialect, get_args(Dialect), "--dialect")
    owner = _PROVIDERS[spoken or "openai-chat"] if provider is None else _provider(provider)
    if owner == "custom" and base_url is None:
        raise ConfigurationError(
            "the provider custom needs a base URL",
            remedy="Give --base-url, or --provider custom:N for an endpoint of the catalog.",
        )
    seed = _seed(owner, model, spoken if provider is None else None)
    if seed is None and model is None:
        raise ConfigurationError(f"{owner} has no default model in this dialect", remedy="Name one with --model.")
    known = ModelFacts(model or "", has_tools=True, sees_images=True) if seed is None else seed.facts()
    fallback = (seed and seed.dialect) or PROVIDERS[owner].dialect
    facts_of_model = replace(known, **cast("dict[str, Any]", facts))
    return Asked(owner, Target(owner, spoken or fallback, facts_of_model, base_url, num_ctx))


def print_request(file: str, asked: Asked) -> None:
    """Print the request of a file; raises ConfigurationError with the place in the file, or for what cannot be sent."""
    context, target = _read(file), asked.target
    try:
        made = render(context, target)
    except CannotAssemble as error:
        raise ConfigurationError(str(error), remedy=error.remedy) from error
    placement = habits_of(target).placement if asked.wants_key else "none"
    _print(
        {
            "provider": asked.provider,
            "dialect": target.dialect,
            "model": target.model.codename,
            "method": "POST",
            "url": _masked(made.url),
            "headers": {**made.headers, **_KEY_HEADERS[placement]},
            "body": _printable(made.body),
            "warnings": [
                {"code": warning.code, "place": warning.place, "message": warning.message} for warning in made.warnings
            ],
            "mandatory": sorted(made.mandatory),
            "added": list(made.added),
            "skipped_images": list(made.skipped_images),
        }
    )


def print_schema() -> None:
    """Print the JSON Schema of a context's file."""
    _print({"$schema": "https://json-schema.org/draft/2020-12/schema", **NeutralContext.model_json_schema()})


def _read(file: str) -> NeutralContext:
    raw = read_file(file)
    try:
        return NeutralContext.model_validate_json(raw, extra="forbid")
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
    unknown = [problem for problem in problems if problem["type"] == "extra_forbidden"]
    if len(unknown) < len(problems):
        wrong = [problem for problem in problems if problem["type"] != "extra_forbidden"]
        lines = [f"{_place(problem['loc'])}: {problem['msg']}" for problem in wrong[:_MOST_PROBLEMS]]
        if len(wrong) > _MOST_PROBLEMS:
            lines.append(f"and {len(wrong) - _MOST_PROBLEMS} more")
        name = "standard input" if file == "-" else file
        raise ConfigurationError(
            "\n".join((f"{name} holds no neutral context", *lines)),
            remedy="odradek context schema prints what it may hold",
        )
    for problem in unknown[:_MOST_PROBLEMS]:
        place = _place(problem["loc"])[:_MOST_OF_A_PLACE]
        print(printable(f"warning: {place} is unknown and has no effect"), file=sys.stderr)
    if len(unknown) > _MOST_PROBLEMS:
        print(f"warning: and {len(unknown) - _MOST_PROBLEMS} more", file=sys.stderr)
    return NeutralContext.model_validate_json(raw)


def _place(location: tuple[int | str, ...]) -> str:
    """`items[0].parts[1].text`. Names of a union's alternatives stand in a location too, and are left out."""
    out = ""
    for index, step in enumerate(location):
        if isinstance(step, int):
            out += f"[{step}]"
        elif not (index and isinstance(location[index - 1], int) and step in ("text", "image", "video", "omitted")):
            out += f".{step}" if out else step
    return out or "the file"


def _check_address(base_url: str | None) -> None:
    try:
        urlsplit(base_url or "")
    except ValueError as error:
        raise ConfigurationError("--base-url cannot be read", remedy="Give an http or https URL.") from error


def _provider(name: str) -> ProviderName:
    found = provider_named(name)
    if found is None:
        raise ConfigurationError(f"--provider is {name[:40]!r}", remedy=f"Use one of {', '.join(PROVIDERS)}.")
    return found


def _seed(provider: ProviderName, model: str | None, dialect: Dialect | None) -> ModelSeed | None:
    """The model that ships with Odradek under the name, or the provider's default one that speaks the dialect."""
    seeds = SEEDS[provider]
    if model is not None:
        return next((seed for seed in seeds if seed.codename == model), None)
    speaking = [seed for seed in seeds if dialect in (None, seed.dialect or PROVIDERS[provider].dialect)]
    default = next((seed for seed in speaking if seed.is_default), None)
    return default or next(iter(speaking), None)


def _one_of(word: str, words: tuple[_Word, ...], option: str) -> _Word:
    for known in words:
        if word == known:
            return known
    raise ConfigurationError(f"{option} is {word[:40]!r}", remedy=f"Use one of {', '.join(words)}.")


def _listed(text: str) -> list[str]:
    return [name for name in re.split(r"[\s,]+", text) if name]


def _masked(url: str) -> str:
    """The URL without what is secret in it: a user's part, and a query's keys."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")
    query = [(name, MASKED if _SECRET_QUERY.fullmatch(name) else value) for name, value in parse_qsl(parts.query)]
    netloc = f"{MASKED}@{host[2]}" if host[1] else parts.netloc
    return urlunsplit((parts.scheme, netloc, parts.path, urlencode(query, safe="*"), parts.fragment))


def _printable(value: NativeValue) -> Any:
    match value:
        case BlobText():
            return {"blob": value.blob.key, "size": value.blob.size, "prefix": value.prefix}
        case dict():
            return {key: _printable(inner) for key, inner in cast("dict[str, NativeValue]", value).items()}
        case list():
            return [_printable(inner) for inner in cast("list[NativeValue]", value)]
        case _:
            return value


def _print(value: dict[str, Any]) -> None:
    text = printable_json(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False))
    sys.stdout.buffer.write(f"{text}\n".encode())
