"""One server-sent event, as the parser gives it to a dialect."""

import msgspec


class SseEvent(msgspec.Struct, frozen=True, gc=False):
    """One event: its name (empty when the block has no `event:` line) and its data, the lines joined by LF.

    `last_id` is the stream's last event id so far.
    """

    name: bytes
    data: bytes
    last_id: bytes = b""
