"""Plays OpenAI's responses API, which keeps nothing and gets its encrypted reasoning back.

https://platform.openai.com/docs/api-reference/responses/create, https://platform.openai.com/docs/guides/reasoning
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.provider.turns import script
from tests.provider.turns.demands import arguments, data_url, equal, keys, parameters, sse

IDS = {"look": "call_Lk7RkNSRinyf", "clock": "call_ClYLyTUPXLrg"}
REASONING = {
    "id": "rs_0ca3f5",
    "type": "reasoning",
    "encrypted_content": "gAAAAABencrypted+/reasoning==",
    "summary": [],
}


@dataclass(frozen=True)
class ResponsesPlayer:
    """No summary of thoughts is asked for, so none is shown: there is the encrypted item alone."""

    url: str
    model: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    key_header: str = "authorization"
    continued_url: str | None = None

    def answer(self, body: Any) -> bytes:
        wanted: dict[str, Any] = {
            "model": self.model,
            "instructions": script.SYSTEM,
            "stream": True,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "high"},
        }
        keys(body, {"input", "tools", *wanted})
        for key, value in wanted.items():
            equal(body[key], value, key)
        for tool, declared in zip(body["tools"], (script.LOOK, script.CLOCK), strict=True):
            keys(tool, {"type", "name", "description", "parameters", "strict"}, at="tool")
            equal((tool["type"], tool["name"], tool["strict"]), ("function", declared.name, False), "tool")
            parameters(tool["parameters"], declared.name, "tool.parameters")
        hello, hi, asked, *rest = body["input"]
        equal(hello, {"role": "user", "content": "Ada: hello"}, "input[0]")
        equal(hi, {"role": "assistant", "content": "Hello, Ada."}, "input[1]")
        self._check_shown(asked, script.QUESTION, script.USERS_PICTURE, "input[2]")
        if not rest:
            return self._stream(self._calling(), "resp_1")
        begun = rest[7:]
        self._check_exchange(rest[:7])
        if begun:
            equal(begun, [{"role": "assistant", "content": script.BEGUN}], "what had come already")
        return self.answering(rest=bool(begun))

    def answering(self, *, rest: bool = False) -> bytes:
        return self._stream([self._message("msg_2", [script.REST] if rest else script.ANSWER)], "resp_2")

    def refusal(self, why: str) -> bytes:
        error = {"message": why, "type": "invalid_request_error", "param": None, "code": None}
        return json.dumps({"error": error}).encode()

    def _check_shown(self, item: Any, text: str, picture: bytes, at: str) -> None:
        keys(item, {"role", "content"}, at=at)
        equal(item["role"], "user", f"{at}.role")
        words, shown = item["content"]
        equal(words, {"type": "input_text", "text": text}, f"{at}.content[0]")
        keys(shown, {"type", "image_url", "detail"}, at=f"{at}.content[1]")
        equal((shown["type"], shown["detail"]), ("input_image", "auto"), f"{at}.content[1]")
        data_url(shown["image_url"], picture, f"{at}.content[1].image_url")

    def _check_exchange(self, items: Sequence[Any]) -> None:
        reasoning, said, look, clock, seen, time, shown = items
        equal(reasoning, REASONING, "the reasoning")
        equal(said, {"role": "assistant", "content": script.TEXT}, "the text before the calls")
        for call, name in ((look, "look"), (clock, "clock")):
            keys(call, {"type", "call_id", "name", "arguments"}, at="a call")
            equal((call["type"], call["call_id"], call["name"]), ("function_call", IDS[name], name), "a call")
            arguments(call["arguments"], name, "a call's arguments")
        for output, name, result in ((seen, "look", script.SEEN), (time, "clock", script.TIME)):
            keys(output, {"type", "call_id", "output"}, at="an output")
            equal((output["type"], output["call_id"]), ("function_call_output", IDS[name]), "an output")
            equal(json.loads(output["output"]), result, "an output")
        self._check_shown(shown, script.NOTE, script.TOOLS_PICTURE, "the tools' picture")

    def _calling(self) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
        """Items with the events between their beginning and their end."""
        made: list[tuple[dict[str, Any], list[dict[str, Any]]]] = [
            ({**REASONING}, []),
            self._message("msg_1", script.SAID),
        ]
        for name, text in (("look", script.ARGS_TEXT), ("clock", "{}")):
            call = {"id": f"fc_{name}", "type": "function_call", "call_id": IDS[name], "name": name, "arguments": text}
            place = {"type": "response.function_call_arguments.delta", "item_id": f"fc_{name}"}
            made.append((call, [{**place, "delta": text[:9]}, {**place, "delta": text[9:]}]))
        return made

    def _message(self, item_id: str, said: Sequence[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        part = {"type": "output_text", "annotations": [], "text": "".join(said)}
        item = {"id": item_id, "type": "message", "role": "assistant", "status": "completed", "content": [part]}
        place = {"type": "response.output_text.delta", "item_id": item_id, "content_index": 0}
        return item, [{**place, "delta": piece} for piece in said]

    def _stream(self, items: Sequence[tuple[dict[str, Any], list[dict[str, Any]]]], response_id: str) -> bytes:
        begun: dict[str, Any] = {"id": response_id, "object": "response", "model": self.model, "status": "in_progress"}
        events: list[dict[str, Any]] = [{"type": "response.created", "response": {**begun, "output": []}}]
        for index, (item, deltas) in enumerate(items):
            # An item that only begins has not got its whole reasoning yet, nor any text or arguments.
            early = {"reasoning": {"encrypted_content": "gAAAAABearly"}, "message": {"content": []}}
            begin = {**item, **early.get(item["type"], {"arguments": ""})}
            events.append({"type": "response.output_item.added", "output_index": index, "item": begin})
            events += [{**delta, "output_index": index} for delta in deltas]
            events.append({"type": "response.output_item.done", "output_index": index, "item": item})
        usage = {
            "input_tokens": 90,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 30,
            "output_tokens_details": {"reasoning_tokens": 12},
            "total_tokens": 120,
        }
        whole = {**begun, "status": "completed", "output": [item for item, _ in items], "usage": usage}
        events.append({"type": "response.completed", "response": whole})
        return b"".join(sse({**event, "sequence_number": number}, event["type"]) for number, event in enumerate(events))
