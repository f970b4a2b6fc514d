"""The normalizer worker: raw in, chunk batches out.

The records of a stream stay unfinished until its end is written, so that whoever takes the partition over reads the
stream from its start and makes the same batches again. Those that are known to stand in the inbox are not written again
(`services.normalizer.written`); of the others the orchestrator drops those that it has.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial

from schemas.headers import Facts, HeaderReader
from schemas.raw import RawEnd, RawSlice, parse_raw
from services.normalizer.metrics import BATCHES, DROPPED, OPEN, STANDING, TRUNCATED
from services.normalizer.rules import RULES, RulesByVersion, UnknownRules
from services.normalizer.streams import Dropped, Streams
from services.normalizer.written import InboxReader, Written, batch_id
from services.runtime.assembly import Context, WorkerSpec
from services.runtime.errors import RecordTooLarge, Unavailable
from services.runtime.handler import Handler
from services.runtime.inbound import Inbound, Pending
from services.runtime.log import Appended, LogRecord, NewRecord
from services.runtime.logs import get_logger
from services.runtime.outputs import output
from services.runtime.refusals import refused

log = get_logger("normalizer")
FORGET_EVERY_S = 60.0
FORGET_AFTER_S = 900.0
"""Longer than a generation's deadline, so the turn of a stream that is forgotten has ended long since."""


@dataclass(slots=True)
class _Partition:
    """What is known of a partition since it was taken over."""

    streams: Streams[Pending]
    written: Written = field(default_factory=Written)


class Normalizer:
    """Handles raw records; its state is the open streams of each partition."""

    def __init__(self, inbox: InboxReader, rules: RulesByVersion = RULES) -> None:
        self._inbox = inbox
        self._rules = rules
        self._partitions: dict[int, _Partition] = {}

    async def handle(self, inbound: Inbound) -> None:
        """Normalize one raw record; raises a BadRecord where its headers are not those of one, Unavailable for new rules.

        An error at a record of a stream ends the stream: its generation ends with the dead letter of this record.
        """
        raw = parse_raw(HeaderReader(inbound.record.headers))
        # Held on to: should the partition go and come back while we wait, its next records are not this one's.
        partition = self._partition(inbound.record.partition)
        await partition.written.known.wait()
        try:
            self._normalize(inbound, raw, partition)
        except UnknownRules as error:
            # Not poison: the code that knows the rules is being deployed.
            raise Unavailable("rules", f"{error}; deploy the normalizer before the stamp is raised") from error
        except Exception:
            for pending in partition.streams.abandon(raw.origin):
                pending.release()
            raise

    def _normalize(self, inbound: Inbound, raw: RawSlice | RawEnd, partition: _Partition) -> None:
        record, streams = inbound.record, partition.streams
        if isinstance(raw, RawSlice):
            now_s = asyncio.get_running_loop().time()
            outcome = streams.slice(raw, record.value or b"", inbound.hold, now_s)
        else:
            outcome = streams.end(raw, record.timestamp_ms)
        if isinstance(outcome, Dropped):
            DROPPED.labels(outcome.why).inc()
            return
        batch = outcome.batch
        standing = partition.written.holds(batch)
        if batch.end is not None:
            partition.written.forget(batch.turn, batch.generation)
        if standing:
            STANDING.inc()
            for pending in outcome.settled:
                pending.release()
            return
        new = output(
            "inbox",
            batch,
            channel=inbound.facts.channel,
            event_id=batch_id(batch),
            turn=batch.turn,
            generation=batch.generation,
            sequence=batch.sequence,
            cause=inbound.facts.cause,
        )
        try:
            written = inbound.emit(new)
        except RecordTooLarge:
            for pending in outcome.settled:
                pending.release()
            raise
        BATCHES.inc()
        cut = sum(chunk.type == "function_call" and chunk.function_call.arguments_truncated for chunk in batch.chunks)
        TRUNCATED.labels(raw.origin.dialect).inc(cut)
        if outcome.settled:
            written.add_done_callback(partial(_release, outcome.settled))

    def arrived(self, inbound: Inbound) -> bool:
        """The first record of a partition is its oldest unfinished one: what was written for it and later ones is read."""
        number = inbound.record.partition
        self._inbox.ask(number, self._partition(number).written, inbound.facts.cause)
        return False

    async def recover(self, partitions: Collection[int]) -> None:
        """Nothing to load: the unfinished records of open streams are read again."""
        for partition in partitions:
            self._partitions[partition] = _Partition(Streams(self._rules))

    def _partition(self, number: int) -> _Partition:
        return self._partitions.setdefault(number, _Partition(Streams(self._rules)))

    def dropped(self, partitions: Collection[int]) -> None:
        """Forget the open streams of partitions that went elsewhere."""
        for partition in partitions:
            self._partitions.pop(partition, None)

    def refuse(self, record: LogRecord, facts: Facts | None, reason: str, message: str) -> list[NewRecord]:
        """End the generation of a raw record that could not be handled."""
        return refused("normalizer", record, facts, reason, message)

    async def forget_regularly(self) -> None:
        """Close streams that are older than any deadline allows, so that they hold no commits."""
        while True:
            await asyncio.sleep(FORGET_EVERY_S)
            before_s = asyncio.get_running_loop().time() - FORGET_AFTER_S
            for partition in self._partitions.values():
                forgotten = partition.streams.forget(before_s)
                for pending in forgotten:
                    pending.release()
                if forgotten:
                    log.warning("streams without an end were forgotten", records=len(forgotten))

    def open_streams(self) -> int:
        """How many streams are open in all partitions."""
        return sum(len(partition.streams) for partition in self._partitions.values())


def _release(settled: tuple[Pending, ...], written: "asyncio.Future[Appended]") -> None:
    if not written.cancelled() and written.exception() is None:
        for pending in settled:
            pending.release()


async def build(context: Context, rules: RulesByVersion = RULES) -> Handler:
    """The worker's handler, bound to the process."""
    inbox = InboxReader(context.log)
    normalizer = Normalizer(inbox, rules)
    context.add_background(inbox.run)
    context.add_background(normalizer.forget_regularly)
    OPEN.set_function(normalizer.open_streams)
    return normalizer


SPEC = WorkerSpec(name="normalizer", reads="raw", build=build)
