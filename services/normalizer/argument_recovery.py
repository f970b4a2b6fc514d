"""Arguments of a tool call that were cut off: what of them had come in full.

The recovery is structural. It removes the incomplete fragment at the end, closes the containers that are still open,
and proves the result by parsing it. It adds no content and changes no token. A string or a number at the very end goes
together with the entry that carried it: 12345 may be the start of 123456.
"""

import json
from typing import Any, NoReturn

import msgspec

from services.normalizer.decode import UNREADABLE, is_object
from services.normalizer.json_prefix import JsonPrefix


def parsed_arguments(raw: str) -> dict[str, Any] | None:
    """The object that the text is; None when it is anything else. `null` is an object without entries."""
    try:
        value: Any = msgspec.json.decode(raw)
    except UNREADABLE:
        if not raw.rstrip().endswith("}"):
            return None
        try:
            value = _LENIENT.decode(raw)
        except UNREADABLE:
            return None
    if value is None:
        return {}
    return value if is_object(value) else None


def recovered_arguments(raw: str) -> dict[str, Any] | None:
    """The entries that had come in full; None when the text is malformed, and so not merely the start of an object.

    What it returns is a part of what the model was writing, and must never be run.
    """
    prefix = JsonPrefix()
    prefix.feed(raw)
    if prefix.malformed or prefix.whole or not prefix.safe:
        return None
    return parsed_arguments(raw[: prefix.safe] + prefix.closers)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_LENIENT = json.JSONDecoder(parse_constant=_refuse)
"""Reads lone surrogates, too, which the fast reader refuses."""
