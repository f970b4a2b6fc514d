"""What looks like a key is hidden in texts from elsewhere."""

import pytest

from schemas.redaction import HIDDEN, hidden

KEYS = [
    *(f"{prefix}{mark}abcdef123456" for prefix in ("sk", "pk", "rk", "gsk", "xai", "ghp", "key") for mark in "-_"),
    *(f"{prefix}{mark}abcdef123456" for prefix in ("nvapi", "pplx", "hf", "fw", "tgp") for mark in "-_"),
    *("bearer abcdef123456", "api key: abcdef123456", "api_key=abcdef123456", "apikey:abcdef123456"),
    *("AIzaSyabcdef123456", "ya29.abcdef123456", "eyJhbGciOiJIUzI1NiJ9"),
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("frame", ["{}", "refused: {} (see the page)", "abgelehnt f\u00fcr {}"])
def test_a_key_is_hidden_in_small_and_in_large_letters(key: str, frame: str) -> None:
    assert hidden(frame.format(key)) == frame.format(HIDDEN)
    assert hidden(frame.format(key.upper())) == frame.format(HIDDEN)


@pytest.mark.parametrize("text", ["Incorrect API key provided: abc12.", "Token provided: abc12"])
def test_a_key_that_a_provider_echoes_is_hidden(text: str) -> None:
    assert "abc12" not in hidden(text)


@pytest.mark.parametrize("text", ["", "the task-list is long", "a key and an api", "monkey-business"])
def test_other_text_stays(text: str) -> None:
    assert hidden(text) == text
