"""Access tokens of Google's application default credentials, by google-auth: one for the process, renewed off the loop.

https://cloud.google.com/docs/authentication/application-default-credentials
"""
# pyright: reportUnknownMemberType=false

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, cast

import google.auth
import google.auth.exceptions
import google.auth.transport
import httpx
from google.auth.credentials import Credentials, TokenState

from services.provider.failures import CredentialUnavailable, CredentialUnusable

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
WITHIN_S = 20.0
_ANSWER_S = 8.0


@dataclass(frozen=True, slots=True)
class GoogleToken:
    """A token and the headers that it goes in."""

    secret: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False)


class GoogleTokens:
    """The tokens of a process. All calls share one renewal; one that is soon over serves while it is renewed."""

    def __init__(
        self, client: Callable[[], httpx.Client], *, within_s: float = WITHIN_S,
        where: str = "where the provider worker runs",
    ) -> None:  # fmt: skip
        """`client` makes an HTTP client for one request to Google; `within_s`: how long a call waits for its token.

        `where` says in remedies on which machine the credentials are to be.
        """
        self._where = where
        self._within_s = within_s
        self._request = _Request(client)
        # One thread of its own: a token endpoint that hangs must not take those that look names up.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="google-tokens")
        self._credentials: Credentials | None = None
        self._renewal: asyncio.Task[None] | None = None

    async def token(self) -> GoogleToken:
        """A token that is valid now; raises CredentialUnusable or CredentialUnavailable."""
        held = self._credentials
        state = TokenState.INVALID if held is None else held.token_state
        if held is None or state is TokenState.INVALID:
            try:
                async with asyncio.timeout(self._within_s):
                    await asyncio.shield(self._renewed())
            except TimeoutError:
                raise CredentialUnavailable(f"no access token from Google within {self._within_s:g} s") from None
            held = self._credentials
        elif state is TokenState.STALE:
            self._renewed()
        return _token(held)

    async def aclose(self) -> None:
        """Renew nothing any more; a renewal under way may end by itself."""
        if self._renewal is not None:
            self._renewal.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _renewed(self) -> "asyncio.Task[None]":
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._renew(), name="renew the Google token")
            # A renewal that nobody waits for fails in silence: the next call that needs one is told.
            self._renewal.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._renewal

    async def _renew(self) -> None:
        self._credentials = await asyncio.get_running_loop().run_in_executor(self._thread, self._obtain)

    def _obtain(self) -> Credentials:
        """Runs in the thread. No text of google-auth's errors is passed on: it may hold what the endpoint answered."""
        try:
            found = self._credentials
            if found is None:
                found = cast(Credentials, google.auth.default(scopes=[SCOPE], request=self._request)[0])
            cast(Any, found).refresh(self._request)
        except google.auth.exceptions.DefaultCredentialsError as error:
            raise CredentialUnusable(
                "there are no Google application default credentials that can be used",
                remedy=f"Set GOOGLE_APPLICATION_CREDENTIALS to a key file, {self._where}.",
            ) from error
        except google.auth.exceptions.RefreshError as error:
            if not error.retryable:
                raise CredentialUnusable(
                    "Google gives no access token for the application default credentials",
                    remedy="Check the account that GOOGLE_APPLICATION_CREDENTIALS names, and its rights.",
                ) from error
            raise CredentialUnavailable("Google gives no access token at present") from error
        except google.auth.exceptions.GoogleAuthError as error:
            raise CredentialUnavailable("Google's token endpoint cannot be reached") from error
        return found


def _token(credentials: Credentials | None) -> GoogleToken:
    headers: dict[str, str] = {}
    if credentials is None or not credentials.token:
        raise CredentialUnavailable("Google gives no access token at present")
    cast(Any, credentials).apply(headers)
    return GoogleToken(str(credentials.token), tuple(headers.items()))


@dataclass(frozen=True, slots=True)
class _Answer(google.auth.transport.Response):
    status: int  # type: ignore[assignment]
    headers: Mapping[str, str]  # type: ignore[assignment]
    data: bytes  # type: ignore[assignment]


class _Request(google.auth.transport.Request):
    """google-auth's way to its endpoints, with the proxy and the CA certificates of provider calls."""

    def __init__(self, client: Callable[[], httpx.Client]) -> None:
        self._client = client

    def __call__(
        self, url: str, method: str = "GET", body: bytes | None = None,
        headers: Mapping[str, str] | None = None, timeout: float | None = None, **_: object,
    ) -> google.auth.transport.Response:  # fmt: skip
        try:
            with self._client() as client:
                answer = client.request(method, url, content=body, headers=headers, timeout=timeout or _ANSWER_S)
        except httpx.HTTPError as error:
            raise google.auth.exceptions.TransportError(type(error).__name__) from error
        return _Answer(answer.status_code, answer.headers, answer.content)
