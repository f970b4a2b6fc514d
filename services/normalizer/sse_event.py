"""One server-sent event, as the parser gives it to a dialect."""

import msgspec


class SseEvent(msgspec.Struct, frozen=True, gc=False):
    """One event: its name (empty when the block has no `event:` line) and its data, the lines joined by LF.

    `last_id` is the stream's last event id so far. `unframed`: it is no event, but JSON that stood between events on
    lines of its own, as proxies write an error into a stream that has begun.
    """

    name: bytes
    data: bytes
    last_id: bytes = b""
    unframed: bool = False
