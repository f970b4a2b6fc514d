"""What is asked of an image, and what comes of it: the words between the resolver and the processes that decode."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

FailedStage = Literal["decode", "encode", "limit"]


class Unshowable(Exception):
    """The image cannot be shown; the stage says where it failed."""

    def __init__(self, stage: FailedStage) -> None:
        super().__init__(stage)
        self.stage: FailedStage = stage


@dataclass(frozen=True, slots=True)
class ImageRules:
    """What one target takes. Bytes are before base64.

    An image in one of `accepts` stays as it is while it has at most `small_bytes`, or `fit_side` pixels on its longest side,
    and no more than `most_bytes` and `most_side`. Else it becomes a JPEG of `quality` that fits.
    """

    accepts: Sequence[str]
    small_bytes: int
    fit_side: int
    quality: int
    most_bytes: int
    most_side: int


@dataclass(frozen=True, slots=True)
class KeyframeRules:
    """How an animation is shown: every `every`-th frame, the first and the last, at most `most_frames` of those.

    A single still frame counts too. `seconds` bounds the reading: what was reached by then is shown.
    """

    every: int
    most_frames: int
    most_width: int
    quality: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame as JPEG; `number` counts from 1."""

    number: int
    data: bytes
