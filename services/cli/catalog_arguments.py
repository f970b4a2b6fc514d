"""What the arguments of the catalog's commands mean: whose configuration it is, and where a key comes from."""

import getpass
import os
import re
import sys

from pydantic import SecretStr

from services.catalog.errors import NoSuchRow, Refused
from services.catalog.owners import Owner, Person, Server
from services.catalog.providers import provider_named
from services.runtime.errors import ConfigurationError

_SNOWFLAKE = re.compile(r"[0-9]{1,20}")
_ENDPOINT = re.compile(r"custom:[0-9]{1,9}")
_MOST_CHARACTERS = 8_192
_COPY_ID = "In Discord switch on Developer Mode (Settings, Advanced), then right-click it and choose Copy ID."


def owner_of(server: str | None, user: str | None) -> Owner:
    """Whose it is; raises ConfigurationError unless exactly one of both is given, and a Discord id."""
    if (server is None) == (user is None):
        raise ConfigurationError("it must be said whose this is", remedy="Give --server ID or --user ID, not both.")
    return server_of(server) if user is None else Person(discord_id("--user", user))


def server_of(server: str | None) -> Server:
    """The server; raises ConfigurationError for what is no Discord id."""
    return Server(discord_id("--server", server or ""))


def discord_id(option: str, value: str) -> str:
    """The value; raises ConfigurationError, which names the option, for what is no Discord id."""
    if not _SNOWFLAKE.fullmatch(value):
        raise ConfigurationError(f"{option} takes a Discord id, which is a number", remedy=_COPY_ID)
    return value


def provider_of(name: str) -> str:
    """The provider that the name or alias means, or an endpoint's `custom:N`; raises NoSuchRow."""
    found = provider_named(name)
    if found is not None and found != "custom":
        return found
    if is_endpoint(name):
        return name
    remedy = (
        "Custom endpoints are set up with `odradek endpoint add`."
        if found == "custom"
        else "`odradek model list` shows the providers."
    )
    raise NoSuchRow(f"there is no provider {name[:40]!r}", remedy=remedy)


def is_endpoint(name: str) -> bool:
    """Whether the name is that of an endpoint, `custom:N`."""
    return _ENDPOINT.fullmatch(name) is not None


def read_key(variable: str | None) -> SecretStr:
    """The key, from the variable if one is named, else from stdin: typed unseen in a terminal, else its first line."""
    if variable is not None:
        value = os.environ.get(variable)
        if value is None:
            raise ConfigurationError(
                f"the environment has no {variable[:80]}",
                remedy="Export it, or leave --key-env out and give the key on stdin; --key-env takes a name, not a key.",
            )
        return SecretStr(value)
    if sys.stdin.isatty():
        return SecretStr(getpass.getpass("key: "))
    try:
        line = sys.stdin.readline(_MOST_CHARACTERS)
    except UnicodeDecodeError:
        raise Refused("the key on stdin is no text", remedy="Pipe it in as UTF-8.") from None
    if not line.strip():
        raise Refused("there is no key on stdin", remedy="Pipe it in, or name a variable: --key-env NAME.")
    return SecretStr(line)
