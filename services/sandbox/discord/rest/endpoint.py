"""A REST route and what a call of it brings, free of HTTP."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from services.sandbox.discord.attachments import Upload
from services.sandbox.discord.errors import invalid_form
from services.sandbox.discord.jsontypes import JsonObject, JsonValue
from services.sandbox.discord.world import World


@dataclass(frozen=True, slots=True)
class Call:
    """One request: parameters of its path and query, its JSON body (None if it has none) and its files."""

    params: Mapping[str, str]
    query: Mapping[str, str]
    body: JsonValue
    uploads: tuple[Upload, ...] = ()

    def id(self, name: str) -> int:
        return _snowflake(self.params[name], name)

    def query_id(self, name: str) -> int | None:
        return _snowflake(self.query[name], name) if name in self.query else None

    def flag(self, name: str) -> bool:
        return self.query.get(name, "").lower() in ("1", "true")

    def fields(self) -> JsonObject:
        """The body as an object, empty if it is none."""
        return self.body if isinstance(self.body, dict) else {}


Handler = Callable[[World, Call], JsonValue]
"""Does a call; None is answered as 204. Raises DiscordError."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`bucket` names its rate limit, `major` the path parameter that has a limit of its own; `open` needs no token."""

    method: str
    path: str
    handler: Handler
    bucket: str
    major: str | None = None
    open: bool = False


def _snowflake(value: str, name: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 20):
        raise invalid_form((name,), "NUMBER_TYPE_COERCE", f'Value "{value[:40]}" is not snowflake.')
    return int(value)
