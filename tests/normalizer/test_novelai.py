"""The NovelAI dialect: both of its streams, as described; nothing of it was recorded."""

from collections.abc import Callable
from typing import Any

import pytest


def test_a_completion_stream_is_text_with_a_finish_and_usage(
    play: Callable[..., Any], sse: Callable[..., bytes]
) -> None:
    reply = play(
        "novelai",
        [
            sse(
                {"id": "c", "model": "glm-4-6", "choices": [{"index": 0, "text": "Hel"}]},
                {"choices": [{"index": 0, "text": "lo", "finish_reason": "length"}]},
                {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}},
                "[DONE]",
            )
        ],
    )
    assert (reply.text, reply.metadata.finish_reason, reply.metadata.model) == ("Hello", "length", "glm-4-6")
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.total_tokens) == (4, 2, 6)


def test_what_glm_thinks_is_thinking_and_not_text(play: Callable[..., Any], sse: Callable[..., bytes]) -> None:
    pieces = ["<thi", "nk>I shall greet.</th", "ink>\nHello"]
    chunks = [{"choices": [{"index": 0, "text": piece}]} for piece in pieces]
    reply = play("novelai", [sse(*chunks, {"choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}, "[DONE]")])
    assert (reply.text.strip(), reply.thinking) == ("Hello", "I shall greet.")


def tokens(*payloads: str) -> bytes:
    return "".join(f"event:newToken\nid:{at}\ndata:{payload}\n\n" for at, payload in enumerate(payloads)).encode()


def test_a_token_stream_ends_with_its_final_token_and_has_no_finish_reason(play: Callable[..., Any]) -> None:
    reply = play(
        "novelai", [tokens('{"token":"Once","ptr":0,"final":false}', '{"token":" upon","ptr":1,"final":true}')]
    )
    assert (reply.text, reply.error, reply.metadata.finish_reason) == ("Once upon", None, None)


def test_a_token_stream_without_a_final_token_is_incomplete(play: Callable[..., Any]) -> None:
    assert play("novelai", [tokens('{"token":"Once","ptr":0,"final":false}')]).error.code == "stream_incomplete"


@pytest.mark.parametrize(
    "payload", ['{"statusCode":429,"message":"too many"}', '{"error":"a bare string"}', '"bare text"']
)
def test_an_error_ends_the_stream(payload: str, play: Callable[..., Any]) -> None:
    reply = play("novelai", [tokens('{"token":"Once","ptr":0}', payload)])
    assert reply.text == "Once"
    assert reply.error is not None
