"""How long a reply may be: what is asked of the provider, and what truncation keeps free for it."""

from schemas.context import GenerationOptions
from services.catalog.target import Target
from services.context.habits.row import Habits

_DEFAULTS_SHARE = 2
"""A bound that nobody asked for leaves at least half of the window to the context."""


def window_of(target: Target) -> int | None:
    """Tokens that the model takes in and gives out together; None where nobody knows. A user's server knows best."""
    return target.num_ctx or target.model.context_window


def reply_length(options: GenerationOptions, target: Target, habits: Habits) -> int | None:
    """The bound of the reply in tokens, never above what the model writes; None where it is left to the provider."""
    ceiling = target.model.max_output_tokens
    wanted = options.max_output_tokens
    if wanted is None:
        wanted = habits.max_tokens
        if wanted is None and ceiling is not None and habits.most_tokens is not None:
            wanted = min(ceiling, habits.most_tokens)
        window = window_of(target)
        if wanted is not None and window is not None:
            wanted = min(wanted, max(1, window // _DEFAULTS_SHARE))
    return wanted if wanted is None or ceiling is None else min(wanted, ceiling)
