"""The orchestrator worker: inbox in; generations, deliveries, control, turns and snapshots out."""

from collections.abc import Collection

from schemas.errors import UnknownRecordType
from schemas.headers import Facts
from schemas.inbox import ChunkBatch, DeliveryReceipt, GenerationFailed, MessageReceived, TimerFired
from schemas.registry import decode
from schemas.stops import StopRequested
from services.orchestrator.actors import Actors
from services.runtime.assembly import Context, WorkerSpec
from services.runtime.handler import Handler
from services.runtime.inbound import Inbound
from services.runtime.log import LogRecord, NewRecord
from services.runtime.refusals import refused
from services.runtime.stop_checks import check_stop

_EVENTS = (MessageReceived, StopRequested, ChunkBatch, GenerationFailed, DeliveryReceipt, TimerFired)


class Orchestrator:
    """Handles the inbox; all its state is in the actors."""

    def __init__(self, actors: Actors) -> None:
        self._actors = actors

    async def handle(self, inbound: Inbound) -> None:
        """Fold one event; raises a BadRecord for a record that is none."""
        _, event = decode(inbound.record.headers, inbound.record.value)
        if not isinstance(event, _EVENTS):
            raise UnknownRecordType(f"{type(event).__name__} has no place in inbox")
        if isinstance(event, StopRequested):
            check_stop(inbound.record, event)
        self._actors.receive(inbound, event)

    def arrived(self, inbound: Inbound) -> bool:
        """A copy of a chunk batch is done with at once; whoever takes raw over may write many."""
        return self._actors.passes_over(inbound)

    async def recover(self, partitions: Collection[int]) -> None:
        """Load the channels' snapshots."""
        await self._actors.load(partitions)

    def dropped(self, partitions: Collection[int]) -> None:
        """Forget the channels of partitions that went elsewhere."""
        self._actors.drop(partitions)

    def refuse(self, record: LogRecord, facts: Facts | None, reason: str, message: str) -> list[NewRecord]:
        """End the generation of an event that could not be handled, but not for the event that does just that."""
        if facts is None or facts.type == GenerationFailed.__name__:
            return []
        return refused("orchestrator", record, facts, reason, message)


async def build(context: Context) -> Handler:
    """The worker's handler, bound to the process."""
    return Orchestrator(Actors(context.log, context.sender, context.clock))


SPEC = WorkerSpec(name="orchestrator", reads="inbox", build=build)
