"""Call arguments that Google streams by JSON path, put together again.

https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling (streaming function call
arguments): each piece names its place, such as `$.a.b[0].c`; pieces of one string follow each other. Strings are
gathered as lists and joined once, so the cost is linear.
"""

import json
import re
from typing import Any

from services.normalizer.decode import is_array, is_object, word

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\")\]")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MAX_STEPS = 64
_MAX_HOLES = 100
"""How many items of a call's arrays indexes may pass over."""


class _Text:
    """A string that grows, and its place."""

    def __init__(self, holder: Any, step: str | int, piece: str) -> None:
        self.holder = holder
        self.step = step
        self.pieces = [piece]


class PartialArguments:
    """The arguments of one call."""

    def __init__(self, given: object) -> None:
        self._root: dict[str, Any] = dict(given) if is_object(given) else {}
        self._texts: list[_Text] = []
        self._growing: _Text | None = None
        self._growing_at: tuple[Any, str | int] | None = None
        self._path = ""
        self._holes = _MAX_HOLES

    def add(self, piece: object) -> None:
        """Take one piece; one that has no usable path or value is left out."""
        path = word(piece, "jsonPath")
        if not path or not is_object(piece):
            return
        text = piece.get("stringValue")
        goes_on = piece.get("willContinue") is True
        if isinstance(text, str) and self._growing is not None and path == self._path:
            self._growing.pieces.append(text)
        else:
            place = self._place(path)
            if place is None:
                return
            self._growing_at, self._path = place, path
            self._growing = self._put(place, piece, text)
        if not goes_on:
            self._growing = self._growing_at = None

    def whole(self) -> dict[str, Any]:
        """The arguments as they stand; nothing may be added behind it."""
        for text in self._texts:
            if _at(text.holder, text.step) is text:
                text.holder[text.step] = "".join(text.pieces)
        return self._root

    def cut(self) -> str:
        """The arguments of a call that broke off, as JSON text that breaks off too, without the value that was growing."""
        whole = self.whole()
        if self._growing_at is not None:
            holder, step = self._growing_at
            is_there = isinstance(step, int) or step in holder
            if is_there:  # a piece may say that it goes on, and say nothing else
                del holder[step]
        try:
            text = json.dumps(whole, ensure_ascii=False).removesuffix("}")
        except RecursionError:  # what was given is nested almost too deeply to be read
            return "{"
        return f"{text}," if self._root else text

    def _put(self, place: tuple[Any, str | int], piece: dict[str, Any], text: object) -> "_Text | None":
        holder, step = place
        old = _at(holder, step)
        if isinstance(text, str):
            if isinstance(old, _Text):
                old.pieces.append(text)
                return old
            grown = holder[step] = _Text(holder, step, text)
            self._texts.append(grown)
            return grown
        for name in ("numberValue", "boolValue"):
            if name in piece and not isinstance(piece[name], dict | list):
                holder[step] = piece[name]
                return None
        if "nullValue" in piece:
            holder[step] = None
        return None

    def _place(self, path: str) -> tuple[Any, str | int] | None:
        """The container and the key or index that a path names, made where they are missing."""
        if path.startswith("$.") and (key := path[2:]).isidentifier():  # nearly all
            return self._root, key
        steps = _steps(path)
        if not steps:
            return None
        holder: Any = self._root
        for step, following in zip(steps, [*steps[1:], None], strict=True):
            if not self._fits(holder, step):
                return None
            if following is None:
                return holder, step
            if _at(holder, step) is None:
                fresh: Any = [] if isinstance(following, int) else {}
                holder[step] = fresh
            holder = _at(holder, step)
        return None

    def _fits(self, holder: object, step: str | int) -> bool:
        """Whether a container can have this key or index; an array is made long enough for it."""
        if not is_array(holder):
            return is_object(holder) and isinstance(step, str)
        if not isinstance(step, int) or step - len(holder) > self._holes:
            return False
        self._holes -= max(0, step - len(holder))
        holder.extend([None] * (step + 1 - len(holder)))
        return True


def _steps(path: str) -> list[str | int]:
    """`$.a[0]['b.c']` as keys and indexes; empty when it is no path."""
    at = 1 if path.startswith("$") else 0
    steps: list[str | int] = []
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None or len(steps) == _MAX_STEPS:
            return []
        name, index, single, double = found.groups()
        if index is not None:
            steps.append(int(index[:12]))
        else:
            quoted = single if single is not None else double or ""
            steps.append(name if name is not None else _ESCAPE.sub(r"\1", quoted))
        at = found.end()
    return steps


def _at(holder: Any, step: str | int) -> Any:
    return holder.get(step) if isinstance(step, str) else holder[step]
