"""What users read when a turn does not end with a reply: one line that says what happened and what they can do.

A notice may quote the provider, so it is cut, put on one line, freed of mentions and of what looks like a key.
"""

import math
import re

from schemas.chunks import ProviderError

MESSAGE_LIMIT = 300
"""Code points of a provider's message that are kept and shown."""

CODE_LIMIT = 100
ORIGINAL_LIMIT = 1_000

EMPTY = "The model sent an empty reply. Send your message again, or word it differently."
QUEUE_FULL = "Too many messages are waiting in this channel. Send yours again once the next reply is here."
NO_TOOLS = ProviderError(
    type="model_error",
    code="tools_unavailable",
    message="The model asked for a tool, and tools are not available.",
    retryable=False,
)
LOST = ProviderError(
    type="api_error",
    code="lost",
    message="The connection to the model was lost, and so were the attempts to go on.",
    retryable=True,
)
GENERATION_DEADLINE = ProviderError(
    type="timeout", code="generation_deadline", message="The reply took too long and was ended.", retryable=True
)
REPLY_TOO_LONG = ProviderError(
    type="model_error",
    code="reply_too_long",
    message="The reply ran too far ahead of what Discord takes and was ended.",
    retryable=False,
)

_SECRET = re.compile(r"(?i)\b(?:bearer\s+|api[-_ ]?key\s*[:=]\s*|(?:sk|pk|rk|gsk|xai|ghp|key)[-_]|aiza)[\w.*+/=\-]{8,}")
_AUTHORIZATION_CODES = frozenset({"401", "403", "invalid_api_key", "authentication_error", "permission_denied"})
_UNKNOWN_MODEL_CODES = frozenset({"model_not_found", "invalid_model", "unsupported_model", "model_not_supported"})
_NOT_FOUND_CODES = frozenset({"404", "not_found", "not_found_error"})


def error_notice(error: ProviderError) -> str:
    """The line for a turn that ended with `error`."""
    if error in (NO_TOOLS, REPLY_TOO_LONG):
        return f"{error.message} Ask for something else, or for a shorter reply."
    if error in (LOST, GENERATION_DEADLINE):
        return f"{error.message} What is above is all that came; send your message again for a new reply."
    if error.code in _AUTHORIZATION_CODES:
        return f"The model's provider refused the bot's access ({_code(error)}). Tell the bot's operator."
    return f"{_explained(error)} ({_code(error)}{_quote(error)})"


def bounded(error: ProviderError) -> ProviderError:
    """The error with its texts cut and without what looks like a key, as results and states keep it."""
    wait = error.retry_after_s
    return error.model_copy(
        update={
            "code": error.code[:CODE_LIMIT],
            "message": _SECRET.sub("[hidden]", error.message[: 4 * MESSAGE_LIMIT])[:MESSAGE_LIMIT],
            "retry_after_s": wait if wait is not None and math.isfinite(wait) else None,
            "original": None
            if error.original is None
            else _SECRET.sub("[hidden]", error.original[: 2 * ORIGINAL_LIMIT])[:ORIGINAL_LIMIT],
        }
    )


def _explained(error: ProviderError) -> str:
    if error.code in _UNKNOWN_MODEL_CODES:
        return "The provider does not know the bot's model. Tell the bot's operator to check ODRADEK_MODEL."
    if error.code in _NOT_FOUND_CODES:
        return (
            "The provider does not know the bot's model, or its address is wrong. "
            "Tell the bot's operator to check ODRADEK_MODEL and ODRADEK_PROVIDER_URL."
        )
    return f"{_what_happened(error)} {_what_to_do(error)}"


def _what_happened(error: ProviderError) -> str:
    match error.type:
        case "rate_limit":
            return "The model's provider takes no more requests right now."
        case "provider_overloaded":
            return "The model's provider is overloaded."
        case "timeout":
            return "The model did not answer in time."
        case "content_blocked":
            return "The model's provider blocked this request or its reply."
        case "model_error":
            return "The model failed."
        case "api_error":
            return "The model's provider reported an error."


def _what_to_do(error: ProviderError) -> str:
    wait = error.retry_after_s
    if wait is not None and math.isfinite(wait) and 0 < wait <= 86_400:
        return f"Send your message again in {math.ceil(wait)} s."
    if error.type == "content_blocked":
        return "Word your message differently."
    if error.retryable:
        return "Send your message again in a moment."
    return "If it happens again, tell the bot's operator."


def _code(error: ProviderError) -> str:
    return f"code {_one_line(error.code[:CODE_LIMIT])}"


def _quote(error: ProviderError) -> str:
    text = _one_line(bounded(error).message)
    return f": {text}" if text else ""


def _one_line(text: str) -> str:
    """Without line breaks, markdown that could swallow the rest, and mentions."""
    return " ".join(text.split()).replace("`", "'").replace("@", "@\u200b").replace("<", "‹")
