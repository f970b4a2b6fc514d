"""ProcessedChunk: the one shape into which every provider's stream is normalized.

A chunk is one of four kinds, told apart by `type`: text, a function call, an error, or the end. Every kind may also
carry thoughts, token usage and the name of the upstream backend that served the request. `error` and `done` are
terminal: a stream ends with exactly one of them.
"""

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Model
from schemas.finite import FiniteJson, ReadObject
from schemas.values import Value

Dialect = Literal["openai-chat", "openai-responses", "anthropic", "google", "novelai"]
"""The wire language of a provider: what its requests and its stream look like."""

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "error"]
"""Why the model ended. What a provider says beyond these is kept in `DoneMetadata.finish_reason_raw` alone."""

ProviderErrorType = Literal[
    "api_error", "rate_limit", "content_blocked", "timeout", "provider_overloaded", "model_error"
]
ErrorClass = Literal["exhausted_balance", "credit_affordability", "context_length", "model_error", "key_access"]
"""What an error's codes and words say beyond its type; the user's advice follows it.

exhausted_balance: nothing can be spent, so a top-up alone helps. credit_affordability: a request that costs less still
fits. context_length: a shorter history fits. model_error: another model helps. key_access: the key is wrong, or may not
do this.
"""

ThoughtKind = Literal["summary", "raw"]


class ThoughtLogEntry(Value, frozen=True, kw_only=True):
    """A piece of the model's reasoning: its own words (`raw`) or the provider's abridgement (`summary`).

    Pieces of one kind that follow each other belong together: join them without a separator.
    """

    kind: ThoughtKind
    content: str


class Usage(Value, frozen=True, kw_only=True):
    """Tokens of one provider call so far; the latest report wins, reports are never added up.

    `input_tokens` counts the whole prompt, with what was read from or written to the provider's cache; the two cache
    counts are parts of it, as `reasoning_tokens` is a part of `output_tokens`. None: the provider did not say. `raw` is
    the provider's own report, which may count more than this.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    raw: ReadObject | None = None


class FunctionCall(Value, frozen=True, kw_only=True):
    """A tool call that the model asks for, complete.

    `arguments_truncated`: `args` holds only what came in full before the text was cut off, or nothing, so the call must
    not be run; when it is false, `args` is exactly what the model produced. `raw_arguments` is then the text as it
    came, None for a call whose arguments parsed. `thought_signature` goes back to the provider unchanged. `id` is the
    provider's, or one that is unique in its stream only.
    """

    id: str
    name: str
    args: ReadObject
    arguments_truncated: bool = False
    raw_arguments: str | None = None
    thought_signature: str | None = None


class ServerToolCall(Value, frozen=True, kw_only=True):
    """A call of a tool that is not ours to run: search, code execution, MCP, file search and the like.

    `type` is the provider's own word for the kind of call, `name` the tool's name; `args` is what the provider told of
    its arguments. `id` is the provider's, or empty.
    """

    id: str
    type: str
    name: str
    args: FiniteJson = None


class ProviderError(Model):
    """A provider's refusal or failure, or a break of its stream, in one shape for every dialect.

    `code` is the provider's own code where it gave one, else the HTTP status, else a code of ours such as
    `stream_incomplete`. `message` is the provider's text. `retryable`: the same request may succeed later or with
    another key. `retry_after_s`: seconds to wait, as the provider asked. `original`: the start of the body or event as
    it came. `classifiers`: the classes that its codes and words fall into, the first of which decides the advice; the
    two of credit exclude each other. What looks like a key is hidden in all texts.
    """

    type: ProviderErrorType
    code: str
    message: str
    retryable: bool
    retry_after_s: float | None = None
    original: str | None = None
    classifiers: tuple[ErrorClass, ...] = ()


class DoneMetadata(Value, frozen=True, kw_only=True):
    """What is known at the end of a stream.

    `finish_reason` is None when the provider gave none or one that we do not know; `finish_reason_raw` is its own word.
    `stopped`: the stream was closed on our side before its end, so the reply is cut. `replay` holds the provider-native
    parts (thinking blocks with signatures, encrypted reasoning, reasoning details, signed parts), in order and complete,
    for the dialects that want them back together with tool results. `thought_signature` is all signatures of thoughts,
    joined in order: a fingerprint for eyes and tests; what goes back to the provider is in `replay` and in the calls.
    `server_tool_calls` are those that the provider ran, or that nobody here asked for.
    """

    finish_reason: FinishReason | None = None
    finish_reason_raw: str | None = None
    model: str | None = None
    response_id: str | None = None
    stopped: bool = False
    replay: tuple[ReadObject, ...] = ()
    thought_signature: str | None = None
    server_tool_calls: tuple[ServerToolCall, ...] = ()


class _Chunk(Value, frozen=True, kw_only=True):
    thoughts: tuple[ThoughtLogEntry, ...] = ()
    usage: Usage | None = None
    serving_provider: str | None = None


class TextChunk(_Chunk, frozen=True, kw_only=True):
    """Visible text that follows what came before; `content` is empty when the chunk only carries thoughts or usage."""

    type: Literal["text"] = "text"
    content: str


class FunctionCallChunk(_Chunk, frozen=True, kw_only=True):
    """One complete tool call; calls come after the text, in the order in which the model made them."""

    type: Literal["function_call"] = "function_call"
    function_call: FunctionCall


class ErrorChunk(_Chunk, frozen=True, kw_only=True):
    """The stream failed; nothing follows. Text that came before it stands; calls that came before it are not run."""

    type: Literal["error"] = "error"
    error: ProviderError
    metadata: DoneMetadata = DoneMetadata()


class DoneChunk(_Chunk, frozen=True, kw_only=True):
    """The stream ended as it should; nothing follows."""

    type: Literal["done"] = "done"
    metadata: DoneMetadata = DoneMetadata()


ProcessedChunk = Annotated[TextChunk | FunctionCallChunk | ErrorChunk | DoneChunk, Field(discriminator="type")]
