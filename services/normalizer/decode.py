"""Payloads into typed structs: strict and fast first, then field by field, so that one odd value costs only itself.

msgspec refuses a payload with a lone surrogate escape, with bytes that are not UTF-8, or with a field of another type
than declared. Providers send all three, so what fails is read again by the standard library's parser and fitted.
"""

import json
from collections.abc import Callable, Iterable
from types import UnionType
from typing import Any, Generic, TypeGuard, TypeVar, get_args, get_origin

import msgspec

UNREADABLE = (ValueError, RecursionError)
"""What the parsers raise on bytes that are not JSON, or are JSON meant to hurt."""

_StructT = TypeVar("_StructT", bound=msgspec.Struct)
_UNFIT = object()
_MAX_COUNT = 2**53
_MAX_DIGITS = 16
_MOST_DIGITS = 4_000


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """A JSON object, out of a value that a JSON parser made."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """A JSON array, out of a value that a JSON parser made."""
    return isinstance(value, list)


def first_of(value: Any) -> Any:
    """The first item of an array that has some, as providers wrap what they say in one; any other value as it is."""
    return value[0] if is_array(value) and value else value


def object_at(holder: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under a key; an empty one when there is none."""
    value = holder.get(key)
    return value if is_object(value) else {}


def count(value: object) -> int | None:
    """The value as a count, which may be written as a string or a float; None where it is nothing of the kind."""
    if type(value) is int:
        return value if -_MAX_COUNT <= value <= _MAX_COUNT else None
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= _MAX_DIGITS:
        value = int(value)
        return value if value <= _MAX_COUNT else None
    return int(value) if type(value) is float and value.is_integer() and abs(value) <= _MAX_COUNT else None


def counts(values: Iterable[object]) -> list[int | None]:
    """Each value as a count. Nearly all are plain numbers or absent, so few need the closer look."""
    return [
        value if value is None or (type(value) is int and -_MAX_COUNT <= value <= _MAX_COUNT) else count(value)
        for value in values
    ]


def word(holder: object, key: str) -> str:
    """The string under a key; empty when the holder is no object, or has something else there."""
    if not isinstance(holder, dict):
        return ""
    told: dict[str, Any] = holder  # pyright: ignore[reportUnknownVariableType]
    value = told.get(key)
    return value if isinstance(value, str) else ""


def merged(before: dict[str, Any] | None, now: dict[str, Any]) -> dict[str, Any]:
    """A cumulative report: each value that is present replaces the one before."""
    if before is None or (None not in now.values() and before.keys() <= now.keys()):
        return now
    return {**before, **{key: value for key, value in now.items() if value is not None}}


def loads(data: bytes) -> Any:
    """Any JSON value; wrong UTF-8 becomes U+FFFD, lone surrogates are kept. Raises one of UNREADABLE."""
    try:
        return msgspec.json.decode(data)
    except UNREADABLE:
        return json.loads(data.decode("utf-8", "replace"), parse_int=_integer)


def _integer(digits: str) -> int | float:
    """Python refuses whole numbers of over 4,300 digits; one number is no reason to lose the rest of an event."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def written(value: Any) -> bytes:
    """A value that was read, as JSON again; lone surrogates, which UTF-8 cannot hold, stay escapes.

    Nothing of a value that is nested almost too deeply to be read: to write it takes a few levels more.
    """
    try:
        return json.dumps(value).encode()
    except RecursionError:
        return b""


class PayloadDecoder(Generic[_StructT]):
    """Decodes one dialect's payloads into its struct, whose fields must all have defaults.

    `strict` is the fast way, for the payloads that are as they should be; it raises one of UNREADABLE. Then `fitted`.
    """

    def __init__(self, struct: type[_StructT]) -> None:
        self._struct = struct
        self.strict: Callable[[bytes], _StructT] = msgspec.json.Decoder(struct).decode

    def decode(self, data: bytes) -> _StructT | None:
        """The payload, read in either way; None when it is no JSON object."""
        try:
            return self.strict(data)
        except UNREADABLE:
            return self.fitted(data)

    def fitted(self, data: bytes) -> _StructT | None:
        """The payload; fields that do not fit their type keep their defaults. None when it is no JSON object."""
        try:
            value = loads(data)
        except UNREADABLE:
            return None
        return _fit_struct(value, self._struct) if is_object(value) else None


def _fit_struct(value: dict[str, Any], struct: type[_StructT]) -> _StructT:
    fitted: dict[str, Any] = {}
    for known in msgspec.structs.fields(struct):
        if known.encode_name in value:
            found = _fit(value[known.encode_name], known.type)
            if found is not _UNFIT:
                fitted[known.name] = found
    return struct(**fitted)


def _fit(value: Any, wanted: Any) -> Any:
    if wanted is object or (value is None and wanted is type(None)):
        return value
    if wanted is bool:
        return value if isinstance(value, bool) else _UNFIT
    if isinstance(wanted, UnionType):
        return next((found for arm in get_args(wanted) if (found := _fit(value, arm)) is not _UNFIT), _UNFIT)
    if get_origin(wanted) is dict:
        return value if is_object(value) else _UNFIT
    if get_origin(wanted) is list:
        (item,) = get_args(wanted)
        if is_object(value) and isinstance(item, type) and issubclass(item, msgspec.Struct):
            value = [value]  # one thing, where a list of such is due
        if not is_array(value):
            return _UNFIT
        return [found for one in value if (found := _fit(one, item)) is not _UNFIT]
    if isinstance(wanted, type) and issubclass(wanted, msgspec.Struct):
        return _fit_struct(value, wanted) if is_object(value) else _UNFIT
    if isinstance(value, bool):
        return _UNFIT
    if wanted is str and isinstance(value, str | int):
        return str(value)
    if wanted is int and isinstance(value, int):
        return value
    if wanted is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return _UNFIT
