"""The secrets that the worker's settings hold, by the names that requests use."""

import re
from dataclasses import dataclass, field
from typing import assert_never

from pydantic import SecretStr

from schemas.prompts import CredentialRef
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings

_SENDABLE = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Credential:
    """One header with a secret in it; `secret` is None where the request goes without."""

    secret: str | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


class Credentials:
    """Finds the secret that a request refers to. Blanks around a key are dropped: they come from copying it."""

    def __init__(self, settings: Settings) -> None:
        self._known: dict[str, tuple[str, SecretStr | None]] = {
            "openai": ("ODRADEK_OPENAI_API_KEY", settings.openai_api_key),
            "anthropic": ("ODRADEK_ANTHROPIC_API_KEY", settings.anthropic_api_key),
        }

    def find(self, reference: CredentialRef) -> Credential:
        """The credential; raises ConfigurationError, which names the setting and never shows its value."""
        if reference.placement == "none":
            return Credential()
        if reference.name not in self._known:
            raise ConfigurationError(
                f"no credential is called {reference.name[:40]!r}",
                remedy=f"Known are {', '.join(sorted(self._known))}.",
            )
        variable, value = self._known[reference.name]
        secret = "" if value is None else value.get_secret_value().strip()
        if not secret:
            raise ConfigurationError(
                f"the provider worker has no key {reference.name!r}", remedy=f"Set {variable} for the provider worker."
            )
        if not _SENDABLE.fullmatch(secret):
            raise ConfigurationError(
                f"the key {reference.name!r} holds characters that no HTTP header can carry",
                remedy=f"Set {variable} to the key as its provider shows it.",
            )
        match reference.placement:
            case "bearer":
                return Credential(secret, (("authorization", f"Bearer {secret}"),))
            case "x-api-key":
                return Credential(secret, (("x-api-key", secret),))
            case "x-goog-api-key":
                return Credential(secret, (("x-goog-api-key", secret),))
            case _:
                assert_never(reference.placement)
