"""What users read when a turn does not end with a reply: one line that says what happened and what they can do."""

import math

from schemas.chunks import ProviderError
from schemas.inbox import Locale
from schemas.redaction import hidden
from services.orchestrator.presentation.present import Scope, present
from services.orchestrator.state import Attempts

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


def bounded(error: ProviderError) -> ProviderError:
    """The error with its texts cut and without what looks like a key, as results and states keep it."""
    wait = error.retry_after_s
    return error.model_copy(
        update={
            "code": error.code[:CODE_LIMIT],
            "message": hidden(error.message[: 4 * MESSAGE_LIMIT])[:MESSAGE_LIMIT],
            "retry_after_s": wait if wait is not None and math.isfinite(wait) else None,
            "original": None
            if error.original is None
            else hidden(error.original[: 2 * ORIGINAL_LIMIT])[:ORIGINAL_LIMIT],
        }
    )


def error_notice(error: ProviderError, locale: Locale, scope: Scope, *, uncalled: bool = True) -> str:
    """The line for a turn that ended with `error`: what happened, and the first thing to do about it.

    The further tips are for those who run the bot; a line that is shown small has no room for them. `uncalled`: see
    `present`.
    """
    shown = present(error, scope, locale, uncalled=uncalled)
    stop = "" if shown.description.endswith((".", "!", "?", "…", "。")) else "."
    return f"{shown.title}: {shown.description}{stop} {shown.tips[0]}"


def scope_of(attempts: Attempts | None) -> Scope:
    """Whose key the last attempt had, and whether there were other models to fall back on."""
    chosen = [] if attempts is None else [one.chosen for one in attempts.earlier if one.chosen is not None]
    if not chosen:
        return Scope()
    return Scope(chosen[-1].source, fallback=len({(one.provider, one.model) for one in chosen}) > 1)
