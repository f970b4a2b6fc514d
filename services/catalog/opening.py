"""The catalog of a worker: open from its start to its end where there is one, waited for while its database is away."""

import asyncio
from contextlib import AsyncExitStack

from services.catalog.catalog import Catalog, open_catalog
from services.runtime.errors import Unavailable
from services.runtime.logs import get_logger
from services.runtime.settings import Settings

log = get_logger("catalog")
RETRY_S = 1.0


async def open_where_set_up(settings: Settings, until: AsyncExitStack) -> Catalog | None:
    """The catalog until the stack is closed; None where no secret is set, since no key could be kept without.

    Raises what `open_catalog` raises, but for an outage, which it waits out.
    """
    if not settings.crypto_secrets:
        log.info("no catalog: ODRADEK_CRYPTO_SECRET_V1 is not set, so the settings say what is asked")
        return None
    while True:
        try:
            return await until.enter_async_context(open_catalog(settings))
        except Unavailable as error:
            log.warning("waiting for the catalog", detail=str(error), remedy="check ODRADEK_DATABASE_URL", often=True)
            await asyncio.sleep(RETRY_S)
