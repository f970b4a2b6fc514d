"""Tool calls that a model wrote out as text, `name({...})`, become calls.

Only a known tool's name with a parenthesis behind it starts one. What the parentheses hold must be one JSON object, or
nothing where the tool needs no arguments; anything else is prose and released as it came, and so is a call that never
ends. A code span or a fence that holds nothing but calls vanishes with them. Text before a call is released first.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import count

from schemas.prompts import KnownTool
from services.normalizer.events import Event, TextDelta, ToolCallDelta
from services.normalizer.guards.pieces import MAX_CALL_CHARS, append_text
from services.normalizer.guards.tool_anchor import Anchor, Anchors
from services.normalizer.json_prefix import JsonPrefix

_BLANKS = re.compile(r"[ \t\r\n]*")
_BETWEEN = re.compile(r"[ \t\r\n,;]{0,8}")
_TICKS = re.compile(r"`*")
_PROSE = re.compile(r'[()"\n]')
_STRING = re.compile(r'\\(?:.|\Z)|["\n]')


class _Call:
    """A call that is being read: `lead` is its text up to the parenthesis, `pieces` the text behind it."""

    def __init__(self, anchor: Anchor, wrapper: str, lead: str) -> None:
        self.name = anchor.name
        self.wrapper = wrapper
        self.lead = lead
        self.pieces: list[str] = []
        self.size = 0
        self.json = JsonPrefix()


class _Refused:
    """What was taken for a call, up to its balancing parenthesis or the line's end: no call begins in it."""

    def __init__(self, in_string: bool) -> None:
        self._depth = 1
        self._in_string = in_string
        self._escaped = False

    def end(self, text: str, at: int) -> int | None:
        """Where it ends, None if not in this text."""
        if self._escaped and at < len(text):
            self._escaped = False
            at += text[at] != "\n"
        while mark := (_STRING if self._in_string else _PROSE).search(text, at):
            at = mark.end()
            if mark[0] == '"':
                self._in_string = not self._in_string
            elif mark[0] == "\\":
                self._escaped = True
            elif mark[0] in "()":
                self._depth += 1 if mark[0] == "(" else -1
            if mark[0] == "\n" or not self._depth:
                return at
        return None


class VerbatimToolCallParser:
    """Reads one stream. `slots` gives each call a slot that no other call of the stream has."""

    is_idle = False
    """Never: any text may be a call's name, and each text tells where the next one's first word begins."""

    def __init__(self, tools: Iterable[KnownTool], slots: Iterator[int] | None = None) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._anchors = Anchors(self._tools)
        self._slots = count(-1, -1) if slots is None else slots
        self._before = ""
        self._held = ""
        self._call: _Call | None = None
        self._refused: _Refused | None = None
        self._wrapper = ""

    def read(self, event: Event, out: list[Event]) -> None:
        """Append the event; of a text, what is no call, and the calls that it completes."""
        if not isinstance(event, TextDelta):
            out.append(event)
            return
        text = self._before + self._held + event.text
        at = len(self._before)
        self._held = ""
        while at < len(text):
            if self._call is not None:
                at = self._read_call(self._call, text, at, out)
            elif self._refused is not None:
                at = self._read_refused(self._refused, text, at, out)
            elif self._wrapper:
                at = self._read_behind(text, at, out)
            else:
                at = self._read_prose(text, at, out)
            if self._held:
                break
        used = len(text) - len(self._held)
        self._before = text[used - 1 : used]

    def close(self, out: list[Event]) -> None:
        """Append the text that never became a call; the start of a wrapper's end goes with the wrapper."""
        if self._call is not None:
            self._refuse(self._call, out)
        elif not self._wrapper:
            append_text(self._held, out)
        self._held = self._wrapper = ""

    def _read_prose(self, text: str, at: int, out: list[Event]) -> int:
        anchor = self._anchors.find(text, at)
        if anchor is None:
            end = self._anchors.held_from(text, at)
            append_text(text[at:end], out)
            self._held = text[end:]
            return end
        append_text(text[at : anchor.start], out)
        self._call = _Call(anchor, anchor.wrapper, text[anchor.start : anchor.end])
        return anchor.end

    def _read_call(self, call: _Call, text: str, start: int, out: list[Event]) -> int:
        end = min(len(text), start + MAX_CALL_CHARS - call.size)
        at = start
        if not call.json.safe:
            blanks = _BLANKS.match(text, at)
            at = min(blanks.end(), end) if blanks else at
            if at < end and text[at] == ")" and not self._tools[call.name].needs_arguments:
                return self._finish(call, "{}", at, out)
        at = call.json.feed(text, at, end)
        if call.json.whole:
            blanks = _BLANKS.match(text, at)
            closed = min(blanks.end(), end) if blanks else at
            if closed < end and text[closed] == ")":
                call.pieces.append(text[start:at])
                return self._finish(call, "".join(call.pieces).strip(), closed, out)
            at = closed
        call.pieces.append(text[start:at])
        call.size += at - start
        if at < end or call.size == MAX_CALL_CHARS:
            self._refuse(call, out)
        return at

    def _finish(self, call: _Call, arguments: str, parenthesis: int, out: list[Event]) -> int:
        out.append(ToolCallDelta(next(self._slots), name=call.name, arguments=arguments))
        self._call = None
        self._wrapper = call.wrapper
        return parenthesis + 1

    def _refuse(self, call: _Call, out: list[Event]) -> None:
        append_text(call.lead + "".join(call.pieces), out)
        self._call = None
        self._wrapper = ""
        self._refused = _Refused(call.json.in_string)

    def _read_refused(self, refused: _Refused, text: str, at: int, out: list[Event]) -> int:
        end = refused.end(text, at)
        if end is not None:
            self._refused = None
        append_text(text[at:end], out)
        return len(text) if end is None else end

    def _read_behind(self, text: str, at: int, out: list[Event]) -> int:
        """Behind a call in a wrapper: the wrapper's end, or another call, or else the wrapper is text after all."""
        between = _BETWEEN.match(text, at)
        behind = between.end() if between else at
        ticks = _TICKS.match(text, behind)
        after = ticks.end() if ticks else behind
        wanted = self._wrapper.count("`")
        if after == len(text) and after - behind <= wanted:
            self._held = text[at:]
            return len(text)
        if after - behind == wanted:
            self._wrapper = ""
            return after
        if after == behind:
            anchor = self._anchors.match(text, behind)
            if anchor is not None:
                self._call = _Call(anchor, self._wrapper, self._wrapper + text[at : anchor.end])
                return anchor.end
            if self._anchors.may_match(text, behind):
                self._held = text[at:]
                return len(text)
        append_text(self._wrapper, out)
        self._wrapper = ""
        return at
