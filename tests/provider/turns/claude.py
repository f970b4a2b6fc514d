"""Plays Anthropic's messages: roles alternate, signed thinking comes back first and whole, results stand before all else.

https://platform.claude.com/docs/en/api/messages, https://platform.claude.com/docs/en/build-with-claude/extended-thinking
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from services.context.notices import CONTINUE
from tests.provider.turns import script
from tests.provider.turns.demands import demand, equal, keys, parameters, picture, sse, stops

IDS = {"look": "toolu_01Lk", "clock": "toolu_01Cl"}
THINKING = (
    {"type": "thinking", "thinking": script.THOUGHT, "signature": script.SIGNATURE},
    {"type": "redacted_thinking", "data": "EmwKAhgBEgyredacted+/=="},
)
_MOST_BREAKPOINTS = 4
_MOST_STOPS = 64


@dataclass(frozen=True)
class ClaudePlayer:
    """A Claude that thinks by choice and shows its thoughts only where that is asked for."""

    url: str
    model: str
    headers: Mapping[str, str] = field(default_factory=lambda: {"anthropic-version": "2023-06-01"})
    key_header: str = "x-api-key"
    continued_url: str | None = None

    def answer(self, body: Any) -> bytes:
        wanted: dict[str, Any] = {
            "model": self.model,
            "stream": True,
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": "high"},
        }
        keys(body, {"max_tokens", "messages", "system", "tools", *wanted}, {"stop_sequences"})
        stops(body.get("stop_sequences", ["###"]), _MOST_STOPS)
        for key, value in wanted.items():
            equal(body[key], value, key)
        demand(isinstance(body["max_tokens"], int) and body["max_tokens"] > 0, "max_tokens is no number of tokens")
        demand(json.dumps(body).count('"cache_control"') <= _MOST_BREAKPOINTS, "there are too many cache breakpoints")
        equal(_plain(body["system"]), [{"type": "text", "text": script.SYSTEM}], "system")
        for tool, declared in zip(body["tools"], (script.LOOK, script.CLOCK), strict=True):
            keys(tool, {"name", "description", "input_schema"}, {"cache_control"}, at="tool")
            equal(tool["name"], declared.name, "tool.name")
            parameters(tool["input_schema"], declared.name, "tool.input_schema")
        for message in body["messages"]:
            keys(message, {"role", "content"}, at="message")
        roles = [message["role"] for message in body["messages"]]
        demand(roles[0] == roles[-1] == "user", "a user's turn comes first and last")
        demand(all(one != other for one, other in pairwise(roles)), "the roles do not alternate")
        hello, hi, asked, *rest = (_plain(message["content"]) for message in body["messages"])
        equal(hello, [{"type": "text", "text": "Ada: hello"}], "messages[0]")
        equal(hi, [{"type": "text", "text": "Hello, Ada."}], "messages[1]")
        words, label, shown = asked
        equal(words, {"type": "text", "text": script.QUESTION}, "messages[2].content[0]")
        equal(label, {"type": "text", "text": '[Image 1: "cat.png"]'}, "messages[2].content[1]")
        self._check_picture(shown, script.USERS_PICTURE)
        if not rest:
            return self._calling()
        begun = rest[2:]
        self._check_exchange(*rest[:2])
        if begun:
            # This model takes no prefill, so it is asked to go on; an assistant's text ends without blanks.
            words = ({"type": "text", "text": text} for text in (script.BEGUN.rstrip(), CONTINUE))
            equal(begun, [[one] for one in words], "what had come already")
        return self.answering(rest=bool(begun))

    def answering(self, *, rest: bool = False) -> bytes:
        said = [script.REST] if rest else script.ANSWER
        return self._message([_block({"type": "text", "text": ""}, _texts(said))], "end_turn")

    def refusal(self, why: str) -> bytes:
        return json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": why}}).encode()

    def _check_picture(self, block: Any, wanted: bytes) -> None:
        keys(block, {"type", "source"}, at="a picture")
        equal(block["type"], "image", "a picture's type")
        keys(block["source"], {"type", "media_type", "data"}, at="a picture's source")
        equal((block["source"]["type"], block["source"]["media_type"]), ("base64", "image/png"), "a picture's source")
        picture(block["source"]["data"], wanted, "a picture's data")

    def _check_exchange(self, said: Any, answered: Any) -> None:
        wanted = [
            *THINKING,
            {"type": "text", "text": script.TEXT},
            {"type": "tool_use", "id": IDS["look"], "name": "look", "input": script.ARGS},
            {"type": "tool_use", "id": IDS["clock"], "name": "clock", "input": {}},
        ]
        equal(said, wanted, "the assistant's turn")
        look, clock, note, label, shown = answered
        for result, name, response in ((look, "look", script.SEEN), (clock, "clock", script.TIME)):
            keys(result, {"type", "tool_use_id", "content"}, at="a result")
            equal((result["type"], result["tool_use_id"]), ("tool_result", IDS[name]), "a result")
            equal(json.loads(result["content"]), response, "a result's content")
        equal(note, {"type": "text", "text": script.NOTE}, "the note of the tools' picture")
        equal(label, {"type": "text", "text": '[Image 2: "seen.png"]'}, "the label of the tools' picture")
        self._check_picture(shown, script.TOOLS_PICTURE)

    def _calling(self) -> bytes:
        thinking = [{"type": "thinking_delta", "thinking": piece} for piece in script.THOUGHTS]
        signature = [
            {"type": "signature_delta", "signature": piece} for piece in (script.SIGNATURE[:7], script.SIGNATURE[7:])
        ]
        blocks = [
            _block({"type": "thinking", "thinking": "", "signature": ""}, [*thinking, *signature]),
            _block(THINKING[1], []),
            _block({"type": "text", "text": ""}, _texts(script.SAID)),
        ]
        for name, text in (("look", script.ARGS_TEXT), ("clock", "")):
            begin = {"type": "tool_use", "id": IDS[name], "name": name, "input": {}}
            pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", text[:9], text[9:])]
            blocks.append(_block(begin, pieces))
        return self._message(blocks, "tool_use")

    def _message(self, blocks: Sequence[list[dict[str, Any]]], reason: str) -> bytes:
        usage = {
            "input_tokens": 40,
            "cache_creation_input_tokens": 20,
            "cache_read_input_tokens": 30,
            "output_tokens": 1,
        }
        begun = {"id": "msg_01", "type": "message", "role": "assistant", "model": self.model, "content": []}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**begun, "usage": usage}},
            {"type": "ping"},
        ]
        for index, block in enumerate(blocks):
            events += [{**event, "index": index} for event in block]
        delta = {"stop_reason": reason, "stop_sequence": None}
        events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 30}})
        events.append({"type": "message_stop"})
        return b"".join(sse(event, event["type"]) for event in events)


def _plain(content: Any) -> list[Any]:
    """The blocks without their cache breakpoints; a text alone is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [{key: value for key, value in block.items() if key != "cache_control"} for block in content]


def _block(begin: Mapping[str, Any], deltas: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "content_block": begin},
        *({"type": "content_block_delta", "delta": delta} for delta in deltas),
        {"type": "content_block_stop"},
    ]


def _texts(pieces: Sequence[str]) -> list[dict[str, str]]:
    return [{"type": "text_delta", "text": piece} for piece in pieces]
