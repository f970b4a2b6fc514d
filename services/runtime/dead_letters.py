"""Dead letters: a record that could not be handled, as it was, with headers that say where it came from and why.

Key and value are the record's own. Its headers are kept behind ours, which are `dead-letter-*`; the reason is one word
and the message holds nothing that users or providers wrote. The event id is the origin, so one origin has one dead letter.
"""

from schemas.headers import Facts, Headers
from services.runtime.log import LogRecord, NewRecord

TOPIC = "dead-letters"
KEY_BYTES = 1_024
ORIGINAL_HEADER_BYTES = 32_768


def dead_letter(record: LogRecord, *, service: str, reason: str, message: str, max_bytes: int) -> NewRecord:
    """The dead letter of a record. What is over the limits is left out, and a header says so.

    That is the end of a value over the topic's limit, a key over KEY_BYTES, headers over ORIGINAL_HEADER_BYTES together.
    """
    value = record.value
    key = record.key
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
    if key is not None and len(key) > KEY_BYTES:
        own.append(("dead-letter-key-bytes", str(len(key))))
        key = None
    original: Headers = tuple((f"original-{name}", header or b"") for name, header in record.headers)
    if sum(len(name) + len(header) for name, header in original) > ORIGINAL_HEADER_BYTES:
        own.append(("dead-letter-headers-left-out", str(len(original))))
        original = ()
    headers = facts.headers() + tuple((name, text.encode()) for name, text in own) + original
    return NewRecord(topic=TOPIC, key=key or channel.encode(), value=value, headers=headers)
