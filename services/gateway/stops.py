"""Stops by users: written to control and to inbox at once with the same id, and done when either log has it."""

import asyncio
from collections.abc import Callable

from schemas.stops import ChannelTurns, OneTurn, StopRequested
from services.gateway.metrics import STOPS
from services.runtime.log import Appended, NewRecord
from services.runtime.outputs import output

_OPEN = 1_000

Send = Callable[[NewRecord], "asyncio.Future[Appended]"]


def kill_channel(*, channel_id: int, interaction_id: int, user_id: int) -> StopRequested:
    """A stop for every turn of the channel that was caused before the interaction."""
    return StopRequested(
        channel_id=str(channel_id),
        stop_id=str(interaction_id),
        target=ChannelTurns(before=str(interaction_id)),
        manner="kill",
        requested_by=str(user_id),
    )


def stop_turn(*, turn: str, channel_id: int, interaction_id: int, user_id: int) -> StopRequested:
    """A stop for one turn that still shows what it has."""
    return StopRequested(
        channel_id=str(channel_id),
        stop_id=str(interaction_id),
        target=OneTurn(turn=turn),
        manner="graceful",
        requested_by=str(user_id),
    )


def stop_records(stop: StopRequested) -> tuple[NewRecord, NewRecord]:
    """The stop for control and for inbox: the same id, so that whoever reads both counts it once."""
    turn = stop.target.turn if isinstance(stop.target, OneTurn) else None
    event_id = f"stop:{stop.stop_id}"
    return (
        output("control", stop, channel=stop.channel_id, event_id=event_id, turn=turn),
        output("inbox", stop, channel=stop.channel_id, event_id=event_id, turn=turn),
    )


class Stops:
    """Writes stops. At most 1,000 writes wait for the log, so that a button cannot fill the memory."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._open: set[asyncio.Future[Appended]] = set()

    def write(self, stop: StopRequested) -> "list[asyncio.Future[Appended]]":
        """Hand the stop over to both logs; returns their acknowledgements, none where too many are open."""
        if len(self._open) >= _OPEN:
            return []
        STOPS.labels(stop.manner).inc()
        writes = [self._send(record) for record in stop_records(stop)]
        for write in writes:
            self._open.add(write)
            write.add_done_callback(self._open.discard)
        return writes


async def either(writes: "list[asyncio.Future[Appended]]", *, within_s: float) -> bool:
    """Whether one of the writes is acknowledged within the time; the writes go on in either case."""
    waiting = set(writes)
    end = asyncio.get_running_loop().time() + within_s
    while waiting and (left := end - asyncio.get_running_loop().time()) > 0:
        done, waiting = await asyncio.wait(waiting, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if any(not write.cancelled() and write.exception() is None for write in done):
            return True
    return False
