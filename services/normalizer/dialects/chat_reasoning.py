"""Reasoning of chat streams: one channel out of several fields, and the parts to send back.

https://openrouter.ai/docs/use-cases/reasoning-tokens: `reasoning_details` come in pieces, and must be returned in their
order and unchanged; pieces that follow each other with the same type and index are one part. DeepSeek wants
`reasoning_content` back with tool results (https://api-docs.deepseek.com/guides/thinking_mode), Mistral its thinking
parts (https://docs.mistral.ai/capabilities/reasoning). What else there is is told and not sent back: `reasoning_text`
(Copilot, https://github.com/BerriAI/litellm/issues/35021), `thinking`, LiteLLM's `thinking_blocks`
(https://docs.litellm.ai/docs/reasoning_content), and reasoning parts of content lists
(https://learn.microsoft.com/azure/databricks/machine-learning/model-serving/query-reason-models).
"""

from collections.abc import Sequence
from typing import Any

from schemas.chunks import ThoughtKind
from services.normalizer.decode import is_array, is_object, word
from services.normalizer.dialects.chat_wire import Delta
from services.normalizer.events import Event, ReplayPart, ThinkingDelta

_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary", "reasoning.encrypted": "data"}


class Reasoning:
    """The reasoning of one stream."""

    def __init__(self, *, read_details: bool) -> None:
        self._read_details = read_details
        self._told = False
        self._told_apart = False
        self._paired: list[str] = []
        self._paired_size = 0
        self._content: list[str] = []
        self._thinking: list[str] = []
        self._details: list[tuple[dict[str, Any], list[str]]] = []

    def read(self, delta: Delta, out: list[Event]) -> None:
        """Append the thinking that the fields of one delta mean.

        Plain fields repeat each other, and the details repeat them, so of what comes together one is told. Details that
        come alone are told unless they repeat what came in pairs, or plain text came alone before, which they may repeat.
        Blocks repeat what any other field told before: they may come whole at the end
        (https://github.com/BerriAI/litellm/pull/31022).
        """
        details, blocks = delta.reasoning_details, delta.thinking_blocks
        text, kind, signature = self._keep_all(details) if details else ("", "raw", "")
        if isinstance(delta.reasoning_content, str) and delta.reasoning_content:
            self._content.append(delta.reasoning_content)
        plain = _text(delta.reasoning_content) or _text(delta.reasoning) or _text(delta.reasoning_text)
        plain = plain or _text(delta.thinking)
        if plain:
            if text:
                self._paired.append(plain)
                self._paired_size += len(plain)
            else:
                self._told_apart = True
            text = plain
        elif self._told_apart or not self._read_details or self._is_repeated(text):
            text = ""
        self._told = self._told or bool(text)
        if blocks:
            text = text if self._told else "".join([word(block, "thinking") for block in blocks])
            signature = signature or "".join([word(block, "signature") for block in blocks])
        if text or signature:
            out.append(ThinkingDelta(text, kind, signature))

    def _is_repeated(self, text: str) -> bool:
        """Whether details that come alone are, as a whole, what came in pairs before."""
        return len(text) == self._paired_size and "".join(self._paired) == text

    def read_part(self, part: dict[str, Any], out: list[Event]) -> None:
        """Append the thinking in a part of a content list."""
        thinking = part.get("thinking")
        for piece in thinking if is_array(thinking) else [thinking]:
            text = _text(piece)
            if text:
                self._thinking.append(text)
                out.append(ThinkingDelta(text))
        if part.get("type") == "reasoning":
            said = word(part, "text")
            if said:
                out.append(ThinkingDelta(said))
            summary = part.get("summary")
            for piece in summary if is_array(summary) else ():
                said, signature = word(piece, "text"), word(piece, "signature")
                if said or signature:
                    out.append(ThinkingDelta(said, "summary", signature))

    def parts(self) -> list[ReplayPart]:
        """What goes back to the provider, in order, pieces joined; details stand for the plain field."""
        out: list[ReplayPart] = []
        if self._content and not self._details:
            out.append(ReplayPart({"type": "reasoning_content", "reasoning_content": "".join(self._content)}))
        if self._thinking:
            thinking = [{"type": "text", "text": "".join(self._thinking)}]
            out.append(ReplayPart({"type": "thinking", "thinking": thinking}))
        for part, pieces in self._details:
            field = _GROWING.get(word(part, "type"), "")
            out.append(ReplayPart({**part, field: "".join(pieces)} if field else part))
        return out

    def _keep_all(self, details: Sequence[object]) -> tuple[str, ThoughtKind, str]:
        """The readable text of these pieces, whether it is a summary, and their signatures."""
        text: list[str] = []
        signatures: list[str] = []
        kind: ThoughtKind = "raw"
        for piece in details:
            if not is_object(piece):
                continue
            field = _GROWING.get(word(piece, "type"), "")
            grown = word(piece, field)
            self._keep(piece, field, grown)
            signatures.append(word(piece, "signature"))
            if field in ("text", "summary"):
                text.append(grown)
            if field == "summary":
                kind = "summary"
        return "".join(text), kind, "".join(signatures)

    def _keep(self, piece: dict[str, Any], field: str, grown: str) -> None:
        last = self._details[-1] if self._details else None
        if field and last and all(last[0].get(key) == piece.get(key) for key in ("type", "index", "id")):
            last[1].append(grown)
            last[0].update({key: value for key, value in piece.items() if value is not None and key != field})
        else:
            self._details.append((dict(piece), [grown]))


def _text(field: object) -> str:
    """The text of a field, which some wrap in an object."""
    return field if isinstance(field, str) else word(field, "text")
