"""Which media of a channel's history are shown: those of its newest messages, each once, and few messages with images.

What is not shown leaves a hint. Media that a tool asked for, and those outside of the history, are always shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from schemas.context import ContextPart, ImagePart, OmittedPart, StructuredContextItem, TextPart, VideoPart

WIDENING_TOOL = "increase_media_context"


@dataclass(frozen=True, slots=True)
class MediaWindow:
    """How many of the newest messages may show media, and how many of those images; emojis and stickers are free."""

    messages: int = 10
    image_messages: int = 3


def within(
    items: Sequence[StructuredContextItem], window: MediaWindow, *, can_widen: bool
) -> tuple[StructuredContextItem, ...]:
    """The items, where media outside of the window and earlier copies of a later image have made way for hints.

    A hint stands in the medium's place; of the model's own items, in a user's item behind. `can_widen`: it names the tool.
    Emojis and stickers leave none, since the text beside them names them.
    """
    out: list[StructuredContextItem] = []
    places = _Places(window)
    for item in reversed(items):
        hidden, copies = places.hidden(item)
        hints = _hints(hidden, copies, can_widen=can_widen)
        # The order is turned round below, so what follows an item comes first here.
        out += _without(item, [*hidden, *copies], hints)
    return tuple(reversed(out))


class _Places:
    """What is left of the window, from the newest message on."""

    def __init__(self, window: MediaWindow) -> None:
        self._messages = window.messages
        self._image_messages = window.image_messages
        self._shown: set[str] = set()

    def hidden(self, item: StructuredContextItem) -> tuple[list[ContextPart], list[ContextPart]]:
        """The item's media that are outside of the window, and those that are shown later; takes the item's place."""
        if item.tag != "dialogue_history":
            return [], []
        is_inside = self._messages > 0
        self._messages -= 1
        media = [part for part in item.parts if _is_bounded(part)]
        if not is_inside:
            return media, []
        copies = self._copies(media)
        counted = [part for part in media if _is_counted(part) and not _holds(copies, part)]
        if not counted:
            return [], copies
        if self._image_messages <= 0:
            return counted, copies
        self._image_messages -= 1
        return [], copies

    def _copies(self, media: Sequence[ContextPart]) -> list[ContextPart]:
        copies: list[ContextPart] = []
        for part in reversed(media):
            if not isinstance(part, ImagePart) or part.uri is None:
                continue
            if part.uri in self._shown:
                copies.append(part)
            self._shown.add(part.uri)
        return copies


def _is_bounded(part: ContextPart) -> bool:
    match part:
        case ImagePart():
            return not (part.enhanced_context or part.is_profile_picture)
        case VideoPart():
            return not part.enhanced_context
        case TextPart() | OmittedPart():
            return False
        case _:
            assert_never(part)


def _is_counted(part: ContextPart) -> bool:
    return isinstance(part, ImagePart) and not part.is_expression


def _is_expression(part: ContextPart) -> bool:
    return isinstance(part, ImagePart) and part.is_expression


def _holds(parts: Sequence[ContextPart], wanted: ContextPart) -> bool:
    """By identity: two equal parts are two."""
    return any(part is wanted for part in parts)


def _hints(hidden: Sequence[ContextPart], copies: Sequence[ContextPart], *, can_widen: bool) -> list[TextPart]:
    hints: list[TextPart] = []
    hidden, copies = [[part for part in parts if not _is_expression(part)] for parts in (hidden, copies)]
    if hidden:
        how = f" The tool {WIDENING_TOOL} shows more." if can_widen else ""
        hints.append(
            TextPart(text=f"[System: {_counted(hidden)} of this message {_are(hidden)} too old to be shown.{how}]")
        )
    if copies:
        hints.append(TextPart(text=f"[System: {_counted(copies)} of this message {_are(copies)} shown further below.]"))
    return hints


def _counted(parts: Sequence[ContextPart]) -> str:
    images = sum(isinstance(part, ImagePart) for part in parts)
    kinds = [(images, "image"), (len(parts) - images, "video")]
    return " and ".join(f"{count} {kind}{'s' if count > 1 else ''}" for count, kind in kinds if count)


def _are(parts: Sequence[ContextPart]) -> str:
    return "is" if len(parts) == 1 else "are"


def _without(
    item: StructuredContextItem, gone: Sequence[ContextPart], hints: Sequence[TextPart]
) -> list[StructuredContextItem]:
    """The item without those parts and its hints, the last first."""
    if not gone:
        return [item]
    first = next(index for index, part in enumerate(item.parts) if _holds(gone, part))
    before = tuple(item.parts[:first])
    after = tuple(part for part in item.parts[first:] if not _holds(gone, part))
    if item.role != "model":
        return [item.model_copy(update={"parts": (*before, *hints, *after)})]
    behind = [item.model_copy(update={"role": "user", "parts": tuple(hints)})] if hints else []
    rest = (*before, *after)
    return [*behind, item.model_copy(update={"parts": rest})] if rest else behind
