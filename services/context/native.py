"""A provider-native request, as a dialect makes it, and how a dialect is declared."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from pydantic import JsonValue, SecretStr

from schemas.prompts import Placement
from services.context.context import NeutralContext
from services.runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class NativeRequest:
    """A POST without its secret."""

    url: str
    headers: dict[str, str]
    body: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class DialectSpec:
    """What context knows of a dialect.

    `credential` is the name of the key, `key_setting` the variable that sets it, `key` finds it, `placement` is where
    the provider wants it. `base_url` is the dialect's own provider. `build` takes the base URL in use.
    """

    credential: str
    key_setting: str
    key: Callable[[Settings], SecretStr | None]
    placement: Placement
    base_url: str
    build: Callable[[NeutralContext, str], NativeRequest]


def endpoint(base_url: str, path: str) -> str:
    """The URL of an API's path. The base may be a server's root, one with its version (`/v1`), or the whole URL."""
    base = base_url.rstrip("/")
    if base.endswith(path):
        return base
    return f"{base}{path}" if re.search(r"/v[0-9]+[a-z0-9]*\Z", base) else f"{base}/v1{path}"
