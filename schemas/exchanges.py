"""From a finished reply that called tools, and what the tools answered, to what the next request tells of both."""

from collections.abc import Iterable, Sequence

from schemas.chunks import DoneChunk, ErrorChunk, FunctionCall, FunctionCallChunk, ProcessedChunk, TextChunk
from schemas.context import FunctionExchange, FunctionResult, Origin


def exchange_of(
    reply: Iterable[ProcessedChunk], results: Sequence[FunctionResult], origin: Origin
) -> FunctionExchange | None:
    """The exchange of a reply, which is all chunks of one stream in order; `origin` is the model that was asked.

    None where there is none to tell of: the reply called nothing, or its stream failed or has not ended, and then no call
    of it may be run. The parts to send back stand as the stream's end told them.
    """
    texts: list[str] = []
    calls: list[FunctionCall] = []
    for chunk in reply:
        match chunk:
            case TextChunk():
                texts.append(chunk.content)
            case FunctionCallChunk():
                calls.append(chunk.function_call)
            case ErrorChunk():
                return None
            case DoneChunk():
                if not calls or chunk.metadata.stopped:
                    return None
                return FunctionExchange(
                    text="".join(texts),
                    calls=tuple(calls),
                    results=tuple(results),
                    replay=chunk.metadata.replay,
                    origin=origin,
                )
    return None
