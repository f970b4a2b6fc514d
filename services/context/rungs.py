"""What an attempt gives up of a native request, in any dialect: keys of its body, its images, its tools.

The same shapes tell whether there is anything to give up.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from schemas.attempts import Rung

NOTICE = "[System: The images of this message could not be sent and were left out.]"

TOOL_KEYS = frozenset(
    {
        *("tools", "tool_choice", "parallel_tool_calls", "tool_stream"),
        *("toolConfig", "tool_config", "functions", "function_call"),
    }
)
"""The keys that offer tools or speak of those on offer, in the bodies of all dialects."""

_CONVERSATIONS = ("messages", "input", "contents")
_TYPES: Mapping[str, str] = {
    "image_url": "text",
    "video_url": "text",
    "image": "text",
    "input_image": "input_text",
}
"""The types of parts that show something, each with the type of a text beside it."""
_UNTYPED = ("inlineData", "inline_data", "fileData", "file_data")


def given_up(body: Mapping[str, Any], rung: Rung) -> dict[str, Any]:
    """The body without what the rung names; the one given is not changed. A key that is not there is no error."""
    kept = dict(body)
    for path in rung.without:
        kept = _without(kept, path.split("."))
    if rung.without_tools:
        kept = {key: value for key, value in kept.items() if key not in TOOL_KEYS}
    if rung.without_images:
        kept |= {key: _without_images(kept[key]) for key in _CONVERSATIONS if key in kept}
    return kept


def has_images(body: Mapping[str, Any]) -> bool:
    """Whether anything in the conversation shows something."""
    return any(_text_beside(part) is not None for key in _CONVERSATIONS for part in _objects(body.get(key)))


def has_tools(body: Mapping[str, Any]) -> bool:
    """Whether tools are on offer."""
    return bool(body.get("tools") or body.get("functions"))


def _without(value: dict[str, Any], path: list[str]) -> dict[str, Any]:
    first, *rest = path
    if first not in value:
        return value
    inner = value[first]
    if not rest:
        return {key: other for key, other in value.items() if key != first}
    return value | {first: _without(cast(dict[str, Any], inner), rest)} if isinstance(inner, dict) else value


def _without_images(value: Any) -> Any:
    """Of each list of parts the first that shows something becomes the notice, and the others go."""
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        return {key: _without_images(inner) for key, inner in fields.items()}
    if not isinstance(value, list):
        return value
    kept: list[Any] = []
    said = False
    for part in cast(list[Any], value):
        notice = _text_beside(part)
        if notice is None:
            kept.append(_without_images(part))
        elif not said:
            kept.append(notice)
            said = True
    return kept


def _text_beside(part: Any) -> dict[str, Any] | None:
    """The notice as a part of the same dialect, if the part shows something."""
    if not isinstance(part, dict):
        return None
    fields = cast(dict[str, Any], part)
    kind = fields.get("type")
    if isinstance(kind, str):
        return {"type": _TYPES[kind], "text": NOTICE} if kind in _TYPES else None
    return {"text": NOTICE} if any(key in fields for key in _UNTYPED) else None


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        yield fields
        for inner in fields.values():
            yield from _objects(inner)
    elif isinstance(value, list):
        for inner in cast(list[Any], value):
            yield from _objects(inner)
