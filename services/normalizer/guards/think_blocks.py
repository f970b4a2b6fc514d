"""Think blocks that a backend left in the text become thinking, and their tags vanish.

Blocks do not nest: the first closer ends the block, so a model that names the tag in its thoughts cannot swallow its
answer. A closer without a block is removed, and a block that never closes is thinking to the end.
"""

from schemas.think_tags import THINK_TAG, held_from
from services.normalizer.events import Event, TextDelta, ThinkingDelta


class ThinkBlockContentStripper:
    """Holds back the longest end of the text that may become a tag, and nothing else."""

    def __init__(self) -> None:
        self._inside = False
        self._held = ""

    @property
    def is_idle(self) -> bool:
        """No tag is open, and none has begun."""
        return not (self._inside or self._held)

    def read(self, event: Event, out: list[Event]) -> None:
        """Append the event; of a text, its parts by where they belong."""
        if not isinstance(event, TextDelta) or not (self._held or self._inside or "<" in event.text or not event.text):
            out.append(event)
            return
        text = self._held + event.text
        if "<" not in text:
            self._append(text, out)
            return
        at = 0
        for tag in THINK_TAG.finditer(text):
            self._append(text[at : tag.start()], out)
            self._inside = not tag["closes"]
            at = tag.end()
        end = max(at, held_from(text))
        self._append(text[at:end], out)
        self._held = text[end:]

    def close(self, out: list[Event]) -> None:
        """Append the start of a tag that never became one."""
        self._append(self._held, out)
        self._held = ""

    def _append(self, text: str, out: list[Event]) -> None:
        if text:
            out.append(ThinkingDelta(text) if self._inside else TextDelta(text))
