"""The plain keywords of JSON Schema, those without schemas inside, and what each of them may hold."""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeGuard

from pydantic import JsonValue

Schema = dict[str, JsonValue]

MOST_TEXT = 4_096
"""Characters of a description or title, of which more is cut off, and of a default or one value of an enum."""
MOST_VALUES = 1_000
"""Of an enum."""
MOST_VALUE_DEPTH = 8
"""Arrays and objects inside each other in a default or in a value of an enum."""

TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")


def is_object(value: object) -> TypeGuard[Schema]:
    """Whether it is a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[JsonValue]]:
    """Whether it is a JSON array."""
    return isinstance(value, list)


def size_of(value: JsonValue, most: int) -> int:
    """About how many characters the value takes as JSON; a little more than `most` if it takes more."""
    size, waiting = 0, [value]
    while waiting and size <= most:
        found = waiting.pop()
        size += len(found) + 2 if isinstance(found, str) else 6
        if is_object(found):
            size += sum(len(key) + 4 for key in found)
            waiting.extend(found.values())
        elif is_array(found):
            waiting.extend(found)
    return size


def _text(value: JsonValue) -> JsonValue:
    return value[:MOST_TEXT] if isinstance(value, str) else None


def _word(value: JsonValue) -> JsonValue:
    return value if isinstance(value, str) and len(value) <= MOST_TEXT else None


def _flag(value: JsonValue) -> JsonValue:
    return value if isinstance(value, bool) else None


def _number(value: JsonValue) -> JsonValue:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) else None


def _bound(value: JsonValue) -> JsonValue:
    return value if isinstance(value, bool) else _number(value)


def _step(value: JsonValue) -> JsonValue:
    number = _number(value)
    return number if isinstance(number, int | float) and number > 0 else None


def _count(value: JsonValue) -> JsonValue:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _type(value: JsonValue) -> JsonValue:
    named = [value] if isinstance(value, str) else value if is_array(value) else []
    lower = [name.lower() for name in named if isinstance(name, str)]
    types: list[JsonValue] = [name for name in dict.fromkeys(lower) if name in TYPES]
    return types[0] if len(types) == 1 else types or None


def _values(value: JsonValue) -> JsonValue:
    """Distinct values, at least one."""
    if not is_array(value) or len(value) > MOST_VALUES:
        return None
    kept: dict[str, JsonValue] = {}
    for entry in value:
        text = _written(entry)
        if text is not None:
            kept.setdefault(text, entry)
    return [*kept.values()] or None


def _value(value: JsonValue) -> JsonValue:
    return None if _written(value) is None else value


def _written(value: JsonValue) -> str | None:
    """The value as JSON, if it is JSON and neither deep nor long."""
    if size_of(value, MOST_TEXT) > MOST_TEXT:
        return None
    level = [value]
    for _ in range(MOST_VALUE_DEPTH):
        level = [inner for outer in level for inner in _inside(outer)]
    if level:
        return None
    try:
        return json.dumps(value, allow_nan=False, sort_keys=True)
    except ValueError:
        return None


def _inside(value: JsonValue) -> Iterable[JsonValue]:
    return value.values() if is_object(value) else value if is_array(value) else ()


def _names(value: JsonValue) -> JsonValue:
    return list(dict.fromkeys(name for name in value if isinstance(name, str))) if is_array(value) else None


PLAIN: Mapping[str, Callable[[JsonValue], JsonValue]] = {
    "type": _type,
    "title": _text,
    "description": _text,
    "enum": _values,
    "const": _value,
    "default": _value,
    "examples": _values,
    "format": _word,
    "pattern": _word,
    "minimum": _number,
    "maximum": _number,
    "exclusiveMinimum": _bound,
    "exclusiveMaximum": _bound,
    "multipleOf": _step,
    "minLength": _count,
    "maxLength": _count,
    "minItems": _count,
    "maxItems": _count,
    "uniqueItems": _flag,
    "minProperties": _count,
    "maxProperties": _count,
    "required": _names,
    "nullable": _flag,
    "deprecated": _flag,
    "readOnly": _flag,
    "writeOnly": _flag,
}
"""What is left of a keyword's value; None: nothing."""
