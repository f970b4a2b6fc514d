"""What is read of an event of Anthropic's messages stream: https://docs.anthropic.com/en/docs/build-with-claude/streaming."""

import msgspec

from services.normalizer.decode import PayloadDecoder


class Block(msgspec.Struct, gc=False):
    """A block as it opens, which may be complete already."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: object = None


class Message(msgspec.Struct, gc=False):
    id: str | None = None
    model: str | None = None
    content: list[Block] | None = None
    stop_reason: str | None = None
    stop_details: object = None
    usage: object = None


class Delta(msgspec.Struct, gc=False):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    partial_json: str | None = None
    stop_reason: str | None = None
    stop_details: object = None


class Payload(msgspec.Struct, gc=False):
    type: str | None = None
    index: int | None = None
    delta: Delta | None = None
    content_block: Block | None = None
    message: Message | None = None
    usage: object = None
    error: object = None


PAYLOAD = PayloadDecoder(Payload)
