"""Plays providers that speak chat completions, as strict as the strictest of them.

https://platform.openai.com/docs/api-reference/chat/create. What they differ in is a field each.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.provider.turns import script
from tests.provider.turns.demands import arguments, data_url, demand, equal, keys, parameters, sse, stops

IDS = {"look": "call_00_Lk", "clock": "call_01_Cl"}
DETAILS = (
    {
        "type": "reasoning.text",
        "text": script.THOUGHT,
        "signature": script.SIGNATURE,
        "format": "anthropic-claude-v1",
        "index": 0,
    },
    {"type": "reasoning.encrypted", "data": "ZW5jcnlwdGVk", "id": "rs_1", "format": "openai-responses-v1", "index": 1},
)
"""A router's reasoning as it must come back; the text and its signature come in pieces."""

_COMMON = frozenset({"model", "messages", "stream", "stream_options"})
_UNSEEN = '[System: An image ("seen.png") is not shown: this model takes no images.]'


@dataclass(frozen=True)
class ChatPlayer:
    """`asks` are the keys of the body that must be there with these values, `takes` those that may have any.

    `most_stops`: how many stop strings there may be. `sees`, `calls`: whether the model takes pictures and tools.
    `reasons_in`: where thoughts stand in the stream, and where they must come back; None: they are not shown. `signs`: calls
    bear Gemini's signatures. `usage_apart`: usage comes in a chunk of its own. `marks`: the turn that is
    gone on with is marked.
    """

    url: str
    model: str
    asks: Mapping[str, Any]
    takes: frozenset[str] = frozenset()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    most_stops: int = 4
    sees: bool = True
    calls: bool = True
    reasons_in: Literal["reasoning_content", "reasoning_details"] | None = None
    signs: bool = False
    usage_apart: bool = True
    marks: bool = False
    continued_url: str | None = None
    key_header: str = "authorization"

    def answer(self, body: Any) -> bytes:
        keys(body, {*_COMMON, *self.asks, *({"tools"} if self.calls else ())}, self.takes)
        wanted: dict[str, Any] = {"model": self.model, "stream": True, "stream_options": {"include_usage": True}}
        for key, value in (wanted | {**self.asks}).items():
            equal(body[key], value, key)
        stops(body.get("stop", ["\n"]), self.most_stops)
        if self.calls:
            self._check_tools(body["tools"])
        system, hello, hi, asked, *rest = body["messages"]
        equal(system, {"role": "system", "content": script.SYSTEM}, "messages[0]")
        equal(hello, {"role": "user", "content": "Ada: hello"}, "messages[1]")
        equal(hi, {"role": "assistant", "content": "Hello, Ada."}, "messages[2]")
        self._check_shown(asked, script.QUESTION, script.USERS_PICTURE, script.UNSEEN, "messages[3]")
        if not rest:
            return self._begun() + (self._calling() if self.calls else self._end("stop"))
        if not self.calls:
            self._check_told(rest)
            return self.answering()
        begun = rest[4:]
        self._check_exchange(rest[:4])
        if begun:
            mark = {"prefix": True} if self.marks else {}
            equal(begun, [{"role": "assistant", "content": script.BEGUN, **mark}], "what had come already")
        return self.answering(rest=bool(begun))

    def answering(self, *, rest: bool = False) -> bytes:
        said = [script.REST] if rest else script.ANSWER
        return b"".join(self._chunk({"content": piece}) for piece in said) + self._end("stop")

    def refusal(self, why: str) -> bytes:
        error = {"message": why, "type": "invalid_request_error", "param": None, "code": None}
        return json.dumps({"error": error}).encode()

    def _check_tools(self, tools: Any) -> None:
        equal(len(tools), 2, "the number of tools")
        for tool, declared in zip(tools, (script.LOOK, script.CLOCK), strict=True):
            keys(tool, {"type", "function"}, at="tool")
            equal(tool["type"], "function", "tool.type")
            keys(tool["function"], {"name", "description", "parameters"}, at="tool.function")
            equal(tool["function"]["name"], declared.name, "tool.function.name")
            parameters(tool["function"]["parameters"], declared.name, "tool.function.parameters")

    def _check_shown(self, message: Any, text: str, picture: bytes, unseen: str, at: str) -> None:
        """A user's text and a picture; where the model is blind a notice in the picture's place."""
        keys(message, {"role", "content"}, at=at)
        equal(message["role"], "user", f"{at}.role")
        if not self.sees:
            equal(message["content"], f"{text}\n{unseen}", f"{at}.content")
            return
        words, shown = message["content"]
        equal(words, {"type": "text", "text": text}, f"{at}.content[0]")
        keys(shown, {"type", "image_url"}, at=f"{at}.content[1]")
        equal(shown["type"], "image_url", f"{at}.content[1].type")
        keys(shown["image_url"], {"url"}, {"detail"}, at=f"{at}.content[1].image_url")
        data_url(shown["image_url"]["url"], picture, f"{at}.content[1].image_url.url")

    def _check_exchange(self, messages: Sequence[Any]) -> None:
        said, look, clock, shown = messages
        also = {
            "reasoning_content": {"reasoning_content"},
            "reasoning_details": {"reasoning_details"},
            None: set[str](),
        }
        keys(said, {"role", "content", "tool_calls", *also[self.reasons_in]}, at="the assistant's turn")
        equal((said["role"], said["content"]), ("assistant", script.TEXT), "the assistant's turn")
        if self.reasons_in == "reasoning_content":
            equal(said["reasoning_content"], script.THOUGHT, "reasoning_content")
        elif self.reasons_in == "reasoning_details":
            equal(said["reasoning_details"], [*DETAILS], "reasoning_details")
        equal([call.get("function", {}).get("name") for call in said["tool_calls"]], ["look", "clock"], "tool_calls")
        for call in said["tool_calls"]:
            name = call["function"]["name"]
            signed = {"extra_content"} if self.signs and name == "look" else set[str]()
            keys(call, {"id", "type", "function", *signed}, at="a call")
            equal((call["id"], call["type"]), (IDS[name], "function"), "a call")
            keys(call["function"], {"name", "arguments"}, at="a call's function")
            arguments(call["function"]["arguments"], name, "a call's arguments")
            if signed:
                wanted = {"google": {"thought_signature": script.SIGNATURE}}
                equal(call["extra_content"], wanted, "a call's signature")
        for answer, name, result in ((look, "look", script.SEEN), (clock, "clock", script.TIME)):
            keys(answer, {"role", "tool_call_id", "content"}, at="a result")
            equal((answer["role"], answer["tool_call_id"]), ("tool", IDS[name]), "a result")
            demand(isinstance(answer["content"], str), "a result's content is no text")
            equal(json.loads(answer["content"]), result, "a result's content")
        self._check_shown(shown, script.NOTE, script.TOOLS_PICTURE, _UNSEEN, "the tools' picture")

    def _check_told(self, messages: Sequence[Any]) -> None:
        """Calls of another model, as text for one that calls no tools."""
        said, told = messages
        equal(said, {"role": "assistant", "content": script.TEXT}, "the assistant's turn")
        look, note, shown, clock = told["content"]
        for part, name, args, result in ((look, "look", script.ARGS, script.SEEN), (clock, "clock", {}, script.TIME)):
            words = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in (args, result)]
            wanted = f"[System: The tool {name} was called with {words[0]} and answered {words[1]}]"
            equal(part, {"type": "text", "text": wanted}, "a call that is told")
        self._check_shown(
            {**told, "content": [note, shown]}, script.NOTE, script.TOOLS_PICTURE, _UNSEEN, "the tools' picture"
        )

    def _begun(self) -> bytes:
        """Thoughts, and the text before the calls."""
        events = [b": PROCESSING\n\n", self._chunk({"role": "assistant", "content": ""})]
        for piece in script.THOUGHTS:
            if self.reasons_in == "reasoning_content":
                events.append(self._chunk({"content": None, "reasoning_content": piece}))
            elif self.reasons_in == "reasoning_details":
                part = {**DETAILS[0], "text": piece, "signature": None}
                events.append(self._chunk({"content": "", "reasoning": piece, "reasoning_details": [part]}))
        if self.reasons_in == "reasoning_details":
            signed = {**DETAILS[0], "text": ""}
            events.append(self._chunk({"content": "", "reasoning_details": [signed]}))
            events.append(self._chunk({"content": "", "reasoning_details": [DETAILS[1]]}))
        return b"".join([*events, *(self._chunk({"content": piece}) for piece in script.SAID)])

    def _calling(self) -> bytes:
        events: list[bytes] = []
        for index, (name, text) in enumerate((("look", script.ARGS_TEXT), ("clock", "{}"))):
            call: dict[str, Any] = {"id": IDS[name], "type": "function", "function": {"name": name, "arguments": ""}}
            if self.signs and name == "look":
                call["extra_content"] = {"google": {"thought_signature": script.SIGNATURE}}
            events.append(self._chunk({"tool_calls": [{"index": index, **call}]}))
            for piece in (text[:9], text[9:]):
                events.append(self._chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
        return b"".join(events) + self._end("tool_calls")

    def _end(self, reason: str) -> bytes:
        usage = {
            "prompt_tokens": 90,
            "completion_tokens": 30,
            "total_tokens": 120,
            "completion_tokens_details": {"reasoning_tokens": 12},
        }
        if self.usage_apart:
            return self._chunk({}, reason) + self._told({"choices": [], "usage": usage}) + b"data: [DONE]\n\n"
        return self._chunk({}, reason, usage) + b"data: [DONE]\n\n"

    def _chunk(self, delta: Any, reason: str | None = None, usage: Any = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
        return self._told({"choices": [choice], "usage": usage})

    def _told(self, chunk: Mapping[str, Any]) -> bytes:
        head = {"id": "gen-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": self.model}
        return sse({**head, **chunk})
