"""JSON as a model reads it and as a context's length is counted."""

import json


def json_text(value: object) -> str:
    """JSON as short as it gets; characters stay as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
