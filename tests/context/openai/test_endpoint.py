"""Where a request goes, however the base URL was written."""

import pytest

from services.context.failures import UnusableTarget
from services.context.habits.endpoint import request_url
from services.context.habits.table import HABITS
from services.context.render import render
from tests.context.openai.conftest import TALK, context, item, target


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://localhost:1234", "http://localhost:1234/v1/chat/completions"),
        ("http://localhost:1234/", "http://localhost:1234/v1/chat/completions"),
        ("http://localhost:1234/v1", "http://localhost:1234/v1/chat/completions"),
        ("http://localhost:1234/v1/chat/completions", "http://localhost:1234/v1/chat/completions"),
        ("http://localhost:1234/v1/chat/completions/", "http://localhost:1234/v1/chat/completions"),
        ("https://proxy.example/claude/", "https://proxy.example/claude/chat/completions"),
        ("https://proxy.example/chat/completions", "https://proxy.example/chat/completions"),
        ("https://proxy.example/v1beta/openai", "https://proxy.example/v1beta/openai/chat/completions"),
        ("https://proxy.example/v1?api-version=2", "https://proxy.example/v1/chat/completions?api-version=2"),
        ("https://proxy.example?k=1#part", "https://proxy.example/v1/chat/completions?k=1"),
        (" http://[::1]:8080 ", "http://[::1]:8080/v1/chat/completions"),
    ],
)
def test_a_custom_base_url_may_be_a_root_a_path_or_the_whole(base: str, url: str) -> None:
    assert request_url(HABITS["custom", "openai-chat"], base) == url


@pytest.mark.parametrize(
    ("provider", "base", "url"),
    [
        ("openai", "https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
        ("deepseek", "https://api.deepseek.com/", "https://api.deepseek.com/chat/completions"),
        ("deepseek", "https://api.deepseek.com/v1", "https://api.deepseek.com/v1/chat/completions"),
        ("openrouter", "https://openrouter.ai", "https://openrouter.ai/api/v1/chat/completions"),
        ("zai", "https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4/chat/completions"),
        ("zai", "http://127.0.0.1:9", "http://127.0.0.1:9/v1/chat/completions"),
    ],
)
def test_a_providers_own_host_means_its_own_base(provider: str, base: str, url: str) -> None:
    assert request_url(HABITS[provider, "openai-chat"], base) == url


@pytest.mark.parametrize("base", ["", "localhost:1", "ftp://h/", "http://", "http://[::1", "http://h:99999", "//h/v1"])
def test_a_base_url_that_cannot_be_called_is_refused_and_not_repeated(base: str) -> None:
    with pytest.raises(UnusableTarget) as refused:
        request_url(HABITS["custom", "openai-chat"], base)
    assert "99999" not in str(refused.value)


def test_a_custom_endpoint_without_a_base_url_is_refused() -> None:
    with pytest.raises(UnusableTarget):
        render(context(), target(base_url=None))


@pytest.mark.parametrize(
    ("base", "url"),
    [
        (None, "https://api.deepseek.com/beta/chat/completions"),
        ("https://api.deepseek.com/v1", "https://api.deepseek.com/beta/chat/completions"),
        ("http://proxy.example/v1", "http://proxy.example/v1/chat/completions"),
    ],
)
def test_deepseek_continues_a_turn_only_at_its_beta_address(base: str | None, url: str) -> None:
    to = target("deepseek", "deepseek-chat", base_url=base)
    assert render(context(options={"prefill": "Once"}), to).url == url
    assert "/beta/" not in render(context(), to).url
    assert "/beta/" not in render(context(*TALK, item("model", "So.")), to).url
