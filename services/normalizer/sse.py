"""Server-sent events from bytes, cut anywhere.

The rules are those of the HTML standard (https://html.spec.whatwg.org/multipage/server-sent-events.html), on bytes: a
line ends at CR, LF or CRLF and at nothing else, so characters such as U+2028 stay inside a payload, and a character
that two reads share is whole again before anybody decodes it. Four things differ because providers do: the last event
counts even if its blank line never came (`close`), one event has a size limit, llama.cpp tells errors in a field of its
own (`error: {...}`, https://github.com/ggml-org/llama.cpp/issues/16109), and JSON on lines without a field is kept
(`SseEvent.unframed`), which the standard ignores.
"""

from services.normalizer.sse_event import SseEvent

MAX_EVENT_BYTES = 64 * 1024 * 1024
MAX_UNFRAMED_BYTES = 64 * 1024
"""Of JSON between events; a longer one is no error, and ignored."""
_MAX_DIGITS = 18
"""Python refuses to read numbers of thousands of digits; nobody waits for more than these."""

_BOM = b"\xef\xbb\xbf"
_LF = 0x0A
_CR = 0x0D
_COLON = 0x3A
_FIELDS = frozenset({b"data", b"event", b"id", b"retry", b"error"})
_JSON = (b"{", b"[")


class SseParser:
    """Cuts a stream into events; the result does not depend on how the bytes were split.

    `events` counts blocks with data. `keep_alives` counts what only says that the connection lives: comments and blocks
    without data. `overflowed`: an event grew over the limit, and the parser gives nothing more. `retry_ms`: how long the
    server wants a client to wait before it connects again, in milliseconds; None if it did not say.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.events = 0
        self.keep_alives = 0
        self.overflowed = False
        self.retry_ms: int | None = None
        self._max = max_event_bytes
        self._head: bytes | None = b""
        self._skip_lf = False
        self._tail: list[bytes] = []
        self._tail_size = 0
        self._name = b""
        self._last_id = b""
        self._data: list[bytes] = []
        self._data_size = 0
        self._block_is_empty = True
        self._is_between = True
        self._unframed: list[bytes] = []
        self._unframed_size = 0

    def feed(self, data: bytes) -> list[SseEvent]:
        """Events that these bytes complete, in order."""
        if self._is_between:
            event = self.single(data)
            if event is not None:
                return [event]
        elif self._tail and data.find(b"\n") < 0 and data.find(b"\r") < 0:
            self._grow(data)
            return []
        out = self._feed(data)
        self._is_between = self._block_is_empty and not (
            self._tail or self._skip_lf or self._data or self._unframed or self._head is not None or self.overflowed
        )
        return out

    def single(self, data: bytes) -> SseEvent | None:
        """The event of a read that is one whole block of the usual form and nothing else, as most reads are.

        None for any other read, which is left to `feed`. For whoever reads event by event: a third of the time, since
        nothing is gathered. `partition` costs half of what `find` does, and of what a look at the first bytes does.
        """
        if not self._is_between or len(data) > self._max:
            return None
        line, _, rest = data.partition(b"\n")
        line, cr, behind = line.partition(b"\r")
        name = b""
        if rest != (b"\r\n" if cr else b"\n"):
            name = line.removeprefix(b"event: ")
            if name is line or cr:
                return None
            line, _, rest = rest.partition(b"\n")
            if rest != b"\n" or line.partition(b"\r")[1]:
                return None
        payload = line.removeprefix(b"data: ")
        if payload is line or behind:
            return None
        self._head = None
        self.events += 1
        return SseEvent(name, payload, self._last_id)

    def _feed(self, data: bytes) -> list[SseEvent]:
        if self._head is not None:
            data = self._strip_bom(data)
        if self._skip_lf and data:
            self._skip_lf = False
            if data[0] == _LF:
                data = data[1:]
        if not data or self.overflowed:
            return []
        if b"\r" in data:
            self._skip_lf = data[-1] == _CR
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = data.split(b"\n")
        rest = lines.pop()
        out: list[SseEvent] = []
        if lines:
            if self._tail:
                self._tail.append(lines[0])
                lines[0] = b"".join(self._tail)
                self._tail.clear()
            if self._data_size + self._tail_size + len(data) > self._max:
                self._take_measured(lines, out)
            else:
                self._take(lines, out)
            self._tail_size = 0
        if rest and not self.overflowed:
            self._grow(rest)
        return out

    def _grow(self, piece: bytes) -> None:
        """Keep a piece of a line that has not ended."""
        self._tail.append(piece)
        self._tail_size += len(piece)
        if self._data_size + self._tail_size > self._max:
            self._overflow()

    def close(self) -> list[SseEvent]:
        """What the stream's end left without its blank line: JSON without a field, and an event, which may be cut short."""
        out: list[SseEvent] = []
        if self.overflowed or self._is_between:
            return out
        self._take([(self._head or b"") + b"".join(self._tail)], out)
        if self._data or self._unframed:
            self._take([b""], out)
        return out

    def _strip_bom(self, data: bytes) -> bytes:
        head = (self._head or b"") + data
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._head = head
            return b""
        self._head = None
        return head.removeprefix(_BOM)

    def _overflow(self) -> None:
        self.overflowed = True
        self._tail.clear()
        self._data.clear()
        self._unframed.clear()

    def _take_measured(self, lines: list[bytes], out: list[SseEvent]) -> None:
        """Take lines that may hold an event over the limit."""
        for line in lines:
            if self._data_size + len(line) > self._max:
                self._overflow()
                return
            self._take([line], out)

    def _take(self, lines: list[bytes], out: list[SseEvent]) -> None:
        data = self._data
        for line in lines:
            if line.startswith(b"data: "):
                if self._unframed:
                    self._tell_unframed(out)
                self._data_size += len(line)
                data.append(line[6:])
            elif line:
                self._take_other(line, out)
            elif data:
                out.append(SseEvent(self._name, data[0] if len(data) == 1 else b"\n".join(data), self._last_id))
                data.clear()
                self.events += 1
                self._data_size = 0
                self._name = b""
                self._block_is_empty = True
            else:
                if self._unframed:
                    self._tell_unframed(out)
                if not self._block_is_empty:
                    self.keep_alives += 1
                self._name = b""
                self._block_is_empty = True

    def _take_other(self, line: bytes, out: list[SseEvent]) -> None:
        if line[0] == _COLON:
            self.keep_alives += 1
            return
        self._block_is_empty = False
        field, _, value = line.partition(b":")
        if field not in _FIELDS:
            self._take_unframed(line)
            return
        if self._unframed:
            self._tell_unframed(out)
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
            self._data_size += len(line)
        elif field == b"event":
            self._name = value
        elif field == b"id":
            if b"\0" not in value:
                self._last_id = value
        elif field == b"retry":
            if value.isdigit():
                self.retry_ms = int(value[:_MAX_DIGITS])
        elif value.startswith(b"{") and value != b"{}":
            self._name = b"error"
            self._data.append(value)
            self._data_size += len(line)

    def _take_unframed(self, line: bytes) -> None:
        """A line of no field: it begins JSON between events, goes on with it, or is ignored."""
        if self._unframed or (not self._data and line.startswith(_JSON)):
            self._unframed_size += len(line)
            if self._unframed_size <= MAX_UNFRAMED_BYTES:
                self._unframed.append(line)

    def _tell_unframed(self, out: list[SseEvent]) -> None:
        if self._unframed_size <= MAX_UNFRAMED_BYTES:
            out.append(SseEvent(b"", b"\n".join(self._unframed), self._last_id, unframed=True))
        self._unframed.clear()
        self._unframed_size = 0
