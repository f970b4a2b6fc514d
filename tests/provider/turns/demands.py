"""What a provider demands of a request: a player refuses what breaks it, as the provider would with a 400."""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from tests.provider.turns.script import ARGS, CLOCK, LOOK


class Refused(Exception):
    """The provider refuses the request; the text says why, and is its error's message."""

    def __init__(self, why: str, status: int = 400, **headers: str) -> None:
        super().__init__(why)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class BrokenOff(Exception):
    """The connection breaks after these bytes of the stream."""

    def __init__(self, stream: bytes) -> None:
        super().__init__("the connection breaks")
        self.stream = stream


class Player(Protocol):
    """A provider that knows its part of the turn. It keeps nothing: a request says all, so it tells where the turn is."""

    url: str
    """The whole address that a request must be made for."""
    continued_url: str | None
    """Where a reply that has begun is gone on with, if elsewhere."""
    key_header: str
    headers: Mapping[str, str]
    """Headers that a request must have beside the key's."""

    def answer(self, body: Any) -> bytes:
        """The stream that answers the request; raises Refused or BrokenOff."""
        ...

    def answering(self, *, rest: bool = False) -> bytes:
        """The stream of the last answer, or of its `rest` after what had come before the connection broke."""
        ...

    def refusal(self, why: str) -> bytes:
        """The body of an error that says why."""
        ...


def demand(holds: object, why: str) -> None:
    if not holds:
        raise Refused(why)


def keys(value: Any, needed: Iterable[str], also: Iterable[str] = (), *, at: str = "body") -> None:
    """An object has these keys and no others."""
    demand(isinstance(value, dict), f"{at} is no object")
    unknown, missing = value.keys() - {*needed, *also}, {*needed} - value.keys()
    demand(not unknown, f"{at} has unknown keys: {sorted(unknown)}")
    demand(not missing, f"{at} lacks keys: {sorted(missing)}")


def equal(found: Any, wanted: Any, at: str) -> None:
    demand(found == wanted, f"{at} is {found!r} and not {wanted!r}")


def picture(data: Any, wanted: bytes, at: str) -> None:
    """A base64 text has the picture's bytes, every one."""
    try:
        found = base64.b64decode(data, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise Refused(f"{at} is no base64") from None
    demand(found == wanted, f"{at} is another picture")


def data_url(url: Any, wanted: bytes, at: str) -> None:
    head, comma, data = str(url).partition(",")
    equal((head, comma), ("data:image/png;base64", ","), at)
    picture(data, wanted, at)


def arguments(text: Any, name: str, at: str) -> None:
    """The JSON text of a call's arguments."""
    demand(isinstance(text, str), f"{at} is no text")
    equal(json.loads(text), ARGS if name == "look" else {}, at)


def stops(strings: Any, most: int) -> None:
    demand(isinstance(strings, list) and 0 < len(strings) <= most, f"there are not 1 to {most} stop strings")
    demand(all(isinstance(one, str) and one for one in strings), "a stop string is no text")


def parameters(schema: Any, name: str, at: str) -> None:
    """The schema of a tool's parameters, as JSON Schema has it."""
    equal(schema, {"look": LOOK, "clock": CLOCK}[name].parameters, at)


def pieces(stream: bytes) -> list[bytes]:
    """The bytes cut at odd places, within characters too."""
    made: list[bytes] = []
    at, size = 0, 1
    while at < len(stream):
        made.append(stream[at : at + size])
        at, size = at + size, size * 7 % 31 + 1
    return made


def sse(payload: Any, event: str | None = None, eol: str = "\n") -> bytes:
    """One event."""
    name = "" if event is None else f"event: {event}{eol}"
    return f"{name}data: {json.dumps(payload, ensure_ascii=False)}{eol}{eol}".encode()
