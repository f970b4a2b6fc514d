"""Plays NovelAI's completions for GLM: one prompt with role tags, in which pictures are told of and calls are XML.

https://text.novelai.net/docs, https://huggingface.co/zai-org/GLM-4.6/blob/main/chat_template.jinja. The stream has text
alone, with thoughts and calls between tags, and counts no tokens.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.provider.turns import script
from tests.provider.turns.demands import demand, equal, keys, sse


def _talk(directive: str = "") -> str:
    """The dialogue; a directive stands behind each user's words."""
    question = f"{script.QUESTION}\n{script.UNSEEN}{directive}"
    hello = f"Ada: hello{directive}\n<|assistant|>\n<think></think>\nHello, Ada."
    return f"<|user|>\n{hello}\n<|user|>\n{question}"


_CALLS = (
    *("<tool_call>look\n<arg_key>", "what</arg_key>\n<arg_value>the café\n", '"3"</arg_value>\n'),
    *("<arg_key>zoom</arg_key>\n<arg_value>2</arg_value>\n</tool_call>", "\n<tool_call>", "clock\n</tool_call>"),
)
_RESULTS = """<|observation|>
<tool_response>
{"seen":"a cat 猫"}
</tool_response>
<tool_response>
{"time":"noon"}
</tool_response>"""
_UNSEEN = '[System: An image ("seen.png") is not shown: this model takes no images.]'
_CALLED = f"{script.TEXT.strip()}\n{''.join(_CALLS)}"
_EXCHANGE = f"\n<|assistant|>\n<think></think>\n{_CALLED}\n{_RESULTS}\n<|user|>\n{script.NOTE}\n{_UNSEEN}"


@dataclass(frozen=True)
class GlmPlayer:
    """The model thinks unless it is told not to, so nothing of the body speaks of thinking."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    key_header: str = "authorization"
    continued_url: str | None = None

    def answer(self, body: Any) -> bytes:
        sampling = {"temperature", "top_p", "top_k", "presence_penalty"}
        keys(body, {"model", "prompt", "stream", "max_tokens", "stop"}, sampling)
        equal((body["model"], body["stream"]), ("glm-4-6", True), "model and stream")
        head, begin, conversation = body["prompt"].partition("<|user|>\n")
        demand(head.startswith("[gMASK]<sop><|system|>\n"), "the prompt does not begin as the template does")
        demand(f"<|system|>\n{script.SYSTEM}\n" in head, "the system text is missing")
        for tool in (script.LOOK, script.CLOCK):
            declared = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            demand(json.dumps(declared, separators=(",", ":")) in head, f"{tool.name} is not on offer")
        end = "\n<|assistant|>"
        if begin + conversation == _talk() + end:
            thought = [f"<think>{script.THOUGHTS[0]}", f"{script.THOUGHTS[1]}</think>\n"]
            return self._stream([*thought, *script.SAID, "\n", *_CALLS])
        if conversation.endswith(script.BEGUN):
            # A reply that has begun is not thought about again.
            begun = f"{end}\n<think></think>\n{script.BEGUN}"
            equal(begin + conversation, _talk("/nothink") + _EXCHANGE + begun, "the conversation")
            return self.answering(rest=True)
        equal(begin + conversation, _talk() + _EXCHANGE + end, "the conversation")
        return self.answering()

    def answering(self, *, rest: bool = False) -> bytes:
        return self._stream([script.REST] if rest else ["<think></think>", *script.ANSWER])

    def refusal(self, why: str) -> bytes:
        return json.dumps({"statusCode": 400, "message": why}).encode()

    def _stream(self, pieces: list[str]) -> bytes:
        head = {"id": "cmpl-1", "object": "text_completion", "model": "glm-4-6"}
        events = [sse({**head, "choices": [{"index": 0, "text": piece, "finish_reason": None}]}) for piece in pieces]
        events.append(sse({**head, "choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}))
        return b"".join(events) + b"data: [DONE]\n\n"
