"""Reasoning details of chat streams: their text, and the parts to send back.

https://openrouter.ai/docs/use-cases/reasoning-tokens: `reasoning_details` come in pieces, and must be returned in their
order and unchanged. Pieces that follow each other with the same type and index are one part.
"""

from typing import Any

from schemas.chunks import ThoughtKind
from services.normalizer.decode import is_object
from services.normalizer.events import ReplayPart

_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary", "reasoning.encrypted": "data"}


class ReasoningDetails:
    """Gathers the details of one stream."""

    def __init__(self) -> None:
        self._parts: list[tuple[dict[str, Any], list[str]]] = []

    def add(self, details: list[object]) -> tuple[str, ThoughtKind]:
        """The readable text of these pieces, and whether it is a summary."""
        text: list[str] = []
        kind: ThoughtKind = "raw"
        for piece in details:
            if not is_object(piece):
                continue
            field = _GROWING.get(str(piece.get("type")), "")
            value = piece.get(field)
            grown = value if isinstance(value, str) else ""
            self._keep(piece, field, grown)
            if field in ("text", "summary"):
                text.append(grown)
            if field == "summary":
                kind = "summary"
        return "".join(text), kind

    def parts(self) -> list[ReplayPart]:
        """The parts in order, pieces joined."""
        out: list[ReplayPart] = []
        for part, pieces in self._parts:
            field = _GROWING.get(str(part.get("type")), "")
            out.append(ReplayPart({**part, field: "".join(pieces)} if field else part))
        return out

    def _keep(self, piece: dict[str, Any], field: str, grown: str) -> None:
        last = self._parts[-1] if self._parts else None
        if field and last and all(last[0].get(key) == piece.get(key) for key in ("type", "index", "id")):
            last[1].append(grown)
            last[0].update({key: value for key, value in piece.items() if value is not None and key != field})
        else:
            self._parts.append((dict(piece), [grown]))
