"""Incremental segmentation: the reply's text, fed in any pieces, becomes the messages that show it.

Every decision is made at a newline or when the pending text passes the segment limit of the turn's rules, and looks at
nothing else, so the cuts depend on the text alone, never on how the provider cut it into deltas. Each code point is
looked at a bounded number of times, and at most the segment limit of them are kept.

Fences follow what Discord shows: a run of three or more backticks opens a code block or closes the open one. A cut
inside a block closes it and opens it again, with its language, in the next message.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from services.orchestrator.graphemes import safe_cut
from services.orchestrator.rules import Rules

_FENCE = "```"
_RUN = re.compile(r"`{3,}")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.\-]{1,32}")
_CLOSING = re.compile(r"\s*`{3,}")
_BARE_OPENING = re.compile(r"(?:\A|\n)[^\S\n]*`{3,}[A-Za-z0-9_+#.\-]*\s*\Z")
_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]*_]*\s+|[。！？][」』”’)\]]*")
_SPACE = re.compile(r"\s+")


class Buffer(BaseModel):
    """The text that has come but is not given out, and where the scan of it stands.

    `start`: where the next segment's range begins in the reply; `position`: where `pending` begins, beyond `start` only
    after a run of spaces beyond the limit was dropped. `line`: index of the line being read. `code` and `head_code`:
    the language of the block that is open there and at the beginning of `pending` ("" if it names none), None outside.
    `fence`: index of the line that opened the block, None where there is none or a cut there would be inside another;
    `body`: index of the block's first line. `blank`: the lines before `line` show nothing.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    start: int = 0
    position: int = 0
    pending: str = ""
    line: int = 0
    head_code: str | None = None
    code: str | None = None
    fence: int | None = None
    body: int = 0
    blank: bool = True


@dataclass(frozen=True, slots=True)
class Segment:
    """One message's text, never blank.

    `source` is the part of the reply that it shows, and ends at code point `end`; the ranges `[start, end)` of segments
    that follow each other are contiguous. `text` is `source` without blank edges, with the fence marks that it needs.
    """

    text: str
    source: str
    start: int
    end: int


def feed(buffer: Buffer, text: str, rules: Rules) -> tuple[Buffer, tuple[Segment, ...]]:
    """The buffer after `text`, and the segments that are complete by now."""
    scan = _Scan(buffer, text, rules)
    segments = tuple(scan.run())
    return scan.rest(), segments


def flush(buffer: Buffer, rules: Rules) -> tuple[Buffer, tuple[Segment, ...]]:
    """Give out what is pending, an open block closed; blank text makes no segment and stays outside of all ranges."""
    scan = _Scan(buffer, "", rules)
    segments = tuple(scan.finish())
    return scan.rest(), segments


def discard(buffer: Buffer) -> Buffer:
    """Forget what was not given out: the next text follows the last segment, in the block that was open there."""
    return Buffer(start=buffer.start, position=buffer.start, head_code=buffer.head_code, code=buffer.head_code)


class _Scan:
    """One pass over the pending text; all indexes are into `text`, and `head` is where the next segment begins."""

    def __init__(self, buffer: Buffer, more: str, rules: Rules) -> None:
        self.rules = rules
        self.text = buffer.pending + more
        self.seen = len(buffer.pending)
        self.head = 0
        self.offset = buffer.position
        self.start = buffer.start
        self.line = buffer.line
        self.head_code = buffer.head_code
        self.code = buffer.code
        self.fence = buffer.fence
        self.body = buffer.body
        self.blank = buffer.blank

    def rest(self) -> Buffer:
        return Buffer(
            start=self.start,
            position=self.offset + self.head,
            pending=self.text[self.head :],
            line=self.line - self.head,
            head_code=self.head_code,
            code=self.code,
            fence=None if self.fence is None else self.fence - self.head,
            body=max(self.body - self.head, 0),
            blank=self.blank,
        )

    def run(self) -> Iterator[Segment]:
        while True:
            limit = self.head + self.rules.segment_limit
            newline = self.text.find("\n", self.seen, limit)
            if newline >= 0:
                yield from self._end_line(newline)
            elif len(self.text) > limit:
                self.seen = max(self.seen, limit)
                yield from self._cut_overlong(limit)
            else:
                self.seen = len(self.text)
                return

    def finish(self) -> Iterator[Segment]:
        end = len(self.text)
        self._read(end)
        if not self.blank:
            yield from self._give(end)

    def _end_line(self, newline: int) -> Iterator[Segment]:
        empty = not self.text[self.line : newline].strip()
        self._read(newline)
        self.line = self.seen = newline + 1
        if self.code is None and not self.blank and (empty or self.line - self.head >= self.rules.line_group):
            yield from self._give(self.line)

    def _read(self, end: int) -> None:
        """Go on from `line` to `end`, following the fences and noting whether there is anything to show."""
        part = self.text[self.line : end]
        if part.strip() and not (self.blank and self.head_code is not None and _CLOSING.fullmatch(part.rstrip())):
            self.blank = False
        begun_outside = self.code is None
        for run in _RUN.finditer(part):
            if self.code is None:
                language = part[run.end() :].rstrip()
                self.code = language if _LANGUAGE.fullmatch(language) else ""
                self.fence, self.body = self.line if begun_outside else None, end + 1
            else:
                self.code = self.fence = None
        self.line = end

    def _cut_overlong(self, limit: int) -> Iterator[Segment]:
        if self.blank and not self.text[self.line : limit].strip():
            self._move(limit)
            return
        if self.fence is not None and self.text[self.head : self.fence].strip():
            yield from self._give(self.fence)
            return
        cut = self._best_cut(limit)
        if cut > self.line:
            self._read(cut)
        yield from self._give(cut)

    def _best_cut(self, limit: int) -> int:
        """An index in `(head, limit]`: after a line of code, a sentence, a word or a line, else wherever it harms least."""
        if self.code is not None and self.line > max(self.body, self.head):
            return self.line
        window = max(self.head + self.rules.segment_limit // 2, self.line)
        for pattern in (_SPACE,) if self.code is not None else (_SENTENCE_END, _SPACE):
            ends = [found.end() for found in pattern.finditer(self.text, window, limit)]
            if ends:
                return ends[-1]
        if self.code is None and self.line > self.head and not self.blank:
            return self.line
        return safe_cut(self.text, max(self.line, self.head), limit)

    def _give(self, cut: int) -> Iterator[Segment]:
        """The segment up to `cut`, which is `line`, or the line that opened the block which is still open."""
        before_block = cut == self.fence
        source = self.text[self.head : cut]
        text = _shown(source, self.head_code, None if before_block else self.code)
        end = self.offset + cut
        if text:
            yield Segment(text=text, source=source, start=self.start, end=end)
            self.start = end
        if before_block:
            self.head, self.head_code = cut, None
        else:
            self._move(cut)

    def _move(self, head: int) -> None:
        """Begin anew at `head`, which everything before has been read up to, inside the block that is open there."""
        self.head = self.line = self.body = head
        self.head_code, self.fence, self.blank = self.code, None, True


def _shown(source: str, head_code: str | None, tail_code: str | None) -> str:
    """`source` as a message of its own: blank edges trimmed, blocks that reach over its edges opened and closed."""
    head = ""
    if head_code is not None:
        closing = _CLOSING.match(source)
        if closing:
            source = source[closing.end() :]
        else:
            head = f"{_FENCE}{head_code}\n"
    if tail_code is not None:
        bare = _BARE_OPENING.search(source)
        if bare:
            source, tail_code = source[: bare.start()], None
    body = _BLANK_LINES.sub("", source).rstrip()
    if not body:
        return ""
    return f"{head}{body}\n{_FENCE}" if tail_code is not None else head + body
