"""What is read of a chunk of a chat completion: https://platform.openai.com/docs/api-reference/chat-streaming."""

import msgspec

from services.normalizer.decode import PayloadDecoder


class FunctionPart(msgspec.Struct):
    """`function` of a piece: the name and some of the arguments, which may also come as an object."""

    name: str | None = None
    arguments: object = None


class ToolPart(msgspec.Struct):
    """One entry of `delta.tool_calls`.

    A Gemini model behind this dialect signs its calls: under `extra_content.google` at Google
    (https://ai.google.dev/gemini-api/docs/openai), or beside the function.
    """

    index: int | None = None
    id: str | None = None
    function: FunctionPart | None = None
    extra_content: object = None
    thought_signature: str | None = None


class Vendor(msgspec.Struct, gc=False):
    usage: object = None
    error: object = None


class Delta(msgspec.Struct, gc=False):
    """A piece of the reply. Reasoning has many names: chat_reasoning says whose they are."""

    content: object = None
    reasoning_content: object = None
    reasoning: object = None
    reasoning_text: object = None
    thinking: object = None
    reasoning_details: list[object] | None = None
    thinking_blocks: list[object] | None = None
    refusal: str | None = None
    tool_calls: list[ToolPart] | None = None
    function_call: FunctionPart | None = None
    executed_tools: list[object] | None = None


class Choice(msgspec.Struct, gc=False):
    index: int | None = None
    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: str | None = None
    usage: object = None
    error: object = None


class Chunk(msgspec.Struct, gc=False):
    id: str | None = None
    kind: str | None = msgspec.field(name="object", default=None)
    model: str | None = None
    provider: str | None = None
    choices: list[Choice] | None = None
    usage: object = None
    x_groq: Vendor | None = None
    error: object = None


CHUNK = PayloadDecoder(Chunk)
