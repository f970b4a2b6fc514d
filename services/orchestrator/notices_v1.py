"""The lines for errors by rules of version 1, kept for turns that were stamped with it; version 2 reads locale files."""

import math

from schemas.chunks import ProviderError
from services.orchestrator.notices import CODE_LIMIT, GENERATION_DEADLINE, LOST, NO_TOOLS, REPLY_TOO_LONG, bounded

_AUTHORIZATION_CODES = frozenset({"401", "403", "invalid_api_key", "authentication_error", "permission_denied"})
_UNKNOWN_MODEL_CODES = frozenset({"model_not_found", "invalid_model", "unsupported_model", "model_not_supported"})
_NOT_FOUND_CODES = frozenset({"404", "not_found", "not_found_error"})


def plain_notice(error: ProviderError) -> str:
    """The line for a turn that ended with `error`."""
    if error in (NO_TOOLS, REPLY_TOO_LONG):
        return f"{error.message} Ask for something else, or for a shorter reply."
    if error in (LOST, GENERATION_DEADLINE):
        return f"{error.message} What is above is all that came; send your message again for a new reply."
    if error.code in _AUTHORIZATION_CODES:
        return f"The model's provider refused the bot's access ({_code(error)}). Tell the bot's operator."
    return f"{_explained(error)} ({_code(error)}{_quote(error)})"


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
