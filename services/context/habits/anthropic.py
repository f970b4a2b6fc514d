"""Anthropic, and servers that speak its messages. What its models differ in stands with the dialect."""

from dataclasses import replace

from services.catalog.providers import PROVIDERS
from services.context.habits.row import Habits

ANTHROPIC = Habits(
    provider="anthropic",
    dialect="anthropic",
    base_url=PROVIDERS["anthropic"].base_url,
    path="/messages",
    placement="x-api-key",
    # The API's version that takes sampling parameters, which the next one, 2026-10-21, removed for all models:
    # https://platform.claude.com/docs/en/api/versioning
    headers={"anthropic-version": "2023-06-01"},
    max_tokens=8192,
)
CUSTOM = replace(ANTHROPIC, provider="custom", base_url=None, speaker_stop=False)
