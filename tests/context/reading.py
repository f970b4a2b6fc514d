"""What becomes of a reply to a rendered request: the provider's bytes, read with what the request says of its tools."""

import json
from collections.abc import Iterable

from schemas.chunks import Dialect
from services.context.rendered import Rendered
from services.normalizer.endings import EndOfFile
from services.normalizer.reply import Reply
from services.normalizer.stream import StreamNormalizer


def reply_to(made: Rendered, dialect: Dialect, provider: str, texts: Iterable[str]) -> Reply:
    """The reply whose visible text comes in these pieces."""
    stream, reply = StreamNormalizer(dialect, "m", provider=provider, known_tools=made.known_tools), Reply()
    for text in texts:
        said = {"text": text} if dialect == "novelai" else {"delta": {"content": text}}
        reply.take(stream.feed(f"data: {json.dumps({'choices': [{'index': 0, **said}]})}\n\n".encode()))
    reply.take(stream.feed(b"data: [DONE]\n\n"))
    reply.take(stream.flush(EndOfFile()))
    return reply
