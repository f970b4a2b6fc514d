"""What the body of a refusal, or an error object inside a stream, says: codes, a status, words; whatever its shape.

Providers nest: Google puts JSON text into the message, OpenRouter puts its upstream's whole body into `metadata.raw`,
Azure adds `innererror`. The inner one is what happened, so its codes and words count as well.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from services.normalizer.decode import UNREADABLE, first_of, is_array, is_object

MAX_NESTED_BYTES = 256 * 1024
MAX_CODE_CHARS = 100
_MAX_DETAILS = 32
_MAX_DEPTH = 4
_CODE_KEYS = (
    "code",
    "type",
    "status",
    "statusCode",
    "status_code",
    "http_code",
    "error_code",
    "errorCode",
    "Code",
    "__type",
)
_TEXT_KEYS = (
    "message",
    "detail",
    "msg",
    "error_description",
    "error_message",
    "errorMessage",
    "error_msg",
    "Message",
    "status_msg",
    "title",
)
_NO_CODE = ("about:", "urn:", "http:", "https:")
"""How a problem type begins that is an address (RFC 9457, section 3.1.1), and no code to show."""


class Said(NamedTuple):
    """`codes` in the order in which they count, as the provider wrote them; `status` is the first that is an HTTP status.

    `error` is the innermost object with details such as Google's RetryInfo. `flagged`: it lists what a moderator found.
    """

    codes: tuple[str, ...]
    status: int | None
    message: str
    error: dict[str, Any]
    flagged: bool = False

    @property
    def code(self) -> str:
        """The provider's own code, or nothing."""
        return next((code for code in self.codes if code != "error"), "")


_NOTHING = Said((), None, "", {})


def said(root: dict[str, Any], depth: int = 0) -> Said:
    """What the object says; it may be the whole body or the error inside it. `depth`: of bodies inside bodies."""
    inner: Any = _inner(root)
    error: dict[str, Any] = inner if is_object(inner) else root
    nested: Any = _nested(inner if isinstance(inner, str) else error.get("message")) if depth < _MAX_DEPTH else None
    if is_object(nested):
        deeper = said(nested, depth + 1)
        codes = (*deeper.codes, *_codes(error, root))
        return Said(codes, deeper.status or _status(codes), deeper.message, deeper.error or error, deeper.flagged)
    metadata: Any = error.get("metadata")
    metadata = metadata if is_object(metadata) else {}
    upstream = _upstream(metadata["raw"], depth + 1) if "raw" in metadata and depth < _MAX_DEPTH else _NOTHING
    codes = _codes(error, root)
    message = _first_text(error) or _text_of(root.get("errors"))
    if isinstance(inner, str) and inner.strip() not in message:
        message = f"{inner.strip()}: {message}" if message else inner.strip()
    if upstream.message and upstream.message not in message:
        message = f"{message}: {upstream.message}" if message else upstream.message
    return Said(
        codes=(*codes, *upstream.codes),
        status=_status(codes) or upstream.status,
        message=message,
        error={**upstream.error, **error},
        flagged=bool(metadata.get("reasons")) or "flagged_input" in metadata,
    )


def is_refusal(body: object) -> bool:
    """Whether an object that should be a reply, or a piece of one, and has nothing of it, tells an error instead."""
    if not is_object(body):
        return False
    told: Any = body.get("base_resp")
    if is_object(told) and told.get("status_code"):
        return True
    coded = body.get("code") not in (None, "", 0, 200, "0", "200")
    return bool(
        body.get("error")
        or _exception(body)
        or (isinstance(body.get("message"), str) and body["message"])
        or body.get("detail")
        or (coded and isinstance(body.get("msg"), str))
    )


def _inner(root: dict[str, Any]) -> object:
    for key in ("error", "errors", "base_resp", "Error"):
        inner: Any = first_of(root.get(key))
        if (is_object(inner) and (key != "errors" or _first_text(inner))) or isinstance(inner, str):
            return inner
    return _exception(root)


def _exception(root: dict[str, Any]) -> dict[str, Any] | None:
    """An error under its own name, as Bedrock's streams have it: `{"throttlingException": {"message": ...}}`."""
    for name, told in root.items():
        if name.endswith("Exception") and is_object(told):
            return {"code": name, **told}
    return None


def _nested(message: object) -> object:
    """The error inside a message: JSON text, or an object with an error of its own."""
    return message if is_object(message) and is_object(message.get("error")) else _parsed(message)


def _codes(error: dict[str, Any], root: dict[str, Any]) -> tuple[str, ...]:
    found = [_word(error[key]) for key in _CODE_KEYS if key in error]
    nested: Any = error.get("innererror")
    if is_object(nested):
        found.append(_word(nested.get("code")))
    if "details" in error:
        found.extend(_reasons(error["details"]))
    if error is not root:
        found += [_word(root[key]) for key in _CODE_KEYS if key in root]
    return tuple(dict.fromkeys([word for word in found if word]))


def _reasons(details: object) -> Iterator[str]:
    """The reasons of Google's ErrorInfo details."""
    for detail in details[:_MAX_DETAILS] if is_array(details) else []:
        if is_object(detail):
            yield _word(detail.get("reason"))


def _status(codes: tuple[str, ...]) -> int | None:
    for code in codes:
        if len(code) == 3 and code.isdecimal() and code >= "300":
            return int(code)
    return None


def _word(value: object) -> str:
    if not isinstance(value, str):
        return _number(value)
    text = value[: 2 * MAX_CODE_CHARS].strip()
    return "" if text.startswith(_NO_CODE) else text.rpartition("#")[2]


def _number(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 10**MAX_CODE_CHARS:
        return ""
    return str(value)


def _first_text(error: dict[str, Any]) -> str:
    for key in _TEXT_KEYS:
        if key in error and (text := _text_of(error[key])):
            return text
    return ""


def _text_of(value: object, depth: int = 0) -> str:
    """The words of a message, which may be an object or a list of complaints; JSON where it has no words of its own."""
    if isinstance(value, str):
        return value.strip()
    if is_array(value) and depth < _MAX_DEPTH:
        return "; ".join(text for text in (_text_of(item, depth + 1) for item in value[:_MAX_DETAILS]) if text)
    if is_object(value) and value:
        inner = next((value[key] for key in _TEXT_KEYS if value.get(key)), None)
        if inner is None or depth >= _MAX_DEPTH:
            return _as_json(value)
        return _text_of(inner, depth + 1) + _place(value.get("loc"))
    return ""


def _as_json(value: dict[str, Any]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:  # nested almost too deeply to be read
        return ""


def _place(loc: object) -> str:
    """Where in the request a validator found its complaint."""
    words = [_word(part) for part in loc[:_MAX_DETAILS]] if is_array(loc) else []
    return f" ({'.'.join(words)})" if words else ""


def _upstream(raw: object, depth: int) -> Said:
    """The error of a router's upstream, which it passes on as text or as text of JSON."""
    value: Any = _parsed(raw) if isinstance(raw, str) else raw
    if is_object(value):
        return said(value, depth)
    return Said((), None, _text_of(value if isinstance(value, str) else raw), {})


def _parsed(text: object) -> object:
    """The JSON object, or the first of the JSON array, that a string holds; else None."""
    if not isinstance(text, str) or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value: Any = first_of(json.loads(text[:MAX_NESTED_BYTES]))
    except UNREADABLE:
        return None
    return value if is_object(value) else None
