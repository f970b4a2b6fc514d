"""Tells bytes that bring a reply forward from keep-alives, which must not reset the idle deadline.

Keep-alives are the comments and empty lines of server-sent events, Anthropic's `ping` event and the `keepalive` event of
OpenAI's responses.
https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
https://docs.anthropic.com/en/docs/build-with-claude/streaming#ping-events
"""

import re

_HEAD_BYTES = 64
_DATA = b"data:"
_PING = re.compile(rb'\s*\{\s*"type"\s*:\s*"(?:ping|keepalive)"')


class ProgressMeter:
    """Looks at the first bytes of each line only. A body that is no event stream brings forward with every byte."""

    __slots__ = ("_head", "_sse")

    def __init__(self, content_type: str) -> None:
        self._sse = content_type.lower().startswith("text/event-stream")
        self._head = b""

    def feed(self, data: bytes) -> bool:
        """Whether the bytes hold a part of an event with data that is no ping."""
        if not self._sse:
            return bool(data)
        first, *others = data.split(b"\n")
        progress = self._continues(first)
        if progress:
            # The rest cannot change the answer; only the line that the next bytes continue is still of interest.
            others = others[-1:]
        for line in others:
            self._head = b""
            progress = self._continues(line) or progress
        return progress

    def _continues(self, piece: bytes) -> bool:
        self._head += piece[: _HEAD_BYTES - len(self._head)]
        payload = self._head[len(_DATA) :]
        return bool(piece) and self._head.startswith(_DATA) and bool(payload.strip()) and not _PING.match(payload)
