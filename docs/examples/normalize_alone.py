"""The normalizer as a library: a recorded stream from a file, shown as it comes, and what may be done with it at its end."""

import sys
from pathlib import Path

from schemas.chunks import Dialect, FunctionCall, TextChunk
from services.normalizer.canonical import CanonicalStream
from services.normalizer.endings import EndOfFile
from services.normalizer.reply import Reply
from services.normalizer.stream import StreamNormalizer


def read_reply(dialect: Dialect, pieces: list[bytes]) -> Reply:
    """The whole reply; its visible text is printed as it comes."""
    stream, reply = StreamNormalizer(dialect, "model-asked-for"), Reply()
    for piece in pieces:
        chunks = stream.feed(piece)
        reply.take(chunks)
        print("".join(chunk.content for chunk in chunks if isinstance(chunk, TextChunk)), end="")
    reply.take(stream.flush(EndOfFile()))
    return reply


def runnable(reply: Reply) -> list[FunctionCall]:
    """The calls that may be run: of a reply that ended well, those whose arguments came in full."""
    return [] if reply.error else [call for call in reply.calls if not call.arguments_truncated]


def previews(dialect: Dialect, pieces: list[bytes]) -> list[str]:
    """What a page would show while a call is being written. It is for the eye alone."""
    stream = CanonicalStream(dialect, "model-asked-for")
    events = [event for piece in pieces for event in stream.feed(piece)]
    return [f"{event['name']} {event['partial_args']}" for event in events if event["type"] == "toolcall_delta"]


if __name__ == "__main__":
    raw = Path(sys.argv[1]).read_bytes()
    pieces = [raw[at : at + 100] for at in range(0, len(raw), 100)]
    for line in previews("openai-chat", pieces):
        print("preview:", line)
    reply = read_reply("openai-chat", pieces)
    for call in runnable(reply):
        print("call:", call.name, call.args)
    print("finish:", reply.metadata.finish_reason if reply.metadata else None)
