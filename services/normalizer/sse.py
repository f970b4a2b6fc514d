"""Server-sent events from bytes, cut anywhere.

The rules are those of the HTML standard (https://html.spec.whatwg.org/multipage/server-sent-events.html), on bytes: a
line ends at CR, LF or CRLF and at nothing else, so characters such as U+2028 stay inside a payload, and a character
that two reads share is whole again before anybody decodes it. Two things differ because providers do: the last event
counts even if its blank line never came (`close`), and one event has a size limit.
"""

from typing import NamedTuple

MAX_EVENT_BYTES = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_COLON = 0x3A
_SPACE = 0x20


class SseEvent(NamedTuple):
    """One event: its name (empty when the block has no `event:` line) and its data, the lines joined by LF."""

    name: bytes
    data: bytes


class SseOverflow(NamedTuple):
    """An event grew over the limit, in bytes; the parser gives nothing more."""

    limit: int


class SseParser:
    """Cuts a stream into events; the result does not depend on how the bytes were split.

    `events` counts blocks with data. `keep_alives` counts what only says that the connection lives: comments and blocks
    without data.
    """

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.events = 0
        self.keep_alives = 0
        self._max = max_event_bytes
        self._head: bytes | None = b""
        self._skip_lf = False
        self._tail: list[bytes] = []
        self._tail_size = 0
        self._name = b""
        self._data: list[bytes] = []
        self._data_size = 0
        self._block_is_empty = True
        self._dead = False

    def feed(self, data: bytes) -> list[SseEvent | SseOverflow]:
        """Events that these bytes complete, in order; an overflow is always the last one."""
        if self._head is not None:
            data = self._strip_bom(data)
        if self._skip_lf and data:
            self._skip_lf = False
            if data[0] == 0x0A:
                data = data[1:]
        if not data or self._dead:
            return []
        if b"\r" in data:
            self._skip_lf = data[-1] == 0x0D
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = data.split(b"\n")
        rest = lines.pop()
        out: list[SseEvent | SseOverflow] = []
        if lines:
            if self._tail:
                self._tail.append(lines[0])
                lines[0] = b"".join(self._tail)
                self._tail.clear()
                self._tail_size = 0
            self._take(lines, out)
        if rest and not self._dead:
            self._tail.append(rest)
            self._tail_size += len(rest)
            if self._data_size + self._tail_size > self._max:
                self._overflow(out)
        return out

    def close(self) -> SseEvent | None:
        """The event that the stream's end left without its blank line; it may be cut short."""
        if self._dead:
            return None
        line = (self._head or b"") + b"".join(self._tail)
        self._dead = True
        out: list[SseEvent | SseOverflow] = []
        self._take([line, b""] if line else [b""], out, closing=True)
        last = out[-1] if out else None
        return last if isinstance(last, SseEvent) else None

    def _strip_bom(self, data: bytes) -> bytes:
        head = (self._head or b"") + data
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._head = head
            return b""
        self._head = None
        return head.removeprefix(_BOM)

    def _overflow(self, out: list[SseEvent | SseOverflow]) -> None:
        self._dead = True
        self._tail.clear()
        self._data.clear()
        out.append(SseOverflow(self._max))

    def _take(self, lines: list[bytes], out: list[SseEvent | SseOverflow], *, closing: bool = False) -> None:
        data = self._data
        for line in lines:
            if self._data_size + len(line) > self._max:
                self._overflow(out)
                return
            if line.startswith(b"data:"):
                value = line[6:] if line[5:6] == b" " else line[5:]
                self._data_size += len(line)
                data.append(value)
            elif not line:
                if data:
                    self.events += 1
                    out.append(SseEvent(self._name, data[0] if len(data) == 1 else b"\n".join(data)))
                    data.clear()
                    self._data_size = 0
                elif not self._block_is_empty and not closing:
                    self.keep_alives += 1
                self._name = b""
                self._block_is_empty = True
            else:
                self._other_line(line)

    def _other_line(self, line: bytes) -> None:
        if line[0] == _COLON:
            self.keep_alives += 1
            return
        self._block_is_empty = False
        field, _, value = line.partition(b":")
        if value and value[0] == _SPACE:
            value = value[1:]
        if field == b"event":
            self._name = value
        elif field == b"data":
            self._data.append(value)
            self._data_size += len(line)
