"""Settings come from the environment, and a wrong one is named."""

import pytest
from pydantic import ValidationError

from services.runtime.settings import Settings


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ODRADEK_OPENAI_API_KEY", "OPENAI_API_KEY", "ODRADEK_KAFKA"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("ODRADEK_HTTP_PORT", "70000", "http_port"),
        ("ODRADEK_HTTP_PORT", "many", "http_port"),
        ("ODRADEK_PREFIX", "a b", "prefix"),
        ("ODRADEK_INSTANCE", "../provider", "instance"),
        ("ODRADEK_GRACE_S", "-1", "grace_s"),
        ("ODRADEK_MAX_UNPROCESSED", "0", "max_unprocessed"),
        ("ODRADEK_BROKER", "rabbit", "broker"),
        ("ODRADEK_DISCORD_SHARDS", "2/2", "discord_shards"),
        ("ODRADEK_DISCORD_SHARDS", "1/0", "discord_shards"),
        ("ODRADEK_DISCORD_SHARDS", "one", "discord_shards"),
        ("ODRADEK_TEMPERATURE", "3", "temperature"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, field: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError) as error:
        Settings()
    assert [item["loc"] for item in error.value.errors()] == [(field,)]


def test_stop_strings_are_separated_by_commas_and_may_be_newlines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODRADEK_STOP_STRINGS", "\\n\\n,END,")
    assert Settings().stop_strings == ("\n\n", "END")


def test_a_provider_key_answers_to_its_providers_name_and_shows_itself_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    settings = Settings()
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == "sk-very-secret"
    assert "very-secret" not in repr(settings)
    assert "very-secret" not in settings.model_dump_json()


def test_shards_are_read_as_a_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODRADEK_DISCORD_SHARDS", "1/2")
    assert Settings().shard == (1, 2)
