"""Where the two strict flags are forced, where they are offered, and that both sides read the same sets."""

import pytest

from schemas.chunks import Dialect
from services.catalog.strict_flags import api_family, offered_chat_compat_flags
from services.catalog.target import ProviderName

ALTERNATION, PREFIX = "strict_role_alternation", "supports_prefix_completion"


@pytest.mark.parametrize(
    ("provider", "dialect", "offered"),
    [
        ("custom", "openai-chat", {ALTERNATION, PREFIX}),
        ("nvidia", "openai-chat", {ALTERNATION, PREFIX}),
        ("deepseek", "openai-chat", {ALTERNATION}),
        ("zai", "openai-chat", {ALTERNATION}),
        ("zaicoding", "openai-chat", {ALTERNATION}),
        ("custom", "openai-responses", set()),
        ("custom", "anthropic", set()),
        ("anthropic", "anthropic", set()),
        ("openrouter", "openai-chat", set()),
        ("google", "google", set()),
        ("vertex", "google", set()),
        ("novelai", "novelai", set()),
    ],
)
def test_a_flag_is_offered_only_where_the_request_path_reads_it_and_nobody_forces_it(
    provider: ProviderName, dialect: Dialect, offered: set[str]
) -> None:
    assert offered_chat_compat_flags(api_family(provider, dialect), provider) == offered
