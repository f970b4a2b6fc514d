"""The catalog's keys as calls need them: opened by reference, kept for a few seconds, and told of calls that succeeded.

A database that is away is waited for, up to a bound: the call is claimed by then, so that nobody else would make it.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pydantic import SecretStr

from services.catalog.errors import DecryptionFailed, NoSuchRow
from services.catalog.keys import CredentialReference
from services.provider.failures import CredentialUnavailable, CredentialUnusable
from services.runtime.errors import Unavailable
from services.runtime.logs import get_logger

log = get_logger("provider")

KEPT_S = 10.0
"""How long an opened key serves further calls. One that was changed or removed is used no longer than this."""

MOST_KEPT = 1_000
WITHIN_S = 20.0
RETRY_S = 0.5
NOTED_WITHIN_S = 5.0
MOST_NOTING = 100

Reveal = Callable[[CredentialReference], Awaitable[SecretStr | None]]
Note = Callable[[CredentialReference, int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Kept:
    key: SecretStr = field(repr=False)
    until: float


class CatalogKeys:
    """The keys of a process. `reveal` opens one, `note` records that a call with one succeeded, and when it began."""

    def __init__(self, reveal: Reveal, note: Note, *, within_s: float = WITHIN_S, retry_s: float = RETRY_S) -> None:
        """`within_s`: how long a call waits for its key, asking every `retry_s`."""
        self._reveal = reveal
        self._note = note
        self._within_s = within_s
        self._retry_s = retry_s
        self._kept: OrderedDict[CredentialReference, _Kept] = OrderedDict()
        self._noting: set[asyncio.Task[None]] = set()

    async def key(self, reference: CredentialReference) -> SecretStr:
        """The key; raises CredentialUnusable, which never shows it, or CredentialUnavailable."""
        now = asyncio.get_running_loop().time()
        kept = self._kept.get(reference)
        if kept is not None and now < kept.until:
            return kept.key
        key = await self._opened(reference)
        self._kept[reference] = _Kept(key, now + KEPT_S)
        self._kept.move_to_end(reference)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return key

    def succeeded(self, name: str, began_ms: int) -> None:
        """A call with the credential of that name was answered. It is noted by the way, and may be lost: then the key
        rests as long as its last error says.
        """
        reference = CredentialReference.parse(name)
        if reference is None or len(self._noting) >= MOST_NOTING:
            return
        task = asyncio.create_task(self._noted(reference, began_ms), name="note a success")
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)

    async def aclose(self) -> None:
        """Note nothing any more."""
        for task in self._noting:
            task.cancel()
        if self._noting:
            await asyncio.wait(self._noting)

    async def _opened(self, reference: CredentialReference) -> SecretStr:
        try:
            async with asyncio.timeout(self._within_s):
                while True:
                    try:
                        key = await self._reveal(reference)
                        break
                    except Unavailable as error:
                        log.warning("waiting for the catalog", detail=str(error)[:200], often=True)
                        await asyncio.sleep(self._retry_s)
        except TimeoutError:
            raise CredentialUnavailable(f"no key from the catalog within {self._within_s:g} s") from None
        except (NoSuchRow, DecryptionFailed) as error:
            raise CredentialUnusable(str(error), remedy=error.remedy) from None
        if key is None:
            raise CredentialUnusable(f"{reference} has no key", remedy="Add one: `odradek provider add`.")
        return key

    async def _noted(self, reference: CredentialReference, began_ms: int) -> None:
        try:
            async with asyncio.timeout(NOTED_WITHIN_S):
                await self._note(reference, began_ms)
        except (TimeoutError, Unavailable) as error:
            log.warning("a success was not noted", reference=str(reference), reason=type(error).__name__, often=True)
