"""The secrets of requests, by the names that requests use, and where each provider wants its own."""

import re
from dataclasses import dataclass, field
from typing import assert_never

from pydantic import SecretStr

from schemas.prompts import CredentialRef
from services.catalog.keys import CredentialReference
from services.provider.catalog_keys import CatalogKeys
from services.provider.failures import CredentialUnusable
from services.provider.google_tokens import GoogleTokens
from services.provider.vertex import VertexPlace, vertex_place
from services.runtime.settings import Settings

_SENDABLE = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Credential:
    """The headers with a secret in them; `secret` is None where the request goes without.

    `place` fills in the URL of a call to Vertex AI.
    """

    secret: str | None = field(default=None, repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    place: VertexPlace | None = None


class Credentials:
    """Finds the secret that a request refers to, in the catalog or in the settings.

    Blanks around a key are dropped: they come from copying it.
    """

    def __init__(self, settings: Settings, tokens: GoogleTokens, catalog: CatalogKeys | None = None) -> None:
        """Without a catalog its references name no key."""
        self._tokens = tokens
        self._catalog = catalog
        self._known: dict[str, tuple[str, SecretStr | None]] = {
            "openai": ("ODRADEK_OPENAI_API_KEY", settings.openai_api_key),
            "anthropic": ("ODRADEK_ANTHROPIC_API_KEY", settings.anthropic_api_key),
            "google": ("ODRADEK_GOOGLE_API_KEY", settings.google_api_key),
            "vertex": ("ODRADEK_VERTEX", settings.vertex),
        }

    async def find(self, reference: CredentialRef) -> Credential:
        """The credential; raises CredentialUnusable, which names the setting and never shows its value, or
        CredentialUnavailable.
        """
        if reference.placement == "none":
            return Credential()
        secret = await self._secret(reference.name)
        match reference.placement:
            case "bearer":
                return Credential(secret, (("authorization", f"Bearer {secret}"),))
            case "x-api-key":
                return Credential(secret, (("x-api-key", secret),))
            case "x-goog-api-key":
                return Credential(secret, (("x-goog-api-key", secret),))
            case "google-adc":
                place = vertex_place(secret)
                token = await self._tokens.token()
                return Credential(token.secret, token.headers, place)
            case _:
                assert_never(reference.placement)

    def succeeded(self, name: str, began_ms: int) -> None:
        """A call with the credential of that name was answered; it began at `began_ms`, since 1970."""
        if self._catalog is not None:
            self._catalog.succeeded(name, began_ms)

    async def _secret(self, name: str) -> str:
        reference = CredentialReference.parse(name)
        if reference is None:
            return self._of_settings(name)
        if self._catalog is None:
            raise CredentialUnusable(
                "the provider worker reads no catalog",
                remedy="Set ODRADEK_DATABASE_URL and ODRADEK_CRYPTO_SECRET_V1 for it as for the context worker.",
            )
        key = await self._catalog.key(reference)
        return _sendable(key.get_secret_value(), name, "Add it anew: `odradek provider add`.")

    def _of_settings(self, name: str) -> str:
        if name not in self._known:
            raise CredentialUnusable(
                f"no credential is called {name[:40]!r}", remedy=f"Known are {', '.join(sorted(self._known))}."
            )
        variable, value = self._known[name]
        secret = "" if value is None else value.get_secret_value().strip()
        if not secret:
            raise CredentialUnusable(
                f"the provider worker has no key {name!r}", remedy=f"Set {variable} for the provider worker."
            )
        return _sendable(secret, name, f"Set {variable} to the key as its provider shows it.")


def _sendable(secret: str, name: str, remedy: str) -> str:
    if not _SENDABLE.fullmatch(secret):
        raise CredentialUnusable(
            f"the key {name!r} holds characters that no HTTP header can carry",
            remedy=remedy,
        )
    return secret
