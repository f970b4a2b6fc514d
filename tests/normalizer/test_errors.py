"""Refusals become one ProviderError each: structured facts decide, words last, and the provider's own text is kept."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.raw import DIALECTS
from services.normalizer.errors import MAX_MESSAGE_CHARS, MAX_ORIGINAL_CHARS, event_error, http_error
from services.normalizer.errors.body import said
from services.normalizer.errors.codes import CODES, FAMILY_WORDS
from services.normalizer.errors.families import (
    ALIBABA,
    ANTHROPIC,
    GOOGLE,
    MINIMAX,
    NVIDIA,
    OPENAI,
    OPENROUTER,
    ZAI,
    Family,
    family_of,
)
from services.normalizer.errors.reasons import RANK
from services.normalizer.errors.words import reason_of_words

DATA = Path(__file__).parent.parent / "data" / "normalizer"
REFUSALS = [json.loads(line) for line in (DATA / "refusals.jsonl").read_text().splitlines()]
BY_RULE = [json.loads(line) for line in (DATA / "refusals_by_rule.jsonl").read_text().splitlines()]
EXPECTED = {
    "vertex-400-1": ("api_error", "400", False, None, None, "Cannot fetch content fro"),
    "openai-400-4": ("api_error", "invalid_value", False, None, None, "Invalid file data: 'inpu"),
    "deepseek-400-1": ("api_error", "invalid_request_error", False, None, None, "No tool output found for"),
    "groq-400-1": ("api_error", "tool_use_failed", False, None, None, "Tool call validation fai"),
    "cerebras-401-1": ("api_error", "wrong_api_key", False, None, "key_access", "Wrong API Key"),
    "openrouter-429-3": ("rate_limit", "429", True, None, None, "Provider returned error:"),
    "anthropic-400-5": ("api_error", "invalid_request_error", False, None, None, "messages.2.content.1.ima"),
    "cohere-404-2": ("model_error", "404", False, None, "model_error", "model 'command-r' was re"),
    "cohere-404-3": ("model_error", "404", False, None, "model_error", "model 'command-r-plus' w"),
    "openai-400-14": ("api_error", "unknown_parameter", False, None, None, "Unknown parameter: 'qual"),
    "azure-401-1": ("api_error", "401", False, None, "key_access", "Access denied due to inv"),
    "vertex-400-2": ("api_error", "400", False, None, None, "Please use a valid role:"),
    "vertex-400-3": ("api_error", "400", False, None, None, "Unable to submit request"),
    "google-429-1": ("rate_limit", "429", True, 35.0, None, "You exceeded your curren"),
    "anthropic-500-1": ("api_error", "api_error", True, None, None, "Internal server error"),
    "anthropic-429-2": ("rate_limit", "rate_limit_error", True, None, None, "Rate limited"),
    "anthropic-400-7": (
        "api_error",
        "invalid_request_error",
        False,
        None,
        "exhausted_balance",
        "The credit balance is to",
    ),
    "anthropic-504-1": ("timeout", "timeout_error", True, None, None, "The request timed out."),
    "anthropic-502-1": ("provider_overloaded", "502", True, None, None, "502 Bad Gateway 502 Bad "),
    "openai-429-2": ("rate_limit", "rate_limit_exceeded", True, 10.0, None, "Limit of 10000 tokens pe"),
    "openai-503-1": ("provider_overloaded", "service_unavailable", True, None, None, "The engine is overloaded"),
    "openai-503-2": ("provider_overloaded", "503", True, None, None, "upstream connect error o"),
    "azure-400-1": ("content_blocked", "content_filter", False, None, None, "The prompt tripped the c"),
    "azure-429-1": ("rate_limit", "429", True, 26.0, None, "The deployment is over i"),
    "google-429-3": ("rate_limit", "429", True, None, None, "Resource exhausted, try "),
    "google-503-1": ("provider_overloaded", "503", True, None, None, "The model is overloaded."),
    "google-500-1": ("api_error", "500", True, None, None, "An internal error occurr"),
    "google-400-2": ("api_error", "400", False, None, None, 'Unknown name "foo" at \'t'),
    "google-504-1": ("timeout", "504", True, None, None, "The request timed out."),
    "groq-413-1": ("api_error", "rate_limit_exceeded", False, None, "context_length", "Request too large for mo"),
    "groq-498-1": ("provider_overloaded", "capacity_exceeded", True, None, None, "Flex tier capacity excee"),
    "deepseek-402-1": ("api_error", "invalid_request_error", False, None, "exhausted_balance", "Insufficient Balance"),
    "deepseek-400-2": ("api_error", "invalid_request_error", False, None, "context_length", "The context holds 131072"),
    "mistral-422-1": ("api_error", "invalid_request_error", False, None, None, "Extra inputs are not per"),
    "openrouter-402-1": ("api_error", "402", False, None, "credit_affordability", "More credits are needed "),
    "openrouter-404-1": ("model_error", "404", False, None, "model_error", "No endpoints found that "),
    "xai-400-1": ("api_error", "Client specified an invalid argument", False, None, None, "Argument not supported o"),
    "together-422-1": ("api_error", "invalid_request_error", False, None, "context_length", "Input validation error: "),
    "huggingface-503-1": ("provider_overloaded", "503", True, 20.0, None, "Model is currently loadi"),
    "huggingface-402-1": ("api_error", "402", False, None, "exhausted_balance", "The monthly included cre"),
    "ollama-404-1": ("model_error", "api_error", False, None, "model_error", 'model "nope" not found, '),
    "llamacpp-503-1": ("provider_overloaded", "503", True, None, None, "Loading model"),
    "alibaba-400-1": ("content_blocked", "data_inspection_failed", False, None, None, "Input data may contain i"),
    "moonshotai-429-1": (
        "provider_overloaded",
        "engine_overloaded_error",
        True,
        None,
        None,
        "The engine is currently ",
    ),
}
NOON = datetime(2026, 11, 30, 12, 0, 0, 500_000, tzinfo=UTC)


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case["name"])
def test_a_refusal_is_classified_and_keeps_its_text(case: dict) -> None:
    family = family_of(case["dialect"], case["provider"])
    error = http_error(case["status"], case["headers"], case["body"].encode(), family=family)

    kind, code, retryable, wait, advice, words = EXPECTED[case["name"]]
    assert (error.type, error.code, error.retryable, error.retry_after_s) == (kind, code, retryable, wait)
    assert error.classifiers == (() if advice is None else (advice,))
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
        (500, {"detail": "boom"}, "provider_overloaded", "500", True),
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
        (b'{"error": {"message": {"detail": "x"}}}', "x"),
        (b'{"error": {"message": {"odd": 1}}}', '{"odd": 1}'),
        (b'{"detail": [{"msg": "x", "loc": ["body", 1]}, {"msg": "y"}]}', "x (body.1); y"),
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
        ({"error": {"type": "server_error", "code": None}}, "provider_overloaded", "server_error", True),
        ({"error": "Overloaded"}, "provider_overloaded", "unknown", True),
        ({"message": "Rate limit reached"}, "rate_limit", "unknown", True),
        ("Internal server error", "api_error", "unknown", True),
        ("the request timed out", "timeout", "unknown", True),
        ({"message": "boom"}, "api_error", "unknown", False),
        ("boom", "api_error", "unknown", False),
    ],
)
def test_an_error_in_a_stream_is_classified_like_a_refusal(
    payload: object, kind: str, code: str, retryable: bool
) -> None:
    error = event_error(payload, b"")
    assert (error.type, error.code, error.retryable) == (kind, code, retryable)


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "anthropic", "google"])
@pytest.mark.parametrize("name", [b"", b"event: exception\n"])
@pytest.mark.parametrize("payload", [b'{"message": "Rate limit exceeded"}', b'{"detail": "Rate limit exceeded"}'])
def test_an_event_that_tells_an_error_and_nothing_else_needs_no_name_for_it(
    dialect: str, name: bytes, payload: bytes, play: Callable[..., Any]
) -> None:
    error = play(dialect, [name + b"data: " + payload + b"\n\n"]).error
    assert (error.type, error.message) == ("rate_limit", "Rate limit exceeded")


@pytest.mark.parametrize(
    ("dialect", "payload"),
    [
        ("openai-responses", b'{"type": "response.new", "message": "so far", "detail": "none"}'),
        ("anthropic", b'{"type": "new", "message": "so far", "detail": "none"}'),
        ("google", b'{"usageMetadata": {"totalTokenCount": 1}, "message": "so far", "detail": "none"}'),
        ("google", b'{"candidates": [], "message": "so far", "detail": "none"}'),
        ("openai-responses", b'{"message": "", "detail": null}'),
        ("anthropic", b'{"message": {"id": "m"}}'),
        ("google", b'{"new": {"message": "so far"}}'),
    ],
)
def test_an_event_that_is_of_another_kind_tells_no_error(
    dialect: str, payload: bytes, play: Callable[..., Any]
) -> None:
    assert play(dialect, [b"data: " + payload + b"\n\n"]).error.code == "stream_incomplete"


@pytest.mark.parametrize("dialect", ["openai-chat", "openai-responses", "anthropic", "google"])
def test_an_exception_under_its_own_name_is_an_error(dialect: str, play: Callable[..., Any]) -> None:
    payload = b'{"throttlingException": {"message": "Too many tokens, please wait before trying again."}}'
    error = play(dialect, [b"data: " + payload + b"\n\n"]).error
    assert (error.type, error.code, error.retryable) == ("rate_limit", "throttlingException", True)


def test_the_provider_may_overrule_whether_a_retry_helps() -> None:
    assert http_error(400, {"x-should-retry": "true"}, b"").retryable
    assert not http_error(500, {"X-Should-Retry": "false"}, b"").retryable


@pytest.mark.parametrize("case", BY_RULE, ids=lambda case: f"{case['provider']}-{case['status']}")
def test_what_providers_send_is_classified_by_the_rules(case: dict) -> None:
    error = http_error(case["status"], {}, case["body"].encode(), family=family_of(case["dialect"], case["provider"]))
    assert (error.type, error.retryable, list(error.classifiers)) == (
        case["type"],
        case["retryable"],
        case["classifiers"],
    ), error.message


@pytest.mark.parametrize(
    ("family", "status", "kind", "retryable"),
    [
        (OPENAI, 500, "provider_overloaded", True),
        (OPENROUTER, 500, "provider_overloaded", True),
        (ANTHROPIC, 500, "api_error", True),
        (GOOGLE, 500, "api_error", True),
        (GOOGLE, 499, "api_error", True),
        (OPENAI, 499, "api_error", False),
        (NVIDIA, 404, "model_error", False),
        (NVIDIA, 410, "model_error", False),
        (OPENAI, 404, "api_error", False),
        (OPENAI, 408, "timeout", True),
        (OPENAI, 521, "provider_overloaded", True),
        (OPENAI, 524, "timeout", True),
        (OPENAI, 501, "api_error", False),
        (OPENAI, 599, "api_error", True),
        (OPENAI, 302, "api_error", False),
    ],
)
def test_a_bare_status_means_what_the_family_says(family: Family, status: int, kind: str, retryable: bool) -> None:
    error = http_error(status, {}, b"", family=family)
    assert (error.type, error.code, error.retryable) == (kind, str(status), retryable)


def test_a_family_is_found_by_the_provider_before_its_wire_language() -> None:
    assert family_of("openai-chat", "zaicoding") is family_of("anthropic", "zai") is ZAI
    assert family_of("google", "somebody") is family_of("openai-chat", "Vertex") is GOOGLE
    assert family_of("openai-responses", "custom:s1:home") is OPENAI


def test_a_balance_at_zero_is_no_rate_limit_and_does_not_read_as_one() -> None:
    body = b'{"error": {"message": "Insufficient balance or no resource package. Please recharge."}}'
    error = http_error(429, {}, body, family=ZAI)
    assert (error.type, error.code, error.retryable) == ("api_error", "429_balance", False)
    plan = b'{"error": {"code": "429", "message": "Your subscription plan does not yet include access to it."}}'
    assert http_error(429, {}, plan, family=ZAI).code == "429_plan_access"
    assert http_error(429, {}, plan.replace(b"429", b"1311"), family=ZAI).code == "1311"


def test_the_same_quota_message_is_a_spent_balance_alone_and_a_rate_limit_beside_a_code_that_says_so() -> None:
    message = "You exceeded your current quota, please check your plan and billing details."
    alone = http_error(429, {}, json.dumps({"error": {"message": message}}).encode())
    assert alone.classifiers == ("exhausted_balance",)
    coded = {"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED"}}
    assert http_error(429, {}, json.dumps(coded).encode()).type == "rate_limit"


@pytest.mark.parametrize(
    "message",
    [
        "Cannot generate content of 4000 characters",
        "Operate at your own rate",
        "The 429th element of the list is odd",
        "remodel not founded",
        "You can only afford a typo here",
        "monkey-token invalidated",
        "The field 'context' is 40 characters",
    ],
)
def test_parts_of_words_and_numbers_in_a_text_decide_nothing(message: str) -> None:
    error = http_error(400, {}, json.dumps({"error": {"message": message}}).encode())
    assert (error.type, error.retryable, error.classifiers) == ("api_error", False, ())


@pytest.mark.parametrize("field", ["message", "original"])
def test_a_key_that_a_provider_repeats_is_hidden(field: str) -> None:
    body = b'{"error": {"message": "Incorrect API key provided: sk-proj-abcdefgh12345678 or token provided: q9zz8"}}'
    text = getattr(http_error(401, {}, body), field)
    assert "abcdefgh" not in text
    assert "q9zz8" not in text


def test_every_code_of_every_table_is_in_lower_case_and_says_one_thing() -> None:
    families = [*map(family_of, DIALECTS), ZAI, NVIDIA, OPENROUTER, ALIBABA, MINIMAX]
    for codes in [CODES, FAMILY_WORDS, *(family.codes for family in families)]:
        assert [code for code in codes if code != code.lower()] == []
    assert CODES.keys() & FAMILY_WORDS.keys() == set()


@pytest.mark.parametrize("depth", [3, 50])
def test_bodies_inside_bodies_are_read_to_a_depth(depth: int) -> None:
    body = json.dumps({"error": {"message": "the core", "code": "insufficient_quota"}})
    for _ in range(min(depth, 12)):
        body = json.dumps({"error": {"message": body}})
    error = http_error(400, {}, body.encode())
    assert (error.classifiers == ("exhausted_balance",)) is (depth == 3)


WORDY = [
    *("insufficient account balance", "not enough funds", "no resource package", "please recharge", "please top-up"),
    *("wallet balance is depleted", "out of credit", "credits have been used up", "exceeded all your credits"),
    *("you have no credits", "key limit exceeded", "spend limit", "billing hard limit", "in arrears", "unpaid invoice"),
    *("plan package has expired", "fewer max_tokens", "request requires more credits", "credit left for this request"),
    *("prompt tokens limit exceeded", "you can only afford 20", "maximum context length", "context size exceeded"),
    *("exceeds the context window", "context of 9,000 tokens is over 8000", "prompt is too long", "input too long"),
    *("inputs exceed the maximum", "tokens exceed the maximum number of tokens", "inputs + max_new_tokens"),
    *(
        "input length should be 3",
        "reduce the length of the messages",
        "request too large for model",
        "too many tokens",
    ),
    *(
        "exceeds the model token limit",
        "the model does not exist",
        "unknown model",
        "not a valid model",
        "model: gpt-9",
    ),
    *("not found the model", "cannot find the model", "no endpoints found", "non-serverless model", "not a chat model"),
    *("no allowed providers are available for the selected model", "no access to the model", "subscription plan"),
    *(
        "does not yet include access",
        "plan does not include",
        "content policy",
        "content exists risk",
        "violates terms",
    ),
    *("was flagged", "requires moderation", "unsafe content", "blocked by a guardrail", "invalid api key"),
    *("missing authorization header", "wrong bearer credential", "access token has expired", "unauthorised"),
    *("unauthorized", "authentication failed", "rate limited", "too many requests", "quota exceeded", "overloaded"),
    *("service unavailable", "over capacity", "capacity exceeded", "high demand", "timed out", "time-out"),
    *("deadline exceeded", "internal error", "the server had an error"),
]


@pytest.mark.parametrize("message", WORDY)
def test_words_give_their_reason_in_any_letters(message: str) -> None:
    # A character beyond ASCII turns the quick look for words off.
    told = reason_of_words(f"{message}\u00a0", frozenset(RANK))
    assert told is not None
    assert reason_of_words(message, frozenset(RANK)) == told
    assert reason_of_words(message.upper(), frozenset(RANK)) == told


def test_a_character_beyond_ascii_changes_no_reason() -> None:
    bodies = [json.loads(case["body"]) for case in (*REFUSALS, *BY_RULE) if case["body"].startswith("{")]
    messages = {said(body).message for body in bodies}
    assert len(messages) > 50
    for message in messages:
        for reason in RANK:
            assert reason_of_words(message, {reason}) == reason_of_words(f"{message}\u00a0", {reason}), message
