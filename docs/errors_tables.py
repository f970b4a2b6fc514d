"""The tables in docs/errors.md, made from the error rules. `python docs/errors_tables.py` writes them into the page."""

from collections.abc import Iterator
from pathlib import Path

from schemas.chunks import ProviderError
from services.normalizer.errors import http_error
from services.normalizer.errors.codes import CODES
from services.normalizer.errors.families import (
    ALIBABA,
    ANTHROPIC,
    GOOGLE,
    MINIMAX,
    NOVELAI,
    NVIDIA,
    OPENAI,
    OPENROUTER,
    ZAI,
    Family,
)
from services.normalizer.errors.reasons import MEANINGS
from services.orchestrator.presentation.present import CredentialSource, Scope, present

PAGE = Path(__file__).parent / "errors.md"
MARKS = ("reasons", "statuses", "codes")
FAMILIES = (OPENAI, OPENROUTER, ANTHROPIC, GOOGLE, NVIDIA, ZAI, NOVELAI, ALIBABA, MINIMAX)
STATUSES = (400, 401, 402, 403, 404, 408, 410, 413, 422, 429, 498, 499, 500, 502, 503, 504, 520, 524, 529)


def page_with(text: str) -> str:
    """The page with each table put between its two marks."""
    for mark, lines in zip(MARKS, (_reasons(), _statuses(), _codes()), strict=True):
        begin, end = f"<!-- {mark}: made by docs/errors_tables.py -->", f"<!-- end of {mark} -->"
        head, _, rest = text.partition(begin)
        _, _, tail = rest.partition(end)
        text = f"{head}{begin}\n" + "\n".join(lines) + f"\n{end}{tail}"
    return text


def _reasons() -> Iterator[str]:
    yield "| reason | type | retryable | class | tips with the server's key | tips with a personal key |"
    yield "|---|---|---|---|---|---|"
    for reason, meaning in MEANINGS.items():
        error = ProviderError(
            type=meaning.type,
            code="x",
            message="x",
            retryable=meaning.retryable,
            classifiers=() if meaning.advice is None else (meaning.advice,),
        )
        cells = (reason, meaning.type, _yes(meaning.retryable), meaning.advice or "", _tips(error, "server"))
        yield f"| {' | '.join(cells)} | {_tips(error, 'personal')} |"


def _tips(error: ProviderError, source: CredentialSource) -> str:
    keys = present(error, Scope(source)).locale_keys
    return ", ".join(f"`{key.removeprefix('genai.tips.')}`" for key in keys if key.startswith("genai.tips."))


def _statuses() -> Iterator[str]:
    yield f"| status | {' | '.join(family.name for family in FAMILIES)} |"
    yield f"|---{'|---' * len(FAMILIES)}|"
    for status in STATUSES:
        yield f"| {status} | {' | '.join(_by_status(family, status) for family in FAMILIES)} |"


def _by_status(family: Family, status: int) -> str:
    error = http_error(status, {}, b"", family=family)
    return f"{error.classifiers[0] if error.classifiers else error.type}{', retry' if error.retryable else ''}"


def _codes() -> Iterator[str]:
    yield "| family | reason | codes |"
    yield "|---|---|---|"
    for family in FAMILIES:
        base = {} if family is OPENAI else CODES
        for reason in MEANINGS:
            own = [code for code, means in family.codes.items() if means == reason and base.get(code) != reason]
            if own:
                yield f"| {'all' if family is OPENAI else family.name} | {reason} | {', '.join(f'`{c}`' for c in own)} |"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
