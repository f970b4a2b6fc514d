"""The table of providers' habits, and how a target's row is found."""

from collections.abc import Mapping

from schemas.chunks import Dialect
from services.catalog.target import ProviderName, Target
from services.context.failures import UnusableTarget
from services.context.habits import anthropic, compatible, google, novelai, openai
from services.context.habits.row import Habits

_ROWS = (
    openai.CHAT,
    openai.RESPONSES,
    compatible.OPENROUTER,
    compatible.DEEPSEEK,
    compatible.ZAI,
    compatible.ZAICODING,
    compatible.NVIDIA,
    compatible.CUSTOM,
    compatible.CUSTOM_RESPONSES,
    anthropic.ANTHROPIC,
    anthropic.CUSTOM,
    google.GEMINI,
    google.VERTEX,
    google.VERTEX_EXPRESS,
    novelai.NOVELAI,
)
HABITS: Mapping[tuple[ProviderName, Dialect], Habits] = {(row.provider, row.dialect): row for row in _ROWS}


def habits_of(target: Target) -> Habits:
    """The row of a target; raises UnusableTarget where the provider does not speak the dialect."""
    row = HABITS.get((target.provider, target.dialect))
    if row is None:
        raise UnusableTarget(f"{target.provider} does not speak the dialect {target.dialect}")
    return row
