"""Why a chat completion ended: the words of some thirty providers.

https://platform.openai.com/docs/api-reference/chat-streaming, https://api-docs.deepseek.com/api/create-chat-completion,
https://docs.z.ai/api-reference/llm/chat-completion, https://openrouter.ai/docs/api-reference/overview.
"""

from collections.abc import Mapping

from schemas.chunks import FinishReason, ProviderError

FINISHES: Mapping[str, FinishReason] = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "model_length", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("tool_calls", "tool_call", "function_call", "tool_use"), "tool_calls"),
    **dict.fromkeys(("content_filter", "sensitive", "refusal", "safety"), "content_filter"),
    **dict.fromkeys(("error", "abort", "network_error", "insufficient_system_resource"), "error"),
}
"""By the word in lower case; any other is unknown, and kept raw."""

_TRY_AGAIN: Mapping[str, str] = {
    "insufficient_system_resource": "the provider ran out of resources inside the reply",
    "network_error": "the provider lost a connection inside the reply",
}


def failure(word: str, raw: str) -> ProviderError | None:
    """What a finish means that is a failure with a cause of its own; None for all others."""
    message = _TRY_AGAIN.get(word)
    if message is None:
        return None
    return ProviderError(type="provider_overloaded", code=raw, message=message, retryable=True)
