"""JSON objects as records hold them: Infinity and NaN, which a reader may make of 1e999, are no JSON and are refused."""

import math
from typing import Annotated, Any, cast

from pydantic import AfterValidator, JsonValue, SkipValidation


def _finite(value: Any) -> Any:
    """The value; raises ValueError for one that holds a number that JSON cannot write. It does not recurse."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(cast("dict[str, Any]", one).values())
        elif isinstance(one, list):
            waiting.extend(cast("list[Any]", one))
        elif isinstance(one, float) and not math.isfinite(one):
            raise ValueError("it holds a number that JSON cannot write")
    return value


FiniteJson = Annotated[JsonValue, AfterValidator(_finite)]
"""Any JSON value that JSON can write again."""

FiniteObject = Annotated[dict[str, JsonValue], AfterValidator(_finite)]
"""An object that JSON can write again."""

ReadObject = Annotated[dict[str, SkipValidation[JsonValue]], AfterValidator(_finite)]
"""An object that a JSON reader made, so that numbers alone need a look: pydantic's own would take 0.8 us for two values."""
