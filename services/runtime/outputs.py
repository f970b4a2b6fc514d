"""How a record model becomes a record for the log: its value, its facts, its key."""

from schemas.base import Record
from schemas.headers import Facts, Headers
from schemas.identities import traceparent
from schemas.registry import encode
from services.runtime.log import NewRecord


def output(
    topic: str,
    record: Record,
    *,
    channel: str,
    event_id: str,
    turn: str | None = None,
    generation: int | None = None,
    sequence: int | None = None,
    cause: int | None = None,
    partition: int | None = None,
) -> NewRecord:
    """A JSON record keyed by channel. `event_id` is made from the cause, so that a repetition is byte-equal.

    `cause` is the inbox offset of the event that led to it.
    """
    facts = Facts(
        type=type(record).__name__,
        version=record.version,
        id=event_id,
        channel=channel,
        turn=turn,
        generation=generation,
        sequence=sequence,
        cause=cause,
        traceparent=None if turn is None else traceparent(turn, event_id),
    )
    return NewRecord(
        topic=topic, key=channel.encode(), value=encode(record), headers=facts.headers(), partition=partition
    )


def bare(topic: str, value: bytes, facts: Facts, own_headers: Headers = ()) -> NewRecord:
    """A record of bare bytes keyed by channel: the common facts first, then the headers of its own."""
    return NewRecord(topic=topic, key=facts.channel.encode(), value=value, headers=facts.headers() + own_headers)
