"""Plays Google's generateContent at its three addresses: unknown names are refused, and signed parts come back as they were.

https://ai.google.dev/api/generate-content, https://ai.google.dev/gemini-api/docs/thought-signatures
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.provider.turns import script
from tests.provider.turns.demands import demand, equal, keys, picture, sse, stops

_DATA = ("text", "inlineData", "functionCall", "functionResponse")
_MOST_STOPS = 5
_SCHEMAS = {
    "look": {
        "type": "OBJECT",
        "properties": {"what": {"type": "STRING"}, "zoom": {"type": "INTEGER"}},
        "required": ["what"],
    },
    # A function without parameters states none: an object without properties is refused.
    "clock": None,
}


@dataclass(frozen=True)
class GeminiPlayer:
    """`gives_ids`: calls have ids, as at the Gemini API; where they have none, Vertex knows none in a response either."""

    url: str
    key_header: str
    gives_ids: bool = False
    continued_url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def answer(self, body: Any) -> bytes:
        keys(body, {"contents", "generationConfig", "safetySettings", "systemInstruction", "tools"})
        self._check_options(body)
        for content in body["contents"]:
            keys(content, {"role", "parts"}, at="content")
            demand(content["role"] in ("user", "model"), "a role is unknown")
            self._check_parts(content["parts"])
        hello, hi, asked, *rest = body["contents"]
        equal(hello, {"role": "user", "parts": [{"text": "Ada: hello"}]}, "contents[0]")
        equal(hi, {"role": "model", "parts": [{"text": "Hello, Ada."}]}, "contents[1]")
        self._check_shown(asked, script.QUESTION, script.USERS_PICTURE, "contents[2]")
        if not rest:
            return self._calling()
        begun = rest[3:]
        self._check_exchange(rest[:3])
        if begun:
            equal(begun, [{"role": "model", "parts": [{"text": script.BEGUN}]}], "what had come already")
        return self.answering(rest=bool(begun))

    def answering(self, *, rest: bool = False) -> bytes:
        return self._stream([[{"text": piece}] for piece in ([script.REST] if rest else script.ANSWER)])

    def refusal(self, why: str) -> bytes:
        return json.dumps({"error": {"code": 400, "message": why, "status": "INVALID_ARGUMENT"}}).encode()

    def _check_options(self, body: Any) -> None:
        config = body["generationConfig"]
        keys(config, {"maxOutputTokens", "thinkingConfig"}, {"temperature", "stopSequences"}, at="generationConfig")
        stops(config.get("stopSequences", ["\n"]), _MOST_STOPS)
        equal(config["thinkingConfig"], {"thinkingLevel": "HIGH"}, "thinkingConfig")
        for setting in body["safetySettings"]:
            keys(setting, {"category", "threshold"}, at="safetySettings")
        keys(body["systemInstruction"], {"parts"}, {"role"}, at="systemInstruction")
        equal(body["systemInstruction"]["parts"], [{"text": script.SYSTEM}], "systemInstruction.parts")
        (tools,) = body["tools"]
        keys(tools, {"functionDeclarations"}, at="tools[0]")
        for tool, name in zip(tools["functionDeclarations"], ("look", "clock"), strict=True):
            schema = _SCHEMAS[name]
            keys(tool, {"name", "description", *(() if schema is None else ("parameters",))}, at="a function")
            equal(tool["name"], name, "a function's name")
            equal(tool.get("parameters"), schema, "a function's parameters")

    def _check_parts(self, parts: Sequence[Any]) -> None:
        """Each part says one thing, and responses of functions stand alone in their turn."""
        demand(parts, "a content has no parts")
        for part in parts:
            keys(part, (), (*_DATA, "thought", "thoughtSignature"), at="part")
            demand(part.get("text") != "" or "thoughtSignature" in part, "a part has an empty text parameter")
            demand(len([name for name in _DATA if name in part]) == 1, "a part says not one thing")
        answered = ["functionResponse" in part for part in parts]
        demand(all(answered) or not any(answered), "a function response stands beside other parts")

    def _check_shown(self, content: Any, text: str, wanted: bytes, at: str) -> None:
        equal(content["role"], "user", f"{at}.role")
        words, shown = content["parts"]
        equal(words, {"text": text}, f"{at}.parts[0]")
        keys(shown, {"inlineData"}, at=f"{at}.parts[1]")
        keys(shown["inlineData"], {"mimeType", "data"}, at=f"{at}.parts[1].inlineData")
        equal(shown["inlineData"]["mimeType"], "image/png", f"{at}.parts[1].inlineData.mimeType")
        picture(shown["inlineData"]["data"], wanted, f"{at}.parts[1].inlineData.data")

    def _check_exchange(self, contents: Sequence[Any]) -> None:
        said, answered, shown = contents
        wanted = [
            {"text": script.THOUGHT, "thought": True},
            {"text": script.TEXT},
            {"functionCall": self._call("look", script.ARGS), "thoughtSignature": script.SIGNATURE},
            {"functionCall": self._call("clock", {})},
        ]
        equal(said, {"role": "model", "parts": wanted}, "the model's turn")
        responses = [
            {"functionResponse": {**self._id("look"), "name": "look", "response": script.SEEN}},
            {"functionResponse": {**self._id("clock"), "name": "clock", "response": script.TIME}},
        ]
        equal(answered, {"role": "user", "parts": responses}, "the turn of responses")
        self._check_shown(shown, script.NOTE, script.TOOLS_PICTURE, "the tools' picture")

    def _id(self, name: str) -> dict[str, str]:
        return {"id": f"fc-{name}"} if self.gives_ids else {}

    def _call(self, name: str, args: Any) -> dict[str, Any]:
        return {**self._id(name), "name": name, "args": args}

    def _calling(self) -> bytes:
        parts: list[list[dict[str, Any]]] = [[{"text": piece, "thought": True}] for piece in script.THOUGHTS]
        parts += [[{"text": piece}] for piece in script.SAID]
        look = {"functionCall": self._call("look", script.ARGS), "thoughtSignature": script.SIGNATURE}
        # A call without arguments comes without their key.
        parts.append([look, {"functionCall": {**self._id("clock"), "name": "clock"}}])
        return self._stream(parts)

    def _stream(self, all_parts: Sequence[list[dict[str, Any]]]) -> bytes:
        chunks: list[dict[str, Any]] = [
            {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]} for parts in all_parts
        ]
        end = {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 90, "candidatesTokenCount": 18, "thoughtsTokenCount": 12, "totalTokenCount": 120}
        chunks.append({"candidates": [end], "usageMetadata": usage})
        head = {"modelVersion": "gemini-3-flash-preview", "responseId": "resp-1"}
        return b"".join(sse({**chunk, **head}, eol="\r\n") for chunk in chunks)
