"""One provider stream, bytes to chunks: the whole of stage 03 for whoever has the bytes.

The result does not depend on how the bytes were cut: joined over all chunks, text, thoughts, calls and the terminal
chunk are the same for every split. The same feeds always give equal chunks.
"""

from typing import assert_never

from schemas.chunks import Dialect, ProcessedChunk, ProviderError
from services.normalizer.assembly import Assembly
from services.normalizer.decode import UNREADABLE, is_object, loads
from services.normalizer.dialects import DIALECTS
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
from services.normalizer.errors import MAX_BODY_BYTES, event_error, http_error, stream_error
from services.normalizer.events import Event, Failed
from services.normalizer.sse import MAX_EVENT_BYTES, SseEvent, SseParser

MAX_STREAM_BYTES = 128 * 1024 * 1024


class StreamNormalizer:
    """Normalizes one stream.

    An end mark (`[DONE]`, `message_stop`) or an error in the stream ends it at once: `feed` then returns the terminal
    chunk, and whatever follows is ignored. A finish reason alone does not, since usage or an error may still follow it;
    then `flush` returns the terminal chunk. Exactly one terminal chunk, `done` or `error`, comes by the end of `flush`.
    """

    def __init__(self, dialect: Dialect, model: str, *, http_status: int = 200, content_type: str = "") -> None:
        """`model` is what was asked for, until the stream names its own; the rest is what the answer's head said.

        Raises KeyError for a dialect without a row in DIALECTS.
        """
        self._dialect = DIALECTS[dialect]()
        self._assembly = Assembly(model)
        self._parser = SseParser()
        self._status = http_status
        self._content_type = content_type
        self._room = MAX_STREAM_BYTES
        self._body = bytearray()
        self._over = False

    @property
    def over(self) -> bool:
        """The terminal chunk has been returned."""
        return self._over

    def feed(self, data: bytes) -> list[ProcessedChunk]:
        """The chunks that these bytes complete: at most one of text and thoughts, then those of the end."""
        if self._over:
            return []
        if not self._parser.events and len(self._body) < MAX_BODY_BYTES:
            self._body += data[: MAX_BODY_BYTES - len(self._body)]
        if self._refused:
            return []
        goes_on = self._take(data[: self._room])
        if goes_on and len(data) > self._room:
            goes_on = self._assembly.take([Failed(_too_large())])
        self._room -= len(data)
        chunks = self._assembly.drain()
        return chunks if goes_on else chunks + self._end_inside()

    def flush(self, ending: Ending) -> list[ProcessedChunk]:
        """The chunks that remain, now that it is known how the stream ended. A finish in the bytes beats any ending."""
        if self._over:
            return []
        last = self._parser.close()
        if last is not None and not self._take_last(last):
            return self._end_inside()
        self._close_dialect()
        self._over = True
        if self._assembly.finished:
            return self._assembly.complete()
        if isinstance(ending, Stopped):
            return self._assembly.stopped()
        return self._assembly.failed(self._error_of(ending))

    @property
    def _refused(self) -> bool:
        """The answer is no stream but a refusal, whatever its body looks like."""
        return not 200 <= self._status < 300

    def _take(self, data: bytes) -> bool:
        events: list[Event] = []
        for event in self._parser.feed(data):
            self._dialect.read(event, events)
            if not self._assembly.take(events):
                return False
            events.clear()
        if self._parser.overflowed:
            message = f"one event of more than {MAX_EVENT_BYTES} bytes"
            return self._assembly.take([Failed(stream_error("event_too_large", message, retryable=False))])
        return True

    def _take_last(self, last: SseEvent) -> bool:
        """An event without its blank line; one that cannot be read was cut, which the ending accounts for."""
        events: list[Event] = []
        self._dialect.read(last, events)
        return self._assembly.take(
            event for event in events if not (isinstance(event, Failed) and event.error.code == "malformed_event")
        )

    def _close_dialect(self) -> None:
        events: list[Event] = []
        self._dialect.close(events)
        self._assembly.take(events)

    def _end_inside(self) -> list[ProcessedChunk]:
        self._close_dialect()
        self._over = True
        error = self._assembly.error
        return self._assembly.complete() if error is None else self._assembly.failed(error)

    def _error_of(self, ending: Failure) -> ProviderError:
        match ending:
            case HttpError():
                return http_error(ending.status, ending.headers, self._unread(), ending.received_at)
            case _ if self._refused:
                return http_error(self._status, {}, self._unread())
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
        return b"" if self._parser.events else bytes(self._body)

    def _incomplete(self) -> ProviderError:
        """A proper end of the body without an end of the reply."""
        body = self._unread().removeprefix(b"\xef\xbb\xbf").strip()
        is_document = body[:1] in (b"{", b"[", b"<", b"")
        if self._parser.events or (self._parser.keep_alives and not is_document):
            return stream_error("stream_incomplete", "the stream ended before the reply did")
        try:
            payload = loads(body)
        except UNREADABLE:
            payload = None
        if is_object(payload) and payload.get("error"):
            return event_error(payload, body)
        what = self._content_type
        if not what or "event-stream" in what:
            what = "a body without events" if body else "an empty body"
        text = body.decode("utf-8", "replace")
        return stream_error("not_a_stream", f"the provider answered with {what} instead of a stream", original=text)


def _too_large() -> ProviderError:
    return stream_error("stream_too_large", "the stream grew over the limit", retryable=False)
