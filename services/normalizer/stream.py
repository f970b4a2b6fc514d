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
    HttpError,
    Lost,
    Stopped,
)
from services.normalizer.errors import MAX_BODY_BYTES, event_error, http_error, stream_error
from services.normalizer.events import Event, Failed
from services.normalizer.sse import SseEvent, SseOverflow, SseParser

MAX_STREAM_BYTES = 128 * 1024 * 1024


class StreamNormalizer:
    """Normalizes one stream.

    An end mark (`[DONE]`, `message_stop`) or an error in the stream ends it at once: `feed` then returns the terminal
    chunk, and whatever follows is ignored. A finish reason alone does not, since usage or an error may still follow it;
    then `flush` returns the terminal chunk. Exactly one terminal chunk, `done` or `error`, comes by the end of `flush`.
    """

    def __init__(self, dialect: Dialect, model: str, content_type: str | None = None) -> None:
        """`model` is what was asked for, until the stream names its own. `content_type`: of the answer, if known.

        Raises KeyError for a dialect without a row in DIALECTS.
        """
        self._dialect = DIALECTS[dialect]()
        self._assembly = Assembly(model)
        self._parser = SseParser()
        self._content_type = content_type or ""
        self._room = MAX_STREAM_BYTES
        self._start = bytearray()
        self._over = False

    @property
    def over(self) -> bool:
        """The terminal chunk has been returned."""
        return self._over

    def feed(self, data: bytes) -> list[ProcessedChunk]:
        """The chunks that these bytes complete: at most one of text and thoughts, then those of the end."""
        if self._over:
            return []
        if not self._parser.events and len(self._start) < MAX_BODY_BYTES:
            self._start += data[: MAX_BODY_BYTES - len(self._start)]
        goes_on = self._take(self._parser.feed(data[: self._room]))
        if goes_on and len(data) > self._room:
            too_large = stream_error("stream_too_large", f"more than {MAX_STREAM_BYTES} bytes", retryable=False)
            goes_on = self._assembly.take([Failed(too_large)])
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
        if self._assembly.finished and not isinstance(ending, HttpError):
            return self._assembly.complete()
        if isinstance(ending, Stopped):
            return self._assembly.stopped()
        return self._assembly.failed(self._error_of(ending))

    def _take(self, items: list[SseEvent | SseOverflow]) -> bool:
        events: list[Event] = []
        for item in items:
            if isinstance(item, SseOverflow):
                message = f"one event of more than {item.limit} bytes"
                events.append(Failed(stream_error("event_too_large", message, retryable=False)))
            else:
                self._dialect.read(item, events)
            if not self._assembly.take(events):
                return False
            events.clear()
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

    def _error_of(
        self, ending: EndOfFile | ConnectionReset | ConnectFailed | HttpError | Deadline | Lost | Expired
    ) -> ProviderError:
        match ending:
            case EndOfFile():
                return self._incomplete()
            case ConnectionReset():
                return stream_error("connection_reset", ending.detail or "the connection broke inside the stream")
            case ConnectFailed():
                return stream_error("connect_failed", ending.detail or "the provider could not be reached")
            case HttpError():
                return http_error(ending.status, ending.headers, ending.body or self._body(), ending.received_at)
            case Deadline():
                message = f"the provider took too long ({ending.kind.replace('_', ' ')})"
                return ProviderError(type="timeout", code=f"deadline_{ending.kind}", message=message, retryable=True)
            case Lost():
                return stream_error("lost", "the rest of the stream was lost on our side")
            case Expired():
                return stream_error("expired", "the request waited too long and was not sent", retryable=False)
            case _:
                assert_never(ending)

    def _body(self) -> bytes:
        """The start of what came, while nothing of it was an event."""
        return b"" if self._parser.events else bytes(self._start)

    def _incomplete(self) -> ProviderError:
        """A proper end of the body without an end of the reply."""
        body = self._body().removeprefix(b"\xef\xbb\xbf").strip()
        is_document = body[:1] in (b"{", b"[", b"<", b"")
        if self._parser.events or (self._parser.keep_alives and not is_document):
            return stream_error("stream_incomplete", "the stream ended before the reply did")
        try:
            payload = loads(body)
        except UNREADABLE:
            payload = None
        if is_object(payload) and payload.get("error"):
            return event_error(payload, body)
        what = self._content_type or ("an empty body" if not body else "a body of another kind")
        text = body.decode("utf-8", "replace")
        return stream_error("not_a_stream", f"the provider answered with {what} instead of a stream", original=text)
