"""How records of older versions become readable: one function a step, from version n to n + 1 of a type."""

from collections.abc import Callable, Mapping

from pydantic import JsonValue

JsonObject = dict[str, JsonValue]

UPCASTERS: Mapping[tuple[str, int], Callable[[JsonObject], JsonObject]] = {}
"""(record type, version it reads) -> the function that makes the value of the next version."""


def upcast(record_type: str, version: int, current: int, value: JsonObject) -> JsonObject:
    """The value as the current version writes it. A step without an upcaster is one that readers stand as it is."""
    for step in range(version, current):
        upcaster = UPCASTERS.get((record_type, step))
        if upcaster is not None:
            value = upcaster(value)
    return value
