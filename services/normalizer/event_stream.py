"""One provider stream, bytes to canonical events: what the provider said, and how the stream ended.

The result does not depend on how the bytes were cut. Exactly one terminal event (EndMark, Failed or Cut) comes by the
end of `flush`, and it is the last.
"""

from typing import Any, assert_never

from schemas.chunks import ProviderError
from services.normalizer.decode import UNREADABLE, first_of, is_object, loads
from services.normalizer.dialects import StreamDialect
from services.normalizer.dialects.odd_events import fails
from services.normalizer.endings import (
    ConnectFailed,
    ConnectionReset,
    Deadline,
    Ending,
    EndOfFile,
    Expired,
    Failure,
    HttpError,
    Lost,
    Stopped,
    TooLarge,
)
from services.normalizer.errors import MAX_BODY_BYTES, event_error, http_error, is_refusal, stream_error
from services.normalizer.errors.families import Family
from services.normalizer.events import Cut, End, EndMark, Event, Failed
from services.normalizer.sse import MAX_EVENT_BYTES, SseParser
from services.normalizer.sse_event import SseEvent

MAX_STREAM_BYTES = 128 * 1024 * 1024
_INSIDE = frozenset({EndMark, Failed})


class EventStream:
    """Reads one stream.

    An end mark (`[DONE]`, `message_stop`) or an error in the stream ends it at once: `feed` then returns the terminal
    event, and whatever follows is ignored. A finish reason alone does not, since usage or an error may still follow it;
    then `flush` returns the terminal event.
    """

    def __init__(
        self, dialect: StreamDialect, family: Family, *, http_status: int = 200, content_type: str = ""
    ) -> None:
        """`dialect` is a fresh one, `family` says what a refusal means; the rest is what the answer's head said."""
        self.over = False
        self._family = family
        self._dialect = dialect
        self._parser = SseParser()
        self._status = http_status
        self._content_type = content_type
        self._refused = not 200 <= http_status < 300
        self._takes_events = not self._refused
        self._room = MAX_STREAM_BYTES
        self._body: bytearray | None = bytearray()

    def feed(self, data: bytes) -> list[Event]:
        """The events that these bytes complete."""
        if self._takes_events and len(data) <= self._room:
            event = self._parser.single(data)
            if event is not None:
                self._room -= len(data)
                self._body = None
                out: list[Event] = []
                self._dialect.read(event, out)
                return self._ended(out) if out and type(out[-1]) in _INSIDE else out
        return self._feed(data)

    def _feed(self, data: bytes) -> list[Event]:
        if self.over:
            return []
        if self._body is not None:
            self._body += data[: MAX_BODY_BYTES - len(self._body)]
            if self._refused:
                return []
        self._room -= len(data)
        out: list[Event] = []
        for event in self._parser.feed(data if self._room >= 0 else data[: self._room]):
            self._read(event, out)
            if out and type(out[-1]) in _INSIDE:
                return self._ended(out)
        if self._parser.overflowed:
            message = f"one event of more than {MAX_EVENT_BYTES} bytes"
            out.append(Failed(stream_error("event_too_large", message, retryable=False)))
            return self._ended(out)
        if self._room < 0:
            out.append(Failed(_too_large()))
            return self._ended(out)
        return out

    def _read(self, event: SseEvent, out: list[Event]) -> None:
        if event.unframed:
            payload = _object(event.data)
            if fails(payload):
                self._body = None
                out.append(Failed(event_error(payload, event.data, self._family)))
            return
        self._body = None
        self._dialect.read(event, out)
        if out and _is_malformed(out[-1]) and b"\n" in event.data:
            self._read_lines(event, out)

    def _read_lines(self, event: SseEvent, out: list[Event]) -> None:
        """Read the lines of an event as events, if each is one: a server left out the blank lines between them."""
        lines = event.data.split(b"\n")
        if all(_object(line) is not None or line.strip() == b"[DONE]" for line in lines):
            out.pop()
            for line in lines:
                self._dialect.read(SseEvent(event.name, line, event.last_id), out)
                if out and type(out[-1]) in _INSIDE:
                    return

    def stop(self) -> None:
        """Read nothing more, since whoever takes the events has ended the reply."""
        self.over = True
        self._takes_events = False

    def flush(self, ending: Ending) -> list[Event]:
        """The events that remain, now that it is known how the stream ended. A finish in the bytes beats any ending."""
        if self.over:
            return []
        out: list[Event] = []
        for event in () if self._refused else self._parser.close():
            self._read(event, out)
            if out and type(out[-1]) in _INSIDE:
                if not _is_malformed(out[-1]):
                    return self._ended(out)
                out.pop()  # it has no blank line, so it was cut, which the ending accounts for
        out.append(self._end(ending))
        return self._ended(out)

    def _end(self, ending: Ending) -> End:
        if self._dialect.finished:
            return EndMark()
        if isinstance(ending, Stopped):
            return Cut()
        return Failed(self._error_of(ending))

    def _ended(self, out: list[Event]) -> list[Event]:
        """Put what the dialect held back before the terminal event."""
        self.stop()
        end = out.pop()
        self._dialect.close(out)
        out.append(end)
        return out

    def _error_of(self, ending: Failure) -> ProviderError:
        match ending:
            case HttpError():
                return http_error(
                    ending.status, ending.headers, self._unread(), ending.received_at, family=self._family
                )
            case _ if self._refused:
                return http_error(self._status, {}, self._unread(), family=self._family)
            case EndOfFile():
                return self._incomplete()
            case ConnectionReset():
                return stream_error("connection_reset", ending.detail or "the connection broke inside the stream")
            case ConnectFailed():
                return stream_error("connect_failed", ending.detail or "the provider could not be reached")
            case Deadline():
                message = f"the provider took too long ({ending.kind.replace('_', ' ')})"
                return ProviderError(type="timeout", code=f"{ending.kind}_timeout", message=message, retryable=True)
            case TooLarge():
                return _too_large()
            case Lost():
                return stream_error("lost", "the rest of the stream was lost on our side")
            case Expired():
                return stream_error("expired", "the request waited too long and was not sent", retryable=False)
            case _:
                assert_never(ending)

    def _unread(self) -> bytes:
        """The start of the body, while nothing of it was an event."""
        return b"" if self._parser.events or self._body is None else bytes(self._body)

    def _incomplete(self) -> ProviderError:
        """A proper end of the body without an end of the reply."""
        body = self._unread().removeprefix(b"\xef\xbb\xbf").strip()
        is_document = body[:1] in (b"{", b"[", b"<", b"")
        if self._parser.events or (self._parser.keep_alives and not is_document):
            return stream_error("stream_incomplete", "the stream ended before the reply did")
        payload = _object(body)
        if is_refusal(payload):
            return event_error(payload, body, self._family)
        what = self._content_type
        if not what or "event-stream" in what:
            what = "a body without events" if body else "an empty body"
        text = body.decode("utf-8", "replace")
        return stream_error("not_a_stream", f"the provider answered with {what} instead of a stream", original=text)


def _is_malformed(event: Event) -> bool:
    return isinstance(event, Failed) and event.error.code == "malformed_event"


def _object(data: bytes) -> dict[str, Any] | None:
    """The JSON object, or the first one of a JSON array."""
    try:
        value = first_of(loads(data))
    except UNREADABLE:
        return None
    return value if is_object(value) else None


def _too_large() -> ProviderError:
    return stream_error("stream_too_large", "the stream grew over the limit", retryable=False)
