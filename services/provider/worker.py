"""The provider worker: prompts in, raw out."""

from collections.abc import Collection
from contextlib import AsyncExitStack
from functools import partial

from schemas.errors import UnknownRecordType
from schemas.headers import Facts
from schemas.prompts import ProviderRequest
from schemas.registry import decode
from services.catalog.keys import reveal
from services.catalog.opening import open_where_set_up
from services.catalog.outcomes import record_success
from services.provider.catalog_keys import CatalogKeys
from services.provider.credentials import Credentials
from services.provider.google_tokens import GoogleTokens
from services.provider.httpx_transport import HttpxTransport
from services.provider.pools import Pools
from services.provider.reach import Reach
from services.provider.streaming import Streams
from services.runtime.assembly import Context, WorkerSpec
from services.runtime.blobs.store import open_store
from services.runtime.handler import Handler
from services.runtime.inbound import Inbound
from services.runtime.log import LogRecord, NewRecord
from services.runtime.refusals import refused


class Provider:
    """Handles prompts. It keeps nothing but the streams that are open."""

    def __init__(self, streams: Streams) -> None:
        self._streams = streams

    async def handle(self, inbound: Inbound) -> None:
        """Stream one prompt to its end; raises a BadRecord for a record that is none."""
        _, record = decode(inbound.record.headers, inbound.record.value)
        if not isinstance(record, ProviderRequest):
            raise UnknownRecordType(f"{type(record).__name__} has no place in prompts")
        await self._streams.run(inbound, record)

    def arrived(self, inbound: Inbound) -> bool:
        """Nothing to do before a prompt's turn has come."""
        return False

    async def recover(self, partitions: Collection[int]) -> None:
        """Nothing to load: what has been done stands in claims."""

    def dropped(self, partitions: Collection[int]) -> None:
        """Open streams go on: producing needs no ownership."""

    def refuse(self, record: LogRecord, facts: Facts | None, reason: str, message: str) -> list[NewRecord]:
        """End the generation of a prompt that could not be handled."""
        return refused("provider", record, facts, reason, message)


async def build(context: Context) -> Handler:
    """The worker's handler, bound to the process."""
    pools = Pools.of(context.settings)
    context.on_stop(pools.aclose)
    tokens = GoogleTokens(pools.blocking_client)
    context.on_stop(tokens.aclose)
    opened = AsyncExitStack()
    keys: CatalogKeys | None = None
    catalog = await open_where_set_up(context.settings, opened)
    if catalog is not None:
        keys = CatalogKeys(partial(reveal, catalog), partial(record_success, catalog))
        opened.push_async_callback(keys.aclose)
    context.on_stop(opened.aclose)
    blobs = await open_store(context.settings)
    context.on_stop(blobs.aclose)
    return Provider(
        Streams(
            claims=context.claims,
            control=context.control,
            transport=HttpxTransport(pools),
            credentials=Credentials(context.settings, tokens, keys),
            clock=context.clock,
            reach=Reach.of(context.settings),
            most=context.settings.max_streams,
            blobs=blobs,
        )
    )


SPEC = WorkerSpec(name="provider", reads="prompts", build=build, needs_claims=True, needs_control=True)
