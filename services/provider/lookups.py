"""Looks names of custom endpoints up in threads of their own.

Users choose these names, and a name server of theirs that never answers keeps a thread for half a minute. In the threads
that everybody shares, a handful of them would keep every other provider from being found.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from services.runtime.fetching.addresses import Address
from services.runtime.fetching.connecting import look_up

THREADS = 32


class Lookups:
    """A resolver, see `services.runtime.fetching.connecting`; one name takes one thread, however often it is asked for."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="lookups")
        self._under_way: dict[tuple[str, int], asyncio.Future[Sequence[Address]]] = {}

    async def __call__(self, host: str, port: int) -> Sequence[Address]:
        """All addresses of a host; raises OSError where there are none, FetchRefused for one with a zone."""
        wanted = (host, port)
        looking = self._under_way.get(wanted)
        if looking is None:
            looking = asyncio.get_running_loop().run_in_executor(self._threads, look_up, host, port)
            self._under_way[wanted] = looking
            looking.add_done_callback(lambda _: self._under_way.pop(wanted))
            looking.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(looking)

    def close(self) -> None:
        """Look nothing up any more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
