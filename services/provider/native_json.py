"""A body as bytes: strict JSON, also where a whole number has more than the 64 bits that the fast writer knows."""

import json

import orjson
from pydantic import JsonValue


def json_bytes(value: JsonValue) -> bytes:
    """The value as JSON in UTF-8."""
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
