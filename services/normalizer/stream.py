"""One provider stream, bytes to chunks: the whole of stage 03 for whoever has the bytes.

The result does not depend on how the bytes were cut: joined over all chunks, text, thoughts, calls and the terminal
chunk are the same for every split. The same feeds always give equal chunks.
"""

from collections.abc import Sequence

from schemas.chunks import Dialect, ProcessedChunk
from schemas.prompts import KnownTool
from services.normalizer.assembly import Assembly
from services.normalizer.dialects import DIALECTS, PLAIN
from services.normalizer.endings import Ending
from services.normalizer.errors.families import family_of
from services.normalizer.event_stream import EventStream
from services.normalizer.guards.table import guards_for


class StreamNormalizer:
    """Normalizes one stream: bytes to events, events through the guards, events to chunks.

    Exactly one terminal chunk, `done` or `error`, comes by the end of `flush`, and it is the last. An end mark or an error
    in the stream brings it at once; see services.normalizer.event_stream. So does a call more than a reply may have.
    """

    def __init__(
        self,
        dialect: Dialect,
        model: str,
        *,
        provider: str = "",
        known_tools: Sequence[KnownTool] = (),
        http_status: int = 200,
        content_type: str = "",
        guards: bool = True,
    ) -> None:
        """`model` is what was asked for, until the stream names its own; status and type are of the answer's head.

        `provider` says whose rules for errors hold; where it is empty, those of the wire language's origin. With
        `known_tools` it decides which guards there are: services.normalizer.guards.table. Without `guards` the reply is
        what the provider's own SDK would make of the stream.
        """
        made = DIALECTS[dialect] if guards else PLAIN.get(dialect, DIALECTS[dialect])
        family = family_of(dialect, provider)
        self._events = EventStream(made(family), family, http_status=http_status, content_type=content_type)
        self._guards = guards_for(dialect, provider, known_tools) if guards else None
        self._assembly = Assembly(model, self._events.stop)

    @property
    def over(self) -> bool:
        """The terminal chunk has been returned."""
        return self._events.over

    def feed(self, data: bytes) -> list[ProcessedChunk]:
        """The chunks that these bytes complete: at most one of text and thoughts, then those of the end."""
        events = self._events.feed(data)
        if events and self._guards is not None:
            events = self._guards.read(events)
        return self._assembly.take(events) if events else []

    def flush(self, ending: Ending) -> list[ProcessedChunk]:
        """The chunks that remain, now that it is known how the stream ended. A finish in the bytes beats any ending."""
        events = self._events.flush(ending)
        if events and self._guards is not None:
            events = self._guards.read(events)
        return self._assembly.take(events) if events else []
