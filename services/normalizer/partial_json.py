"""A preview of tool arguments that are still coming in. For showing only: what is run comes from argument_recovery."""

from typing import Any

import jiter

from services.normalizer.decode import is_object


def parse_partial_json(raw: str | bytes) -> dict[str, Any]:
    """The object as far as it goes: open strings, arrays and objects are closed where the text ends.

    A string may be cut, and so may a number (12 of 123). Malformed text gives what stands before the fault, or `{}`; it
    never raises. It reads the text from its start, so ask when something is to be shown, not at each delta.
    """
    data = raw if isinstance(raw, bytes) else raw.encode("utf-8", "replace")
    try:
        value = jiter.from_json(data, allow_inf_nan=False, partial_mode="trailing-strings")
    except ValueError:
        return {}
    return value if is_object(value) else {}
