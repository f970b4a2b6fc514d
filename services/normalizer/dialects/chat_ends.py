"""Why a chat completion ended: the words of some thirty providers.

https://platform.openai.com/docs/api-reference/chat-streaming, https://api-docs.deepseek.com/api/create-chat-completion,
https://docs.z.ai/api-reference/llm/chat-completion, https://openrouter.ai/docs/api-reference/overview. Gemini behind this
dialect gives its own words (https://ai.google.dev/api/generate-content), some after a colon: `content_filter: SAFETY`.
"""

from collections.abc import Mapping

from schemas.chunks import FinishReason, ProviderError
from services.normalizer.errors import MAX_CODE_CHARS
from services.normalizer.events import Finish

FINISHES: Mapping[str, FinishReason] = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_length", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("tool_calls", "tool_call", "function_call", "tool_use"), "tool_calls"),
    **dict.fromkeys(("content_filter", "sensitive", "refusal", "safety"), "content_filter"),
    **dict.fromkeys(("recitation", "blocklist", "prohibited_content", "spii", "image_safety"), "content_filter"),
    **dict.fromkeys(("error", "abort", "network_error", "insufficient_system_resource"), "error"),
    **dict.fromkeys(("malformed_function_call", "unexpected_tool_call", "function_call_filter"), "error"),
}
"""By the word in lower case; any other is unknown, and kept raw."""

_MALFORMED = frozenset({"malformed_function_call", "unexpected_tool_call", "function_call_filter"})
_TRY_AGAIN: Mapping[str, str] = {
    "insufficient_system_resource": "the provider ran out of resources inside the reply",
    "network_error": "the provider lost a connection inside the reply",
}


def finish(raw: str) -> Finish:
    """What a finish reason means."""
    word = raw.lower()
    if word not in FINISHES:
        word = word.partition(":")[0]
    return Finish(FINISHES.get(word), raw, _failure(word, raw))


def _failure(word: str, raw: str) -> ProviderError | None:
    """What a finish means that is a failure with a cause of its own; None for all others."""
    if word in _MALFORMED:
        message = "the model made something that the provider could not use"
        return ProviderError(type="api_error", code=raw[:MAX_CODE_CHARS], message=message, retryable=True)
    passing = _TRY_AGAIN.get(word)
    if passing is None:
        return None
    return ProviderError(type="provider_overloaded", code=raw, message=passing, retryable=True)
