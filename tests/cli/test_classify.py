"""`odradek classify`: an answer's class and what a user reads of it, from a file or standard input."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Odradek

QUOTA = '{"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}}'


@pytest.fixture
def body(tmp_path: Path) -> Path:
    path = tmp_path / "body.json"
    path.write_text(QUOTA)
    return path


def test_an_answer_is_told_as_error_classes_and_presentation(odradek: Odradek, body: Path) -> None:
    done = odradek("classify", "--dialect", "openai-chat", "--status", "429", str(body))
    assert done.code == 0
    told = json.loads(done.out)
    assert list(told) == ["error", "classifiers", "presentation"]
    assert told["error"] == {
        "type": "api_error",
        "code": "insufficient_quota",
        "message": "You exceeded your current quota.",
        "retryable": False,
        "original": QUOTA,
        "retry_after_s": None,
    }
    assert told["classifiers"] == ["exhausted_balance"]
    assert list(told["presentation"]) == ["title", "description", "tips", "locale_keys"]
    assert "genai.tips.top_up_balance" in told["presentation"]["locale_keys"]


def test_headers_provider_scope_and_language_count(odradek: Odradek, tmp_path: Path) -> None:
    slow = tmp_path / "slow.json"
    slow.write_text('{"error": {"code": "1302", "message": "Slow."}}')
    words = ("--provider", "zai", "--credential-source", "personal", "--header", "Retry-After: 7", "--locale", "ja")
    done = odradek("classify", "--dialect", "openai-chat", "--status", "400", *words, str(slow))
    told = json.loads(done.out)
    assert told["error"]["retry_after_s"] == 7
    assert told["presentation"]["description"] == "エラーコード 1302: Slow."
    assert told["presentation"]["locale_keys"][-1] == "genai.tips.disable_personal_text_override"


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        ("", "not_a_stream"),
        ("<html>", "not_a_stream"),
        ('data: {"choices": [{"delta": {"content": "Hi"}}]}\n\n', "stream_incomplete"),
        ('data: {"error": {"code": 503, "message": "No room."}}\n\n', "503"),
        ('data: {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}\n\n', None),
    ],
)
def test_the_body_of_a_200_is_read_as_a_stream(odradek: Odradek, tmp_path: Path, stream: str, code: str | None) -> None:
    path = tmp_path / "stream.sse"
    path.write_text(stream)
    done = odradek("classify", "--dialect", "openai-chat", "--status", "200", str(path))
    told = json.loads(done.out)
    assert done.code == 0
    assert (told["error"] and told["error"]["code"]) == code
    assert (told["presentation"] is None) is (code is None)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--dialect", "klingon", "--status", "429"), "choose one of openai-chat"),
        (("--dialect", "google", "--status", "1000"), "--status"),
        (("--dialect", "google", "--status", "429", "--header", "nothing"), "retry-after: 20"),
        (("--dialect", "google", "--status", "429", "--credential-source", "ours"), "server, personal"),
        (("--dialect", "google", "--status", "429", "--locale", "xx"), "en, ja"),
        (("--dialect", "google"), "--status"),
    ],
)
def test_wrong_usage_exits_with_2_and_says_what_to_write(
    odradek: Odradek, body: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = odradek("classify", *arguments, str(body))
    assert done.code == 2
    assert says in done.err
    assert done.out == ""


def test_a_file_that_is_not_there_is_wrong_usage(odradek: Odradek, tmp_path: Path) -> None:
    done = odradek("classify", "--dialect", "google", "--status", "429", str(tmp_path / "none"))
    assert done.code == 2
    assert "cannot read" in done.err
