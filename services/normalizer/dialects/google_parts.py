"""The parts of a Google candidate: text, thoughts, calls, tools of the provider, and what must go back signed."""

from typing import Any, cast

from schemas.chunks import ServerToolCall
from services.normalizer.decode import is_array, is_object, word
from services.normalizer.dialects.google_args import PartialArguments
from services.normalizer.events import Event, ReplayPart, TextDelta, ThinkingDelta, ToolCallDelta

_RUN = {"executableCode": "code_execution", "toolCall": ""}


class Parts:
    """The parts of one stream."""

    def __init__(self) -> None:
        self._slots = 0
        self._open: PartialArguments | None = None
        self._open_call: dict[str, Any] = {}
        self._replay: list[tuple[dict[str, Any], list[str]]] = []
        self._goes_back = False
        self._plain: list[str] | None = None
        """The pieces of the last part to send back, if it is plain text, which the next text continues."""

    def read(self, parts: list[dict[str, Any]], out: list[Event]) -> bool:
        """Append what these parts say. Whether one of them had more than text, and so is kept as the object that it is."""
        is_kept = False
        for part in parts:
            text = part.get("text")
            if isinstance(text, str) and len(part) == 1:
                if self._plain is None:
                    self._plain = self._keep(part, [text])
                else:
                    self._plain.append(text)
                if text:
                    out.append(TextDelta(text))
            else:
                self._read_other(part, text, out)
                is_kept = True
        return is_kept

    def close(self, out: list[Event]) -> None:
        """Append a call that never closed, cut where it was cut, and the parts to send back, if any is signed."""
        if self._open is not None:
            out.append(ToolCallDelta(self._slots - 1, arguments=self._open.cut()))
            self._open = None
        if not self._goes_back:
            return
        for part, pieces in self._replay:
            out.append(
                ReplayPart(part if len(pieces) == 1 or "text" not in part else {**part, "text": "".join(pieces)})
            )

    def _read_other(self, part: dict[str, Any], text: object, out: list[Event]) -> None:
        signature: Any = part.get("thoughtSignature")
        if not (signature and isinstance(signature, str)):
            signature = part.get("thought_signature")
            if not isinstance(signature, str):
                signature = ""
        call: Any = part.get("functionCall")
        if call is None:
            call = part.get("function_call")
        if isinstance(call, dict):
            if isinstance(text, str) and text:
                self._read_text({key: part[key] for key in ("text", "thought") if key in part}, text, "", out)
            self._read_call(cast("dict[str, Any]", call), part, signature, out)
            return
        if isinstance(text, str):
            self._read_text(part, text, signature, out)
            return
        if part:
            self._keep(part, [])
            for name, tool in _RUN.items():
                if is_object(ran := part.get(name)):
                    out.append(_server_tool(name, tool, ran))
                    self._goes_back = True
        if signature:
            out.append(ThinkingDelta("", "summary", signature))

    def _read_text(self, part: dict[str, Any], text: str, signature: str, out: list[Event]) -> None:
        self._grow(part, text)
        if part.get("thought") is True:
            if text or signature:
                out.append(ThinkingDelta(text, "summary", signature))
            return
        if text:
            out.append(TextDelta(text))
        if signature:
            out.append(ThinkingDelta("", "summary", signature))

    def _read_call(self, call: dict[str, Any], part: dict[str, Any], signature: str, out: list[Event]) -> None:
        name = word(call, "name")
        if name:
            self._finish_open(out)
            self._slots += 1
            given = call.get("args")
            named: dict[str, Any] = {"id": call["id"], "name": name} if call.get("id") else {"name": name}
            kept: dict[str, Any] = {"functionCall": named}
            if signature:
                kept["thoughtSignature"] = signature
            self._keep(kept, [])
            text = given if isinstance(given, str) else ""
            if call.get("willContinue") is not True and "partialArgs" not in call:
                named["args"] = whole = given if is_object(given) else {}
                out.append(ToolCallDelta(self._slots - 1, word(call, "id"), name, text, whole, signature))
                return
            out.append(ToolCallDelta(self._slots - 1, word(call, "id"), name, text, signature=signature))
            self._open = PartialArguments(given)
            self._open_call = kept
        elif self._open is None:
            return
        elif signature:
            self._open_call["thoughtSignature"] = signature
            self._goes_back = True
            out.append(ToolCallDelta(self._slots - 1, signature=signature))
        if is_array(pieces := call.get("partialArgs")):
            for piece in pieces:
                self._open.add(piece)
        if call.get("willContinue") is not True:
            self._finish_open(out)

    def _finish_open(self, out: list[Event]) -> None:
        if self._open is None:
            return
        arguments = self._open.whole()
        self._open = None
        self._open_call["functionCall"]["args"] = arguments
        out.append(ToolCallDelta(self._slots - 1, given=arguments))

    def _grow(self, part: dict[str, Any], text: str) -> None:
        """Keep a text that has more than text; unsigned thoughts that follow each other are one part."""
        if len(part) == 2 and "thought" in part and self._replay:
            last, pieces = self._replay[-1]
            if last.keys() == part.keys():
                pieces.append(text)
                return
        self._keep(part, [text])

    def _keep(self, part: dict[str, Any], pieces: list[str]) -> list[str]:
        """Keep a part; returns the pieces of its text, to which more may be added."""
        self._replay.append((part, pieces))
        self._plain = None
        if "thoughtSignature" in part:
            self._goes_back = True
        return pieces


def _server_tool(kind: str, tool: str, ran: dict[str, Any]) -> ServerToolCall:
    args: Any = ran.get("args") if kind == "toolCall" else {key: value for key, value in ran.items() if key != "id"}
    return ServerToolCall(id=word(ran, "id"), type=kind, name=tool or word(ran, "toolType") or kind, args=args)
