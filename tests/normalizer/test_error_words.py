"""What small servers and gateways say in words of their own, and which of their words is a code."""

import gzip
import json

import pytest

from services.normalizer.errors import http_error


@pytest.mark.parametrize(
    ("status", "body", "kind", "advice"),
    [
        (400, {"error": "This model's maximum prompt length is 131072 but the request contains 200000."}, "api_error",
         "context_length"),
        (400, {"message": "The input (40000 tokens) is longer than the model's context length (32768)."}, "api_error",
         "context_length"),
        (400, {"error": "However, the model is loaded with context length of only 4096 tokens."}, "api_error",
         "context_length"),
        (400, {"error": {"message": "the input token count is 40000 but model only supports up to 32768."}},
         "api_error", "context_length"),
        (400, {"message": "The provided model identifier is invalid."}, "model_error", "model_error"),
        (400, {"error": {"message": "You have reached your specified API usage limits."}}, "api_error",
         "exhausted_balance"),
        (400, {"error": {"message": "Budget has been exceeded! Current cost: 1.2"}}, "api_error", "exhausted_balance"),
        (400, {"error": {"message": "the input text may contain sensitive information."}}, "content_blocked", None),
        (429, {"error": {"code": "ServerOverloaded", "message": "x"}}, "provider_overloaded", None),
        (503, {"error": {"type": "slow_down", "message": "Slow down"}}, "provider_overloaded", None),
        (404, {"error": "Not Found", "message": "The model x was not found"}, "model_error", "model_error"),
        (400, {"error": json.dumps({"message": "x", "code": "context_length_exceeded"})}, "api_error",
         "context_length"),
    ],
)  # fmt: skip
def test_what_servers_say_in_their_own_words_is_understood(
    status: int, body: dict, kind: str, advice: str | None
) -> None:
    error = http_error(status, {}, json.dumps(body).encode())
    assert (error.type, error.classifiers) == (kind, () if advice is None else (advice,))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"type": "about:blank", "title": "Gone", "status": 410}, "410"),
        ({"type": "urn:x:problem", "detail": "x"}, "410"),
        ({"__type": "com.amazon.coral.validate#ValidationException", "message": "x"}, "ValidationException"),
        ({"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "x"}, "RESOURCE_DOES_NOT_EXIST"),
    ],
)
def test_a_code_is_a_word_and_no_address(body: dict, code: str) -> None:
    assert http_error(410, {}, json.dumps(body).encode()).code == code


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": "Not Found", "message": "no model x", "statusCode": 404}', "Not Found: no model x"),
        (b'{"error": "{\\"message\\": \\"inside text\\"}"}', "inside text"),
        (b'{"error": {"message": {"error": {"message": "deep"}}}}', "deep"),
        (b'{"errors": {"field": ["must be x"]}}', '{"field": ["must be x"]}'),
        (b'{"errorMessage": "camel"}', "camel"),
        (b'{"error_msg": "snake"}', "snake"),
        (b'{"Error": {"Message": "upper", "Code": "X"}}', "upper"),
        ('{"message": "wide"}'.encode("utf-16"), "wide"),
        ('{"message": "wide"}'.encode("utf-16-be"), "wide"),
        (b'\xef\xbb\xbf{"message": "marked"}', "marked"),
        (gzip.compress(b'{"message": "packed"}'), "packed"),
        (b"\x1f\x8b and no gzip", "HTTP 500"),
        (b"\x89PNG\x00\x01", "HTTP 500"),
    ],
)
def test_the_text_is_found_under_other_names_and_in_other_encodings(body: bytes, message: str) -> None:
    assert http_error(500, {}, body).message == message
