"""Reasoning of chat streams: one channel out of several fields, and the parts to send back.

https://openrouter.ai/docs/use-cases/reasoning-tokens: `reasoning_details` come in pieces, and must be returned in their
order and unchanged; pieces that follow each other with the same type and index are one part. DeepSeek wants
`reasoning_content` back with tool results (https://api-docs.deepseek.com/guides/thinking_mode), Mistral its thinking
parts (https://docs.mistral.ai/capabilities/reasoning).
"""

from collections.abc import Sequence
from typing import Any

from schemas.chunks import ThoughtKind
from services.normalizer.decode import is_array, is_object, word
from services.normalizer.events import Event, ReplayPart, ThinkingDelta

_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary", "reasoning.encrypted": "data"}


class Reasoning:
    """The reasoning of one stream."""

    def __init__(self, *, read_details: bool) -> None:
        self._read_details = read_details
        self._plain = False
        self._content: list[str] = []
        self._thinking: list[str] = []
        self._details: list[tuple[dict[str, Any], list[str]]] = []

    def read(self, content: object, plain: object, details: Sequence[object], out: list[Event]) -> None:
        """Append the thinking that `reasoning_content`, `reasoning` and `reasoning_details` of one delta mean.

        Plain fields repeat each other, and the details repeat them, so then the details are only kept to be sent back.
        """
        text, kind, signature = self._keep_all(details) if details else ("", "raw", "")
        if isinstance(content, str) and content:
            self._content.append(content)
        said = content or plain
        if said and isinstance(said, str):
            self._plain = True
            text = said
        elif self._plain or not self._read_details:
            text = ""
        if text or signature:
            out.append(ThinkingDelta(text, kind, signature))

    def read_part(self, part: dict[str, Any], out: list[Event]) -> None:
        """Append the thinking in a part of a content list."""
        thinking = part.get("thinking")
        for piece in thinking if is_array(thinking) else [thinking]:
            text = piece if isinstance(piece, str) else word(piece, "text")
            if text:
                self._thinking.append(text)
                out.append(ThinkingDelta(text))

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
