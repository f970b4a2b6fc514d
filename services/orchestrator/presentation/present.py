"""An error's title, description and tips: the message class decides the advice, else the type; the scope its wording.

An error of ours is told in our words; of a provider's, its code and its own words are shown.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from schemas.chunks import ErrorClass, ProviderError
from schemas.inbox import Locale
from services.orchestrator.presentation.quoting import CODE_LIMIT, quoted
from services.orchestrator.presentation.texts import texts

CredentialSource = Literal["server", "personal"]

OWN_MESSAGES: Mapping[str, str] = {
    "stream_incomplete": "stream_incomplete",
    "eof": "stream_incomplete",
    "connection_reset": "connection_reset",
    "reset": "connection_reset",
    "connect_failed": "connect_failed",
    "not_a_stream": "not_a_stream",
    "stream_too_large": "too_large",
    "event_too_large": "too_large",
    "malformed_event": "unreadable",
    "second_message": "unreadable",
    "tool_arguments_invalid": "tool_arguments_invalid",
    "lost": "lost",
    "expired": "expired",
    "first_byte_timeout": "timeout",
    "idle_timeout": "timeout",
    "total_timeout": "timeout",
    "generation_deadline": "too_long",
    "tools_unavailable": "tools_unavailable",
    "reply_too_long": "reply_too_long",
    **dict.fromkeys(
        (
            "configuration",
            "poison",
            "too_large",
            "bad_record",
            "header_missing",
            "header_invalid",
            "unknown_type",
            "newer_version",
            "invalid_value",
            "wrong_partition",
        ),
        "internal",
    ),
}
"""Our own codes, which say nothing to a user, and the message that does."""

UNCALLED_MESSAGES: Mapping[str, str] = {
    "no_saved_config": "no_saved_config",
    "decryption_failed": "decryption_failed",
    "placeholder_key": "placeholder_key",
    "missing_model_id": "missing_model_id",
    "personal_provider_required": "personal_provider_required",
    "no_attempt_left": "no_attempt_left",
    "cannot_assemble": "cannot_assemble",
    "every_image_failed": "every_image_failed",
    "context_too_long": "context_length",
    "address_forbidden": "address_forbidden",
    "credential_unavailable": "credential_unavailable",
    "blob_missing": "media_missing",
    "blob_store_unavailable": "media_missing",
    "blob_place_invalid": "internal",
    "call_not_made": "internal",
}
"""The same of the reasons why no provider was called; see `present` for when they are told so."""

_UNCALLED_TIPS: Mapping[str, str] = {
    "no_saved_config": "set_up_provider",
    "decryption_failed": "add_key",
    "placeholder_key": "add_key",
    "missing_model_id": "set_model",
    "personal_provider_required": "bring_provider",
    "no_attempt_left": "add_fallback",
    "cannot_assemble": "change_endpoint",
    "every_image_failed": "send_images_again",
    "address_forbidden": "change_endpoint",
}
_NOT_SET_UP = frozenset(_UNCALLED_TIPS) - {"every_image_failed"}

_SCOPED = frozenset(
    {
        "top_up_balance",
        "reduce_output_tokens",
        "trim_history",
        "choose_model",
        "verify_api_key",
        "check_endpoint",
        "set_up_provider",
        "add_key",
        "set_model",
        "add_fallback",
        "change_endpoint",
    }
)
"""Tips that speak of settings, so that they have a form for each scope."""

_WITH_ORIGINAL = frozenset({"not_a_stream", "malformed_event"})
_NOT_FOUND = frozenset({"404", "405", "not_found", "not_found_error"})
_SHORTER = frozenset({"tools_unavailable", "reply_too_long"})
_MAX_WAIT_S = 86_400


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose key the request was made with; it is never guessed from provider or model, since both may use the same.

    `fallback`: whether there are other models to fall back on, so that no hint at them is needed. A request with a
    personal key falls back on the user's own, of which this says nothing. `provider`: its name, where it could not
    be asked.
    """

    source: CredentialSource = "server"
    fallback: bool = False
    provider: str = ""


@dataclass(frozen=True, slots=True)
class Presentation:
    """Texts for one error. `locale_keys` are theirs, in the same order: title, description's parts, tips."""

    title: str
    description: str
    tips: tuple[str, ...]
    locale_keys: tuple[str, ...]


def present(error: ProviderError, scope: Scope, locale: Locale = "en", *, uncalled: bool = True) -> Presentation:
    """What a user reads of the error. Pure but for the texts, which are read once.

    `uncalled`: whether the reasons why no provider was called have words of ours; else their code and message are shown.
    """
    known = texts(locale)
    kind = error.classifiers[0] if error.classifiers else error.type
    own = _own(error, uncalled=uncalled)
    title = f"genai.titles.{_title(error, kind, own)}"
    keys = [title]
    if own is not None:
        keys.append(f"genai.messages.{own}")
        named = error.code in _NOT_SET_UP and scope.provider
        description = f"{quoted(scope.provider, CODE_LIMIT)}: {known[keys[-1]]}" if named else known[keys[-1]]
    else:
        keys.append("genai.descriptions.coded")
        message = quoted(error.message)
        if not message or kind == "key_access" or error.message in (f"HTTP {error.code}", f"error {error.code}"):
            keys.append(f"genai.messages.{kind}")
            message = known[keys[-1]]
        description = known["genai.descriptions.coded"].format(code=quoted(error.code, CODE_LIMIT), message=message)
    tips = [f"genai.tips.{_scoped(name, scope)}" for name in _tips(error, scope, own)]
    wait = _wait_s(error)
    return Presentation(
        title=known[title],
        description=description,
        tips=tuple(known[tip].format(seconds=wait) for tip in tips),
        locale_keys=(*keys, *tips),
    )


def _own(error: ProviderError, *, uncalled: bool) -> str | None:
    """The message for an error of ours. A provider may use the same code, but then its body or event is there."""
    if error.original is not None and error.code not in _WITH_ORIGINAL:
        return None
    return OWN_MESSAGES.get(error.code) or (UNCALLED_MESSAGES.get(error.code) if uncalled else None)


def _title(error: ProviderError, kind: str, own: str | None) -> str:
    if own is None or own in ("timeout", "context_length"):
        return kind
    return "not_set_up" if error.code in _NOT_SET_UP else "own"


def _scoped(tip: str, scope: Scope) -> str:
    return f"{tip}_personal" if tip in _SCOPED and scope.source == "personal" else tip


def _tips(error: ProviderError, scope: Scope, own: str | None) -> Iterator[str]:
    if error.code in _SHORTER:
        yield "ask_shorter"
    elif own is not None and error.code in _UNCALLED_TIPS:
        yield _UNCALLED_TIPS[error.code]
    elif own == "context_length":
        yield "trim_history"
    elif own == "internal" or (own is not None and not error.retryable):
        yield "tell_operator"
    elif error.classifiers:
        yield _advice(error.classifiers[0])
    else:
        yield from _by_type(error, scope)
    if own == "internal" or error.code in _SHORTER:
        return
    if scope.source == "personal" and error.code != "personal_provider_required":
        yield "disable_personal_text_override"
    elif not scope.fallback and (error.type in ("rate_limit", "provider_overloaded") or error.code == "503"):
        yield "model_fallback"


def _advice(kind: ErrorClass) -> str:
    match kind:
        case "exhausted_balance":
            return "top_up_balance"
        case "credit_affordability":
            return "reduce_output_tokens"
        case "context_length":
            return "trim_history"
        case "model_error":
            return "choose_model"
        case "key_access":
            return "verify_api_key"
        case _:
            assert_never(kind)


def _by_type(error: ProviderError, scope: Scope) -> Iterator[str]:
    match error.type:
        case "model_error":
            yield "choose_model"
        case "content_blocked":
            yield "rephrase"
        case "rate_limit" | "provider_overloaded" | "timeout" | "api_error":
            if error.retryable:
                yield "try_again" if _wait_s(error) is None else "wait"
                if error.type == "rate_limit" and scope.source == "server":
                    # Keys take turns for a whole server, so a member with a key of their own could not add one.
                    yield "api_key_rotation"
            else:
                yield "check_endpoint" if error.code.lower() in _NOT_FOUND else "verify_api_key"
        case _:
            assert_never(error.type)


def _wait_s(error: ProviderError) -> int | None:
    wait = error.retry_after_s
    return math.ceil(wait) if wait is not None and math.isfinite(wait) and 0 < wait <= _MAX_WAIT_S else None
