"""A whole reply, joined from the chunks of its stream: for whoever wants the result and not its making."""

from schemas.chunks import (
    DoneChunk,
    DoneMetadata,
    ErrorChunk,
    FunctionCall,
    FunctionCallChunk,
    ProcessedChunk,
    ProviderError,
    TextChunk,
    ThoughtLogEntry,
    Usage,
)


class Reply:
    """All chunks of one stream. Take them in order; the properties are the reply so far.

    `metadata` is None until the terminal chunk came. `batches` counts the calls of `take` that brought something.
    """

    def __init__(self) -> None:
        self.calls: list[FunctionCall] = []
        self.metadata: DoneMetadata | None = None
        self.error: ProviderError | None = None
        self.usage: Usage | None = None
        self.serving_provider: str | None = None
        self.batches = 0
        self._text: list[str] = []
        self._thoughts: list[ThoughtLogEntry] = []

    @property
    def text(self) -> str:
        """What is visible."""
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        """The model's reasoning, own words and abridgements in the order in which they came."""
        return "".join(entry.content for entry in self._thoughts)

    def take(self, chunks: list[ProcessedChunk]) -> None:
        """Add what one `feed` or `flush` returned."""
        if chunks:
            self.batches += 1
        for chunk in chunks:
            if chunk.thoughts:
                self._thoughts += chunk.thoughts
            if isinstance(chunk, TextChunk):
                self._text.append(chunk.content)
            else:
                self._take_other(chunk)

    def _take_other(self, chunk: FunctionCallChunk | ErrorChunk | DoneChunk) -> None:
        self.usage = chunk.usage or self.usage
        self.serving_provider = chunk.serving_provider or self.serving_provider
        match chunk:
            case FunctionCallChunk():
                self.calls.append(chunk.function_call)
            case ErrorChunk():
                self.error, self.metadata = chunk.error, chunk.metadata
            case DoneChunk():
                self.metadata = chunk.metadata
