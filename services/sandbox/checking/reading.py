"""Every append of a history, decoded once: its facts, what it holds, or why no reader can use it.

What a reader of the topic would refuse is refused here too: a type that has no place in it, a key of another partition.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from schemas.base import Record
from schemas.errors import BadRecord, UnknownRecordType, WrongPartition
from schemas.headers import Facts, HeaderReader, Headers
from schemas.raw import RawEnd, RawSlice, parse_raw
from schemas.registry import decode
from schemas.topics import load_topics
from services.runtime.dead_letters import TOPIC as DEAD_LETTERS
from services.runtime.log import LogRecord
from services.runtime.partitions import partition_of
from services.sandbox.checking.history import History, Written

CONSUMERS = {
    "inbox": "orchestrator",
    "generations": "context",
    "prompts": "provider",
    "raw": "normalizer",
    "deliveries": "delivery",
}
"""The topics that are consumed record by record, and by which service."""

_ORIGINAL = "original-"

Place = tuple[str, int, int]
"""(topic, partition, offset)."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Where a dead letter came from, and the facts of the record that lay there; None where nobody could read them."""

    origin: Place
    service: str
    reason: str
    original: Facts | None


Content = Record | RawSlice | RawEnd | DeadLetter


@dataclass(slots=True, eq=False)
class Read:
    """One append as a reader sees it. `problem` says why it holds nothing that counts; `copy_of` is its first copy."""

    at: float
    order: int
    record: LogRecord
    facts: Facts | None
    content: Content | None
    problem: str | None = None
    copy_of: "Read | None" = None

    @property
    def topic(self) -> str:
        """The topic that it lies in."""
        return self.record.topic

    @property
    def offset(self) -> int:
        """Its offset."""
        return self.record.offset

    @property
    def place(self) -> Place:
        """Where it lies."""
        return self.record.topic, self.record.partition, self.record.offset

    @property
    def where(self) -> str:
        """Where it lies, for people."""
        return f"{self.record.topic}/{self.record.partition}@{self.record.offset}"

    @property
    def turn(self) -> str | None:
        """The turn of its headers."""
        return None if self.facts is None else self.facts.turn


Decoded = tuple[Facts | None, Content | None, str | None]


def read_all(history: History) -> list[Read]:
    """All appends in their order."""
    allowed = {name: frozenset(spec.records) for name, spec in load_topics().topics.items()}
    known: dict[tuple[str, Headers, bytes | None], Decoded] = {}
    firsts: dict[tuple[str, str], Read] = {}
    reads: list[Read] = []
    for written in sorted(history.writes, key=_order):
        record = written.record
        # A repetition is equal in nearly all cases, and then it says the same.
        key = (record.topic, record.headers, record.value)
        decoded = known.get(key)
        if decoded is None:
            decoded = known[key] = _decoded(record, allowed)
        facts, content, problem = decoded
        if record.topic in CONSUMERS:
            problem = problem or _misplaced(record, history.partitions)
        read = Read(written.at, written.order, record, facts, content if problem is None else None, problem)
        if facts is not None and problem is None:
            first = firsts.setdefault((record.topic, facts.id), read)
            read.copy_of = None if first is read else first
        reads.append(read)
    return reads


def _order(written: Written) -> int:
    return written.order


def _decoded(record: LogRecord, allowed: dict[str, frozenset[str]]) -> Decoded:
    facts: Facts | None = None
    try:
        if record.topic in ("raw", DEAD_LETTERS):
            reader = HeaderReader(record.headers)
            facts = reader.facts()
            return facts, parse_raw(reader) if record.topic == "raw" else _dead_letter(reader, record), None
        facts, content = decode(record.headers, record.value)
        if facts.type not in allowed.get(record.topic, ()):
            raise UnknownRecordType(f"{facts.type} has no place in {record.topic}")
    except BadRecord as error:
        return facts or _facts_in(record.headers), None, f"{error.reason}: {error}"
    else:
        return facts, content, None


def _facts_in(headers: Iterable[tuple[str, bytes | None]]) -> Facts | None:
    try:
        return HeaderReader(headers).facts()
    except BadRecord:
        return None


def _misplaced(record: LogRecord, partitions: int) -> str | None:
    if record.key is not None and partition_of(record.key, partitions) == record.partition:
        return None
    return f"{WrongPartition.reason}: the key's partition is another one"


def _dead_letter(reader: HeaderReader, record: LogRecord) -> DeadLetter:
    reason = reader.need("dead-letter-reason")
    # Without facts, or in a partition that is not its own, a record belongs to no turn that its reader could end.
    facts = (
        None
        if reason == WrongPartition.reason
        else _facts_in(
            (name.removeprefix(_ORIGINAL), value) for name, value in record.headers if name.startswith(_ORIGINAL)
        )
    )
    return DeadLetter(
        origin=(
            reader.need("dead-letter-topic"),
            reader.need_number("dead-letter-partition"),
            reader.need_number("dead-letter-offset"),
        ),
        service=reader.need("dead-letter-service"),
        reason=reason,
        original=facts,
    )
