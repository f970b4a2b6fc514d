"""What of a request an error names: keys of its body, or its images.

Names are looked for as whole words. One that is also a word of English (`stop`, `user`) counts in quotes, or beside words
of refusal: else every error about something else would take it away.
"""

import re
from collections.abc import Iterator

from schemas.attempts import AttemptFacts
from schemas.chunks import ErrorClass, ProviderError

_REFUSAL = re.compile(
    r"\b(?:un(?:supported|known|recogni[sz]ed|expected)|invalid|deprecated|incompatible|forbidden|not (?:a )?valid"
    r"|(?:not|n't|no longer) (?:be )?(?:support\w*|allowed|permitted|accepted|available|used|set)"
    r"|extra (?:inputs?|fields?|parameters?)|only the default|must be|out of range)\b",
    re.IGNORECASE,
)
_FIELDS = re.compile(r'"param"\s*:\s*"([^"]{1,100})"|"loc"\s*:\s*\[([^\]]{1,200})\]')
"""Where OpenAI's bodies, and those of FastAPI, name what they refuse:
https://platform.openai.com/docs/api-reference/responses-streaming/error and https://fastapi.tiangolo.com/tutorial/handling-errors/
"""

_SIGHT = r"\b(?:images?|image_url|image[_ ]inputs?|vision|multi-?modal\w*|pictures?)\b"
_UNSEEN = (
    r"(?:\b(?:unsupported|text[- ]only|at most 0|no endpoints found)\b|\bonly (?:accepts?|supports?) text\b"
    r"|\b(?:not|n't|cannot|can't|no) (?:support\w*|accept\w*|process\w*|handle|see|read|allowed|available"
    r"|enabled|permitted)\b)"
)
_NO_IMAGES = re.compile(
    rf"{_SIGHT}.{{0,100}}?{_UNSEEN}|{_UNSEEN}.{{0,100}}?{_SIGHT}|\b(?:not an?|no) (?:multi-?modal|vision)\b",
    re.IGNORECASE | re.DOTALL,
)

_OF_ANOTHER_KIND: frozenset[ErrorClass] = frozenset(
    {"exhausted_balance", "credit_affordability", "context_length", "key_access"}
)


def named_keys(error: ProviderError, status: int | None, facts: AttemptFacts) -> tuple[str, ...]:
    """The droppable keys that the error names. A 400 or 422 says by itself that it refuses them, others must say so."""
    if not _is_of_the_request(error):
        return ()
    refused = _REFUSAL.search(error.message) is not None
    if not refused and status not in (400, 422):
        return ()
    fields = " ".join(_fields(error.original or ""))
    return tuple(
        key
        for key in facts.droppable
        if _is_named(key.rpartition(".")[2], error.message, refused=refused) or (fields and _word(key, fields))
    )


def refuses_images(error: ProviderError) -> bool:
    """Whether the error says that the model takes no images, under whatever status."""
    return _is_of_the_request(error) and _NO_IMAGES.search(error.message) is not None


def _is_of_the_request(error: ProviderError) -> bool:
    return error.type in ("api_error", "model_error", "provider_overloaded") and not _OF_ANOTHER_KIND.intersection(
        error.classifiers
    )


def _fields(original: str) -> Iterator[str]:
    for found in _FIELDS.finditer(original):
        yield found[1] or found[2]


def _is_named(name: str, message: str, *, refused: bool) -> bool:
    if not (name.isalpha() and name.islower()) or refused:
        return _word(name, message)
    return re.search(rf"""(["'`]){re.escape(name)}\1""", message) is not None


def _word(name: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name.rpartition('.')[2])}(?![\w-])", text) is not None
