"""Puts the bytes of a context's media in the place of their addresses, as one target takes them.

What the target cannot take keeps its place without bytes, so that its serializer tells the model of it. What fails becomes
an OmittedPart. Emojis and stickers that cannot be shown are left out instead, since the text beside them names them.
Addresses and bytes enter neither reasons nor logs.
"""

import asyncio
import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from schemas.context import ContextPart, ImagePart, MediaStage, NeutralContext, OmittedPart, TextPart, VideoPart
from services.catalog.target import Target
from services.context.media.decoding import Decoders
from services.context.media.formats import image_type, video_type
from services.context.media.places import Place, places, replaced
from services.context.media.rules import ImageRules, Unshowable
from services.context.media.targets import KEYFRAMES, Gifs, Sight, sight
from services.context.media.window import WIDENING_TOOL, MediaWindow, within
from services.context.metrics import MEDIA, MEDIA_TIME
from services.context.notices import file_name
from services.runtime.blobs.store import BlobRefused, BlobStore
from services.runtime.fetching.fetcher import Fetcher
from services.runtime.fetching.refusals import FetchFailed, FetchRefused, SizeExceeded
from services.runtime.fetching.urls import FetchPolicy
from services.runtime.settings import Settings

MOST_AT_ONCE = 8
TOTAL_S = 60.0
_MIB = 1024 * 1024
_IMAGE_S, _GIF_S, _VIDEO_S = 15.0, 20.0, 20.0
_MOST_GIF_BYTES = 50 * _MIB

Shown = TypeVar("Shown", ImagePart, VideoPart)


class _Failed(Exception):
    def __init__(self, stage: MediaStage, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.stage: MediaStage = stage
        self.reason = reason
        self.status = status


@dataclass(frozen=True, slots=True)
class _Picture:
    """An image to be made. `can_label`: texts may stand around its frames."""

    place: Place
    part: ImagePart
    rules: ImageRules
    gifs: Gifs

    @property
    def can_label(self) -> bool:
        return not (self.place.of_a_tool or self.place.of_the_model)


@dataclass(frozen=True, slots=True)
class _Clip:
    """A video to be had."""

    place: Place
    part: VideoPart


class MediaResolver:
    """One a process. Raises Unavailable where the blob store is down or no decoder starts, but never for a medium."""

    def __init__(self, settings: Settings, fetcher: Fetcher, decoders: Decoders, blobs: BlobStore) -> None:
        self._is_production = settings.environment == "production"
        self._most_image_bytes = settings.media_max_mb * _MIB
        self._most_video_bytes = settings.video_max_mb * _MIB
        self._fetcher = fetcher
        self._decoders = decoders
        self._blobs = blobs
        self._free = asyncio.Semaphore(MOST_AT_ONCE)

    @classmethod
    def opened(cls, settings: Settings, blobs: BlobStore) -> "MediaResolver":
        """One that fetches from the internet."""
        return cls(settings, Fetcher(FetchPolicy(settings.environment)), Decoders(), blobs)

    async def aclose(self) -> None:
        """Close connections and end the decoders; the blob store is its owner's."""
        await self._fetcher.aclose()
        await self._decoders.aclose()

    async def resolve(
        self, context: NeutralContext, target: Target, window: MediaWindow | None = None
    ) -> NeutralContext:
        """The context as the target can be shown it, within `window` and within a minute."""
        can_widen = any(tool.name == WIDENING_TOOL for tool in context.tools)
        items = within(context.items, window or MediaWindow(), can_widen=can_widen)
        context = context.model_copy(update={"items": items})
        seen = sight(target, production=self._is_production)
        wanted = [work for place in places(context) if (work := _work(place, seen)) is not None]
        return replaced(context, {**_unseen(context, seen), **await self._all(wanted)})

    async def _all(self, wanted: Sequence[_Picture | _Clip]) -> dict[int, tuple[ContextPart, ...]]:
        if not wanted:
            return {}
        until = asyncio.get_running_loop().time() + TOTAL_S
        tasks = [asyncio.create_task(self._one(work, until)) for work in wanted]
        try:
            with MEDIA_TIME.time():
                made = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return {id(work.part): parts for work, parts in zip(wanted, made, strict=True)}

    async def _one(self, work: _Picture | _Clip, until: float) -> tuple[ContextPart, ...]:
        medium = "image" if isinstance(work, _Picture) else "video"
        try:
            async with asyncio.timeout_at(until), self._free:
                made = await (self._image(work) if isinstance(work, _Picture) else self._video(work.part))
        except TimeoutError:
            failed = _Failed("limit", "out of time")
        except Unshowable as error:
            failed = _Failed(error.stage, "the image cannot be read or made small enough")
        except _Failed as error:
            failed = error
        else:
            MEDIA.labels(medium, "shown").inc()
            return made
        MEDIA.labels(medium, failed.stage).inc()
        if isinstance(work.part, ImagePart) and work.part.is_expression:
            return ()
        return (
            OmittedPart(
                medium=medium,
                index=work.place.index,
                stage=failed.stage,
                reason=failed.reason,
                name=work.part.name,
                status=failed.status,
            ),
        )

    async def _image(self, work: _Picture) -> tuple[ContextPart, ...]:
        part = work.part
        may_be_large = part.mime_type == "image/gif" and work.gifs == "keyframes"
        data = await self._bytes(
            part,
            most_bytes=_MOST_GIF_BYTES if may_be_large else self._most_image_bytes,
            seconds=_GIF_S if may_be_large else _IMAGE_S,
        )
        media_type = image_type(data)
        if media_type is None:
            raise _Failed("validate", "not an image of a known format")
        if media_type == "image/gif" and work.gifs != "image" and await self._decoders.is_animated(data, media_type):
            if work.gifs == "keyframes":
                return await self._keyframes(work, data)
            # Without bytes its serializer says that animations are not shown.
            return (part.model_copy(update={"mime_type": media_type, "inline_data": None, "uri": None}),)
        made = await self._decoders.image(data, media_type, work.rules)
        return (await self._kept(part, made.data, made.media_type),)

    async def _keyframes(self, work: _Picture, data: bytes) -> tuple[ContextPart, ...]:
        frames = await self._decoders.keyframes(data, KEYFRAMES)
        called = file_name(work.part.name) or "animation"
        out: list[ContextPart] = []
        if work.can_label:
            out.append(
                TextPart(text=f'[System: {len(frames)} frames of the animated GIF "{called}" follow, in order.]')
            )
        for frame in frames:
            if work.can_label:
                out.append(TextPart(text=f"[Frame {frame.number}]"))
            named = work.part.model_copy(update={"name": f"{called}, frame {frame.number}"})
            out.append(await self._kept(named, frame.data, "image/jpeg"))
        return tuple(out)

    async def _video(self, part: VideoPart) -> tuple[ContextPart, ...]:
        data = await self._bytes(part, most_bytes=self._most_video_bytes, seconds=_VIDEO_S)
        media_type = video_type(data)
        if media_type is None:
            raise _Failed("validate", "not a video of a known format")
        return (await self._kept(part, data, media_type),)

    async def _bytes(self, part: ImagePart | VideoPart, *, most_bytes: int, seconds: float) -> bytes:
        if part.inline_data is not None:
            if len(part.inline_data.data) > most_bytes // 3 * 4 + 4:
                raise _Failed("limit", "size_exceeded")
            try:
                return base64.b64decode(part.inline_data.data, validate=True)
            except binascii.Error:
                raise _Failed("validate", "not base64") from None
        if part.uri is None:
            raise _Failed("download", "no address")
        try:
            return (await self._fetcher.fetch(part.uri, most_bytes=most_bytes, total_s=seconds)).body
        except FetchFailed as error:
            reason = str(error) if isinstance(error, FetchRefused) else error.kind
            stage: MediaStage = "limit" if isinstance(error, SizeExceeded) else "download"
            raise _Failed(stage, reason, error.status) from None

    async def _kept(self, part: Shown, data: bytes, media_type: str) -> Shown:
        try:
            blob = await self._blobs.put(data)
        except BlobRefused:
            raise _Failed("limit", "no room in the blob store") from None
        return part.model_copy(update={"mime_type": media_type, "blob": blob, "inline_data": None, "uri": None})


def _unseen(context: NeutralContext, seen: Sight) -> dict[int, tuple[ContextPart, ...]]:
    """Nothing, in the places of the emojis and stickers of a target that sees no images."""
    if seen.images is not None:
        return {}
    return {
        id(place.part): ()
        for place in places(context)
        if isinstance(place.part, ImagePart) and place.part.is_expression
    }


def _work(place: Place, seen: Sight) -> _Picture | _Clip | None:
    """What is to be had for the target; None where it stays as it is, for its serializer to tell of it."""
    part = place.part
    if part.blob is not None:
        return None
    if isinstance(part, ImagePart):
        # A tool's animation is only told of, never shown in frames.
        gifs: Gifs = "notice" if place.of_a_tool and seen.gifs == "keyframes" else seen.gifs
        return None if seen.images is None else _Picture(place, part, seen.images, gifs)
    return _Clip(place, part) if seen.videos and not part.is_youtube_link else None
