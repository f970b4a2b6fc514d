"""The provider's name is that of the address; an address that nobody knows is a custom endpoint."""

from urllib.parse import urlsplit

import pytest

from services.context.configured import CONFIGURED
from services.context.habits.table import HABITS
from services.context.providers import provider_at


@pytest.mark.parametrize(
    ("host", "provider"),
    [
        ("openrouter.ai", "openrouter"),
        ("EU.OpenRouter.ai", "openrouter"),
        ("us-central1-aiplatform.googleapis.com", "google"),
        ("127.0.0.1", "custom:127.0.0.1"),
        ("localhost", "custom:localhost"),
        ("notopenrouter.ai", "custom:notopenrouter.ai"),
        ("openrouter.ai.example", "custom:openrouter.ai.example"),
    ],
)
def test_a_host_names_its_provider(host: str, provider: str) -> None:
    assert provider_at(host) == provider


def test_every_dialect_s_own_address_is_a_known_provider() -> None:
    for dialect, row in CONFIGURED.items():
        base_url = HABITS[row.provider, dialect].base_url or ""
        assert provider_at(urlsplit(base_url).hostname or "") == row.provider
