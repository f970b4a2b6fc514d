"""Canonical events become chunks: what a reply is made of, whichever provider it came from."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from schemas.chunks import ProcessedChunk, TextChunk, ThoughtKind, ThoughtLogEntry
from services.normalizer.conclusion import Conclusion
from services.normalizer.events import Cut, End, EndMark, Event, Failed, TextDelta, ThinkingDelta
from services.normalizer.unicode import PairJoiner, is_clean

_ENDS = (EndMark, Failed, Cut)
_Channel = Literal["text"] | ThoughtKind
_THOUGHT_KINDS: tuple[ThoughtKind, ...] = ("raw", "summary")


class Assembly:
    """The state of one reply. Text and thoughts leave it at once; calls, usage and the finish wait for the end."""

    def __init__(self, model: str, stop: Callable[[], None]) -> None:
        """`stop` is called where a reply ends here before its stream does: no events are to be taken behind it."""
        self._stop = stop
        self._conclusion = Conclusion(model)
        self._pairs: dict[_Channel, PairJoiner] = {}
        self._waits = False

    def take(self, events: Sequence[Event]) -> list[ProcessedChunk]:
        """What these events add, as at most one chunk of text and thoughts, then the chunks of the end.

        A call too many ends the reply with an error; the events behind it are left.
        """
        if len(events) == 1:
            event = events[0]
            if type(event) is TextDelta and not self._waits and event.text.isascii():
                return [TextChunk(content=event.text)] if event.text else []
            if type(event) is ThinkingDelta and not (event.signature or self._waits) and event.text.isascii():
                return [_thought(event.kind, event.text)] if event.text else []
        texts: list[str] = []
        thoughts: list[tuple[ThoughtKind, list[str]]] = []
        last = events[-1]
        end = last if isinstance(last, _ENDS) else None
        for event in events if end is None else events[:-1]:
            # Comparing types costs a third less than `isinstance`.
            if type(event) is TextDelta:
                texts.append(event.text)
            elif type(event) is ThinkingDelta:
                if event.signature:
                    self._conclusion.signatures.append(event.signature)
                if not event.text:
                    continue
                if thoughts and thoughts[-1][0] == event.kind:
                    thoughts[-1][1].append(event.text)
                else:
                    thoughts.append((event.kind, [event.text]))
            else:
                self._conclusion.take(event)
                if self._conclusion.overflow is not None:
                    end = self._conclusion.overflow
                    self._stop()
                    break
        out: list[ProcessedChunk] = []
        if thoughts:
            self._think(self._joined("text", "".join(texts)) if texts else "", thoughts, out)
        elif texts:
            text = texts[0] if len(texts) == 1 else "".join(texts)
            if self._waits or not text.isascii():
                text = self._joined("text", text)
            if text:
                out.append(TextChunk(content=text))
        return out if end is None else [*out, *self._ended(end)]

    def _think(self, text: str, thoughts: Sequence[tuple[ThoughtKind, list[str]]], out: list[ProcessedChunk]) -> None:
        """Append a chunk of text and thoughts, if any of them can be told now."""
        told: list[tuple[ThoughtKind, str]] = [(kind, self._joined(kind, "".join(pieces))) for kind, pieces in thoughts]
        out += _chunk_of(text, told)

    def _joined(self, channel: _Channel, text: str) -> str:
        """The text of a channel that can be told now; a half of a pair at its end waits for the other half."""
        if not self._waits and is_clean(text):
            return text
        pairs = self._pairs.get(channel)
        if pairs is None:
            pairs = self._pairs[channel] = PairJoiner()
        text = pairs.push(text)
        self._waits = any(each.waits for each in self._pairs.values())
        return text

    def _ended(self, end: End) -> list[ProcessedChunk]:
        """The chunks of the end: halves that wait in vain, calls, and the terminal chunk."""
        chunks = self._conclusion.chunks(end)
        return [*self._halves(), *chunks] if self._waits else chunks

    def _halves(self) -> list[ProcessedChunk]:
        """What stands for halves of pairs whose other half never came."""
        closed = {channel: pairs.close() for channel, pairs in self._pairs.items()}
        return _chunk_of(closed.get("text", ""), [(kind, closed.get(kind, "")) for kind in _THOUGHT_KINDS])


def _thought(kind: ThoughtKind, content: str) -> TextChunk:
    return TextChunk(content="", thoughts=(ThoughtLogEntry(kind=kind, content=content),))


def _chunk_of(text: str, thoughts: Iterable[tuple[ThoughtKind, str]]) -> list[ProcessedChunk]:
    """One chunk of text and thoughts; none where there is nothing to tell."""
    entries = tuple([ThoughtLogEntry(kind=kind, content=content) for kind, content in thoughts if content])
    return [TextChunk(content=text, thoughts=entries)] if text or entries else []
