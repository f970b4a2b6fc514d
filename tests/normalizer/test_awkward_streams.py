"""Awkward but legal streams, and some illegal ones, of the kinds that break client libraries."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from services.normalizer.endings import ConnectionReset, EndOfFile

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent.parent / "data" / "normalizer" / "awkward.jsonl").read_text().splitlines()
]


@pytest.mark.parametrize("size", [None, 1, 7, 64])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['dialect']}-{case['name']}")
def test_an_awkward_stream_gives_what_its_case_says(
    case: dict[str, Any], size: int | None, play: Callable[..., Any]
) -> None:
    raw = case["body"].encode() if "body" in case else base64.b64decode(case["body_b64"])
    step = size or len(raw)
    ending = EndOfFile() if case["then"] == "eof" else ConnectionReset()

    reply = play(
        case["dialect"],
        [raw[at : at + step] for at in range(0, len(raw), step)],
        ending,
        content_type=case["content_type"],
    )

    expect = case["expect"]
    assert (reply.error is not None) == expect.get("error", False)
    for name, value in expect.items():
        match name:
            case "text":
                assert reply.text == value
            case "thinking":
                assert reply.thinking == value
            case "tool_calls":
                assert reply.arguments == [(call["name"], call["args"]) for call in value]
            case "usage":
                assert value.items() <= asdict(reply.usage).items()
            case "signature":
                assert "".join(part["signature"] for part in reply.metadata.replay) == value
            case _:
                assert name == "error"
