"""The report of `odradek classify`: the answer through the normalizer's error rules and the orchestrator's texts."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar, get_args

from schemas.chunks import Dialect, ErrorChunk, ProviderError
from schemas.inbox import Locale
from services.cli.files import read_file
from services.normalizer.endings import EndOfFile
from services.normalizer.errors import http_error
from services.normalizer.errors.families import family_of
from services.normalizer.stream import StreamNormalizer
from services.orchestrator.presentation.present import CredentialSource, Scope, present
from services.runtime.errors import ConfigurationError

_Word = TypeVar("_Word", bound=str)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider answered, and for whom it is to be told."""

    dialect: Dialect
    provider: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    scope: Scope
    locale: Locale

    @classmethod
    def of(
        cls,
        *,
        body: str,
        dialect: str,
        status: int,
        provider: str,
        headers: list[str],
        source: str,
        fallback: bool,
        locale: str,
    ) -> "Answer":
        """The answer that the options mean; raises ConfigurationError for one that means nothing."""
        dialects: tuple[Dialect, ...] = get_args(Dialect)
        sources: tuple[CredentialSource, ...] = get_args(CredentialSource)
        locales: tuple[Locale, ...] = get_args(Locale)
        return cls(
            dialect=_one_of(dialect, dialects, "--dialect"),
            provider=provider,
            status=status,
            headers=dict(_header(line) for line in headers),
            body=read_file(body),
            scope=Scope(_one_of(source, sources, "--credential-source"), fallback),
            locale=_one_of(locale, locales, "--locale"),
        )


def report(answer: Answer) -> dict[str, Any]:
    """What the command prints."""
    error = _error(answer)
    if error is None:
        return {"error": None, "classifiers": [], "presentation": None}
    return {
        "error": error.model_dump(mode="json", exclude={"classifiers"}),
        "classifiers": list(error.classifiers),
        "presentation": asdict(present(error, answer.scope, answer.locale)),
    }


def _error(answer: Answer) -> ProviderError | None:
    if not 200 <= answer.status < 300:
        family = family_of(answer.dialect, answer.provider)
        return http_error(answer.status, answer.headers, answer.body, datetime.now(UTC), family=family)
    stream = StreamNormalizer(
        answer.dialect,
        "",
        provider=answer.provider,
        http_status=answer.status,
        content_type=answer.headers.get("content-type", ""),
    )
    chunks = [*stream.feed(answer.body), *stream.flush(EndOfFile())]
    return next((chunk.error for chunk in chunks if isinstance(chunk, ErrorChunk)), None)


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        raise ConfigurationError(f"--header {line!r} is no NAME:VALUE", remedy="write it as 'retry-after: 20'")
    return name.strip().lower(), value.strip()


def _one_of(value: str, known: tuple[_Word, ...], option: str) -> _Word:
    for word in known:
        if word == value:
            return word
    raise ConfigurationError(f"{option} is {value!r}", remedy=f"choose one of {', '.join(known)}")
