"""Normalizing recorded streams from the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from services.cli.normalize_report import Request
from services.runtime.errors import ConfigurationError

DELTA = {"model": "m", "provider": "upstream", "choices": [{"delta": {"content": "Hi", "reasoning": "hm"}}]}
CALL = {"choices": [{"delta": {"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"x": 1}'}}]}}]}
END = {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "reply.sse"
    path.write_text("".join(f"data: {json.dumps(payload)}\n\n" for payload in (DELTA, CALL, END)) + "data: [DONE]\n\n")
    return path


def test_a_stream_becomes_one_object(odradek: Any, recorded: Path) -> None:
    (line,) = odradek("normalize", "--dialect", "openai-chat", str(recorded)).lines
    told = json.loads(line)
    usage = told.pop("usage")
    (call,) = told.pop("tool_calls")
    assert told == {
        "file": str(recorded),
        "text": "Hi",
        "thinking": "hm",
        "thinking_signature": None,
        "server_tool_calls": [],
        "finish_reason": "tool_calls",
        "finish_reason_raw": "stop",
        "model": "m",
        "error": None,
        "serving_provider": "upstream",
        "batches": 1,
    }
    assert (call["id"], call["name"], call["arguments"], call["arguments_truncated"]) == ("c", "f", {"x": 1}, False)
    assert (usage["input_tokens"], usage["output_tokens"], usage["raw"]) == (3, 2, END["usage"])


@pytest.mark.parametrize("split", ["1", "7", "random:3"])
def test_the_cut_changes_nothing_but_the_batches(split: str, odradek: Any, recorded: Path) -> None:
    whole, cut = (
        json.loads(odradek("normalize", "--dialect", "openai-chat", *options, str(recorded)).out)
        for options in ((), ("--split", split))
    )
    assert whole.pop("batches") <= cut.pop("batches")
    assert whole == cut


def test_events_are_told_one_a_line_with_their_file(odradek: Any, recorded: Path) -> None:
    lines = odradek("normalize", "--dialect", "openai-chat", "--events", str(recorded)).lines
    events = [json.loads(line) for line in lines]
    assert [event["type"] for event in events] == [
        "start",
        "thinking_delta",
        "text_delta",
        "toolcall_delta",
        "done",
    ]
    assert {event["file"] for event in events} == {str(recorded)}


def test_a_stream_that_holds_an_error_is_told_and_exits_with_0(odradek: Any, tmp_path: Path) -> None:
    path = tmp_path / "broken.sse"
    path.write_text(f"data: {json.dumps(DELTA)}\n\n")
    done = odradek("normalize", "--dialect", "openai-chat", "--then", "connection_reset", str(path), "-")
    broken, nothing = (json.loads(line) for line in done.lines)
    assert done.code == 0
    assert (broken["text"], broken["finish_reason"], broken["error"]["code"]) == ("Hi", None, "connection_reset")
    assert nothing["error"]["retryable"] is True


@pytest.mark.parametrize(
    "wrong",
    [
        ("--dialect", "klingon"),
        ("--dialect", "google", "--split", "0"),
        ("--dialect", "google", "--split", "random:"),
        ("--dialect", "google", "--then", "later"),
        ("--dialect", "google", "--provider", "nobody"),
        ("--dialect", "google", "--known-tools", "/no/such/file"),
        ("--dialect", "google", "/no/such/file"),
        (),
    ],
)
def test_wrong_usage_exits_with_2_and_a_remedy(wrong: tuple[str, ...], odradek: Any, recorded: Path) -> None:
    done = odradek("normalize", *wrong, str(recorded))
    assert done.code == 2
    assert done.err


@pytest.mark.parametrize("tools", [b"\xff", b"{}", b"[1]", b"[" * 100_000])
def test_tools_that_cannot_be_read_exit_with_2(tools: bytes, odradek: Any, recorded: Path, tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(tools)
    done = odradek("normalize", "--dialect", "google", "--known-tools", str(path), str(recorded))
    assert (done.code, "--known-tools" in done.err or "give" in done.err) == (2, True)


def test_a_file_may_have_any_name(odradek: Any, recorded: Path, tmp_path: Path) -> None:
    odd = recorded.rename(tmp_path / "odd\udcff.sse")
    (line,) = odradek("normalize", "--dialect", "openai-chat", str(odd)).lines
    assert json.loads(line)["file"] == str(tmp_path / "odd?.sse")


@pytest.mark.parametrize("split", ["9" * 5_000, "random:\udcff"])
def test_a_cut_that_means_nothing_is_refused(split: str) -> None:
    with pytest.raises(ConfigurationError, match="--split"):
        Request.of(
            dialect="openai-chat",
            split=split,
            then="eof",
            content_type="",
            guards=True,
            known_tools=None,
            provider=None,
        )


def test_a_number_beyond_64_bits_is_told_as_the_model_wrote_it(odradek: Any, tmp_path: Path) -> None:
    call = {"name": "add", "args": {"number": 2**70}}
    event = {"candidates": [{"content": {"parts": [{"functionCall": call}]}, "finishReason": "STOP"}]}
    path = tmp_path / "call.sse"
    path.write_text(f"data: {json.dumps(event)}\n\n")
    done = odradek("normalize", "--dialect", "google", str(path))
    assert json.loads(done.out)["tool_calls"][0]["arguments"] == {"number": 2**70}


@pytest.mark.parametrize("options", [(), ("--events",)])
def test_a_line_is_one_line_for_every_reader_and_moves_no_cursor(
    options: tuple[str, ...], odradek: Any, tmp_path: Path
) -> None:
    text = "a\u2028b\u2029c\u0085d\u009b2Je\u202ef\u007f\U000e0001 日本語 \U0001f469\u200d\U0001f680"
    path = tmp_path / "odd\u2028.sse"
    payload = {"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}
    path.write_text(f"data: {json.dumps(payload, ensure_ascii=False)}\n\n", encoding="utf-8")
    out = odradek("normalize", "--dialect", "openai-chat", *options, str(path)).out
    lines = [json.loads(line) for line in out.splitlines()]
    told = [line.get("text") or line.get("delta") for line in lines]
    assert text in told
    assert "日本語 \U0001f469\u200d\U0001f680" in out
    assert not {"\u2028", "\u2029", "\u0085", "\u009b", "\u202e", "\u007f", "\U000e0001"} & set(out)
