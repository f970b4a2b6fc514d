"""Deadlines, keep-alives and a provider's word on when to ask again, over real HTTP in each dialect of the sandbox."""

import datetime
from typing import Any

import pytest

from schemas.chunks import Dialect, ErrorChunk
from schemas.headers import HeaderReader
from schemas.prompts import CredentialRef, StreamDeadlines
from schemas.raw import RawEnd
from services.normalizer.endings import ending_of
from services.normalizer.stream import StreamNormalizer
from services.sandbox.provider.script import Answer, Hang, KeepAlive, Reset, Stream, Text, Thinking

NATIVE: dict[Dialect, tuple[str, dict[str, str], dict[str, Any], CredentialRef]] = {
    "openai-chat": (
        "/v1/chat/completions",
        {},
        {"model": "sandbox-echo", "messages": [{"role": "user", "content": "hello"}], "stream": True},
        CredentialRef(name="openai", placement="bearer"),
    ),
    "openai-responses": (
        "/v1/responses",
        {},
        {"model": "sandbox-echo", "input": "hello", "stream": True},
        CredentialRef(name="openai", placement="bearer"),
    ),
    "anthropic": (
        "/v1/messages",
        {"anthropic-version": "2023-06-01"},
        {
            "model": "sandbox-echo",
            "max_tokens": 100,
            "messages": [{"role": "user", "content": "hello"}],
            "stream": True,
        },
        CredentialRef(name="anthropic", placement="x-api-key"),
    ),
    "google": (
        "/v1beta/models/sandbox-echo:streamGenerateContent?alt=sse",
        {},
        {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]},
        CredentialRef(name="google", placement="x-goog-api-key"),
    ),
}
FORMS = ["comment", "empty", "ping"]


@pytest.fixture(params=list(NATIVE))
def dialect(request: pytest.FixtureRequest) -> Dialect:
    return request.param


def request_in(bench: Any, dialect: Dialect, **limits: int) -> Any:
    path, headers, body, credential = NATIVE[dialect]
    long = {"connect_ms": 30_000, "first_byte_ms": 60_000, "idle_ms": 60_000, "total_ms": 60_000}
    return bench.request(
        dialect=dialect,
        provider="openai",
        url=bench.url + path,
        headers=headers,
        body=body,
        credential=credential,
        deadlines=StreamDeadlines(**long | limits),
    )


async def test_a_whole_reply_is_read_to_its_end(bench: Any, dialect: Dialect) -> None:
    bench.play(Stream(steps=(Thinking(("well ",)), Text(("one ", "two")))))
    await bench.run(request_in(bench, dialect))
    end = bench.end()
    assert (end.ending, end.http_status) == ("eof", 200)
    assert b"two" in bench.body()


async def test_a_provider_that_does_not_begin_is_given_up(bench: Any, dialect: Dialect) -> None:
    bench.play(Stream(steps=(), ending=Hang()))
    await bench.run(request_in(bench, dialect, first_byte_ms=100))
    assert bench.end().ending == "first_byte_timeout"


@pytest.mark.parametrize("form", FORMS)
async def test_keep_alives_are_no_beginning(bench: Any, dialect: Dialect, form: Any) -> None:
    bench.play(Stream(steps=(KeepAlive(count=1_000, every_ms=5, form=form),), ending=Hang()))
    await bench.run(request_in(bench, dialect, first_byte_ms=1_000))
    assert bench.end().ending == "first_byte_timeout"
    assert bench.body()


@pytest.mark.parametrize("form", FORMS)
async def test_keep_alives_do_not_reset_the_idle_time(bench: Any, dialect: Dialect, form: Any) -> None:
    bench.play(Stream(steps=(Text(("one",)), KeepAlive(count=1_000, every_ms=5, form=form)), ending=Hang()))
    await bench.run(request_in(bench, dialect, idle_ms=150))
    assert bench.end().ending == "idle_timeout"
    assert b"one" in bench.body()


async def test_a_stream_that_goes_on_for_too_long_is_given_up(bench: Any, dialect: Dialect) -> None:
    bench.play(Stream(steps=(Text(("on and on ",) * 2_000),), pace_ms=5))
    await bench.run(request_in(bench, dialect, idle_ms=5_000, total_ms=200))
    assert bench.end().ending == "total_timeout"


async def test_a_connection_that_breaks_keeps_what_came(bench: Any, dialect: Dialect) -> None:
    bench.play(Stream(steps=(Text(("one",)),), ending=Reset()))
    await bench.run(request_in(bench, dialect))
    assert bench.end().ending == "reset"
    assert b"one" in bench.body()


def error_of(bench: Any, dialect: Dialect, received_at: datetime.datetime) -> Any:
    """The error that the normalizer makes of the recorded stream."""
    end = bench.end()
    assert isinstance(end, RawEnd)
    stream = StreamNormalizer(dialect, "m", provider="openai", http_status=end.http_status)
    chunks = [*stream.feed(bench.body()), *stream.flush(ending_of(end, received_at))]
    (error,) = [chunk.error for chunk in chunks if isinstance(chunk, ErrorChunk)]
    return error


AT = datetime.datetime(2026, 1, 1, 12, 0, 0, tzinfo=datetime.UTC)
GOOGLES = b'{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"slow down","details":[{"@type":' \
    b'"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}}'  # fmt: skip


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"retry-after": "17"}, None),
        ({"retry-after": "16.2"}, None),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:17 GMT"}, None),
        ({"retry-after": "17s"}, None),
        ({"retry-after": "2026-01-01T12:00:17Z"}, None),
        ({"retry-after-ms": "16500"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "17s"}, None),
        (
            {"anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2026-01-01T12:00:17Z"},
            None,
        ),
        ({"x-ratelimit-reset": "1767268817000"}, None),
        ({}, GOOGLES),
    ],
    ids=["seconds", "fraction", "date", "length", "moment", "ms", "openai", "anthropic", "openrouter", "google"],
)
async def test_every_way_to_say_when_to_ask_again_reaches_the_error(
    bench: Any, dialect: Dialect, headers: dict[str, str], body: bytes | None
) -> None:
    bench.play(Answer(429, headers=headers, body=body))
    await bench.run(request_in(bench, dialect))
    error = error_of(bench, dialect, AT)
    assert (error.type, error.retryable, error.retry_after_s) == ("rate_limit", True, 17.0)


async def test_the_records_of_an_error_name_what_the_provider_said_and_no_key(bench: Any, dialect: Dialect) -> None:
    bench.play(Answer(503, headers={"retry-after": "3"}, body=f'{{"error":"overloaded, {bench.key}"}}'.encode()))
    await bench.run(request_in(bench, dialect))
    assert error_of(bench, dialect, AT).retryable
    for records in bench.log.topics.values():
        for record in records:
            assert bench.key.encode() not in (record.value or b"") + b"".join(value for _, value in record.headers)
            assert HeaderReader(record.headers).facts().channel
