"""Refusals become one ProviderError each: structured facts decide, and the provider's own words are kept."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from services.normalizer.errors import MAX_MESSAGE_CHARS, MAX_ORIGINAL_CHARS, event_error, http_error

REFUSALS = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "data" / "normalizer" / "refusals.jsonl").read_text().splitlines()
]
EXPECTED = {
    "vertex-400-1": ("api_error", "400", False, None, "Cannot fetch content fro"),
    "openai-400-4": ("api_error", "invalid_value", False, None, "Invalid file data: 'inpu"),
    "deepseek-400-1": ("api_error", "invalid_request_error", False, None, "No tool output found for"),
    "groq-400-1": ("api_error", "tool_use_failed", False, None, "Tool call validation fai"),
    "cerebras-401-1": ("api_error", "wrong_api_key", False, None, "Wrong API Key"),
    "openrouter-429-3": ("rate_limit", "429", True, None, "Provider returned error:"),
    "anthropic-400-5": ("api_error", "invalid_request_error", False, None, "messages.2.content.1.ima"),
    "cohere-404-2": ("api_error", "404", False, None, "model 'command-r' was re"),
    "cohere-404-3": ("api_error", "404", False, None, "model 'command-r-plus' w"),
    "openai-400-14": ("api_error", "unknown_parameter", False, None, "Unknown parameter: 'qual"),
    "azure-401-1": ("api_error", "401", False, None, "Access denied due to inv"),
    "vertex-400-2": ("api_error", "400", False, None, "Please use a valid role:"),
    "vertex-400-3": ("api_error", "400", False, None, "Unable to submit request"),
    "google-429-1": ("rate_limit", "429", True, 35.0, "You exceeded your curren"),
    "anthropic-500-1": ("api_error", "api_error", True, None, "Internal server error"),
    "anthropic-429-2": ("rate_limit", "rate_limit_error", True, None, "Rate limited"),
    "anthropic-400-7": ("api_error", "invalid_request_error", False, None, "The credit balance is to"),
    "anthropic-504-1": ("timeout", "timeout_error", True, None, "The request timed out."),
    "anthropic-502-1": ("provider_overloaded", "502", True, None, "502 Bad Gateway"),
    "openai-429-2": ("rate_limit", "rate_limit_exceeded", True, 10.0, "Limit of 10000 tokens pe"),
    "openai-503-1": ("provider_overloaded", "service_unavailable", True, None, "The engine is overloaded"),
    "openai-503-2": ("provider_overloaded", "503", True, None, "upstream connect error o"),
    "azure-400-1": ("content_blocked", "content_filter", False, None, "The prompt tripped the c"),
    "azure-429-1": ("rate_limit", "429", True, 26.0, "The deployment is over i"),
    "google-429-3": ("rate_limit", "429", True, None, "Resource exhausted, try"),
    "google-503-1": ("provider_overloaded", "503", True, None, "The model is overloaded."),
    "google-500-1": ("api_error", "500", True, None, "An internal error occurr"),
    "google-400-2": ("api_error", "400", False, None, 'Unknown name "foo" at \'t'),
    "google-504-1": ("timeout", "504", True, None, "The request timed out."),
    "groq-413-1": ("api_error", "rate_limit_exceeded", False, None, "Request too large for mo"),
    "groq-498-1": ("provider_overloaded", "capacity_exceeded", True, None, "Flex tier capacity excee"),
    "deepseek-402-1": ("api_error", "invalid_request_error", False, None, "Insufficient Balance"),
    "deepseek-400-2": ("api_error", "invalid_request_error", False, None, "The context holds 131072"),
    "mistral-422-1": ("api_error", "invalid_request_error", False, None, '{"detail": [{"type": "ex'),
    "openrouter-402-1": ("api_error", "402", False, None, "More credits are needed"),
    "openrouter-404-1": ("api_error", "404", False, None, "No endpoints found that"),
    "xai-400-1": ("api_error", "Client specified an invalid argument", False, None, "Argument not supported o"),
    "together-422-1": ("api_error", "invalid_request_error", False, None, "Input validation error:"),
    "huggingface-503-1": ("provider_overloaded", "503", True, None, "Model is currently loadi"),
    "huggingface-402-1": ("api_error", "402", False, None, "The monthly included cre"),
    "ollama-404-1": ("api_error", "api_error", False, None, 'model "nope" not found,'),
    "llamacpp-503-1": ("provider_overloaded", "503", True, None, "Loading model"),
    "alibaba-400-1": ("content_blocked", "data_inspection_failed", False, None, "Input data may contain i"),
    "moonshotai-429-1": ("provider_overloaded", "engine_overloaded_error", True, None, "The engine is currently"),
}
NOON = datetime(2026, 11, 30, 12, 0, 0, 500_000, tzinfo=UTC)


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case["name"])
def test_a_refusal_is_classified_and_keeps_its_text(case: dict) -> None:
    error = http_error(case["status"], case["headers"], case["body"].encode())

    kind, code, retryable, wait, words = EXPECTED[case["name"]]
    assert (error.type, error.code, error.retryable, error.retry_after_s) == (kind, code, retryable, wait)
    assert words in error.message
    assert error.original == case["body"][:MAX_ORIGINAL_CHARS]


@pytest.mark.parametrize(
    ("status", "body", "kind", "code", "retryable"),
    [
        (429, {"error": {"code": "insufficient_quota"}}, "api_error", "insufficient_quota", False),
        (
            529,
            {"type": "error", "error": {"type": "overloaded_error"}},
            "provider_overloaded",
            "overloaded_error",
            True,
        ),
        (529, {}, "provider_overloaded", "529", True),
        (404, {"error": {"code": "model_not_found"}}, "model_error", "model_not_found", False),
        (429, {"error": {"type": "invalid_request_error"}}, "rate_limit", "invalid_request_error", True),
        (500, {"detail": "boom"}, "api_error", "500", True),
        (418, {}, "api_error", "418", False),
    ],
)
def test_codes_decide_before_the_status_and_the_status_before_families(
    status: int, body: dict, kind: str, code: str, retryable: bool
) -> None:
    error = http_error(status, {}, json.dumps(body).encode())
    assert (error.type, error.code, error.retryable) == (kind, code, retryable)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "HTTP 500"),
        (b"  upstream\n  failed ", "upstream failed"),
        (b"<html><script>var a</script><h1>502</h1> Bad <b>Gateway</b></html>", "502 Bad Gateway"),
        (b'"just text"', "just text"),
        (b'{"error": "a string"}', "a string"),
        (b'{"error": {"message": {"detail": "x"}}}', '{"detail": "x"}'),
        (b'{"detail": [{"msg": "x"}]}', '[{"msg": "x"}]'),
        (b'{"message": "top"}', "top"),
        (b'[{"error": {"message": "in a list"}}]', "in a list"),
        (
            b'{"error": {"message": "M", "metadata": {"raw": "{\\"error\\": {\\"message\\": \\"inner\\"}}"}}}',
            "M: inner",
        ),
        (b'{"error": {"message": "\\ud83c"}}', "\ufffd"),
        (b'{"error": {"message": "\xff"}}', "\ufffd"),
        (b"\xff", "\ufffd"),
    ],
)
def test_the_text_of_any_body_is_found(body: bytes, message: str) -> None:
    assert http_error(500, {}, body).message == message


def test_an_error_without_words_says_its_code() -> None:
    assert event_error({"error": {"code": 529}}, b"{}").message == "error 529"


def test_message_and_original_are_bounded() -> None:
    error = http_error(500, {}, json.dumps({"error": {"message": "x" * 100_000, "code": "y" * 1000}}).encode())
    assert len(error.message) == MAX_MESSAGE_CHARS
    assert len(error.original or "") == MAX_ORIGINAL_CHARS
    assert len(error.code) == 100


@pytest.mark.parametrize(
    ("payload", "kind", "code", "retryable"),
    [
        ({"error": {"message": "Overloaded", "code": 529}}, "provider_overloaded", "529", True),
        ({"error": {"message": "x", "code": "429"}}, "rate_limit", "429", True),
        ({"type": "error", "error": {"type": "overloaded_error"}}, "provider_overloaded", "overloaded_error", True),
        ({"error": {"type": "server_error", "code": None}}, "api_error", "server_error", True),
        ({"message": "boom"}, "api_error", "unknown", False),
        ("boom", "api_error", "unknown", False),
    ],
)
def test_an_error_in_a_stream_is_classified_like_a_refusal(
    payload: object, kind: str, code: str, retryable: bool
) -> None:
    error = event_error(payload, b"")
    assert (error.type, error.code, error.retryable) == (kind, code, retryable)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After-Ms": "1500", "retry-after": "9"}, 2.0),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.2"}, 1.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e300"}, 86400.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:10 GMT"}, 10.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2026 13:00:10 +0100"}, 10.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert http_error(429, headers, b"", NOON).retry_after_s == seconds


def test_a_date_says_nothing_without_a_moment_to_read_it_against() -> None:
    assert http_error(429, {"retry-after": "Mon, 30 Nov 2026 12:00:10 GMT"}, b"").retry_after_s is None


def test_the_provider_may_overrule_whether_a_retry_helps() -> None:
    assert http_error(400, {"x-should-retry": "true"}, b"").retryable
    assert not http_error(500, {"X-Should-Retry": "false"}, b"").retryable
