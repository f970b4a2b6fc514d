"""Dead letters: a record that could not be handled, as it was, with headers that say where it came from and why.

Key and value are the record's own. Its headers are kept behind ours, which are `dead-letter-*`; the reason is one word
and the message holds nothing that users or providers wrote. The event id is the origin, so one origin has one dead letter.
"""

from schemas.headers import Facts
from services.runtime.log import LogRecord, NewRecord

TOPIC = "dead-letters"


def dead_letter(record: LogRecord, *, service: str, reason: str, message: str, max_bytes: int) -> NewRecord:
    """The dead letter of a record. A value over the topic's limit is cut, and a header says so."""
    value = record.value
    origin = f"{record.topic}/{record.partition}/{record.offset}"
    channel = (record.key or b"").decode("utf-8", "replace")[:64] or "unknown"
    facts = Facts(type="DeadLetter", version=1, id=f"dead-letter:{service}:{origin}", channel=channel)
    own = [
        ("dead-letter-topic", record.topic),
        ("dead-letter-partition", str(record.partition)),
        ("dead-letter-offset", str(record.offset)),
        ("dead-letter-timestamp", str(record.timestamp_ms)),
        ("dead-letter-service", service),
        ("dead-letter-reason", reason),
        ("dead-letter-message", message[:1_000]),
    ]
    if value is not None and len(value) > max_bytes:
        own.append(("dead-letter-cut-at", str(max_bytes)))
        value = value[:max_bytes]
    original = tuple((f"original-{name}", header) for name, header in record.headers)
    headers = facts.headers() + tuple((name, text.encode()) for name, text in own) + original
    return NewRecord(topic=TOPIC, key=record.key or channel.encode(), value=value, headers=headers)
