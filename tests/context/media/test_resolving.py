"""A context with addresses becomes one with bytes, or with reasons: for each target what it can take."""

import asyncio
import base64
import logging
import os
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from prometheus_client import REGISTRY

from schemas.chunks import FunctionCall
from schemas.context import (
    BlobRef,
    ContextPart,
    FunctionExchange,
    FunctionResult,
    ImagePart,
    InlineData,
    NeutralContext,
    OmittedPart,
    TextPart,
    ToolDeclaration,
    VideoPart,
)
from services.context.media.resolving import MediaResolver
from services.context.media.window import MediaWindow
from services.runtime.blobs.folder import FolderStore
from services.runtime.errors import Unavailable
from services.runtime.settings import Settings
from tests.context.media.conftest import (
    BLIND,
    CLAUDE,
    GEMINI,
    HEIC,
    OPENAI,
    MakeBench,
    MediaServer,
    encoded,
    gif,
    noise,
    read,
    said,
    target,
)

PNG = encoded(Image.new("RGB", (30, 20), "red"), "PNG")
MP4 = b"\0\0\0\x18ftypisom\0\0\2\0isommp42" + bytes(500)


def omitted(part: ContextPart) -> tuple[str, int, str, str | None, int | None]:
    assert isinstance(part, OmittedPart)
    return part.medium, part.index, part.stage, part.name, part.status


async def test_an_image_is_fetched_and_its_bytes_wait_in_the_store(server: MediaServer, make_bench: MakeBench) -> None:
    bench = await make_bench()
    image, text = await bench.resolve(OPENAI, said(server.image("cat.png", PNG), "look"))
    assert isinstance(image, ImagePart)
    assert (image.mime_type, image.name, image.uri, image.inline_data) == ("image/png", "cat.png", None, None)
    assert await bench.bytes_of(image) == PNG
    assert text == TextPart(text="look")


async def test_an_emoji_that_cannot_be_had_or_seen_is_left_out(server: MediaServer, make_bench: MakeBench) -> None:
    bench = await make_bench()
    gone = ImagePart(mime_type="image/png", uri=f"{server.base}/gone.png", name=":tea:", is_expression=True)
    there = server.image("tea.png", PNG).model_copy(update={"is_expression": True})
    assert await bench.resolve(OPENAI, said(gone, "Ada: :tea:")) == [TextPart(text="Ada: :tea:")]
    assert await bench.resolve(BLIND, said(there, "Ada: :tea:")) == [TextPart(text="Ada: :tea:")]
    shown, _ = await bench.resolve(OPENAI, said(there, "Ada: :tea:"))
    assert isinstance(shown, ImagePart)


async def test_a_large_image_is_made_smaller(server: MediaServer, make_bench: MakeBench) -> None:
    bench = await make_bench()
    (image,) = await bench.resolve(OPENAI, said(server.image("a.png", encoded(noise(2_304, 1_152), "PNG"))))
    assert isinstance(image, ImagePart)
    assert (image.mime_type, read(await bench.bytes_of(image)).size) == ("image/jpeg", (2_048, 1_024))


async def test_the_type_is_what_the_bytes_say(server: MediaServer, make_bench: MakeBench) -> None:
    bench = await make_bench()
    (image,) = await bench.resolve(CLAUDE, said(server.image("a.jpg", PNG, "image/jpeg")))
    assert isinstance(image, ImagePart)
    assert image.mime_type == "image/png"


@pytest.mark.parametrize(
    ("target", "media_type"), [(OPENAI, "image/jpeg"), (CLAUDE, "image/jpeg"), (GEMINI, "image/heic")]
)
async def test_heic_goes_only_to_who_reads_it(
    target: Any, media_type: str, server: MediaServer, make_bench: MakeBench
) -> None:
    bench = await make_bench()
    (image,) = await bench.resolve(target, said(server.image("a.heic", HEIC, "image/heic")))
    assert isinstance(image, ImagePart)
    assert image.mime_type == media_type


async def test_bytes_that_are_there_already_are_prepared_in_the_same_way(make_bench: MakeBench) -> None:
    bench = await make_bench()
    good = InlineData(mime_type="image/jpeg", data=base64.b64encode(PNG).decode())
    parts = await bench.resolve(
        CLAUDE,
        said(
            ImagePart(mime_type="image/jpeg", inline_data=good),
            ImagePart(mime_type="image/png", inline_data=InlineData(mime_type="image/png", data="%%%")),
            ImagePart(mime_type="image/png"),
        ),
    )
    assert isinstance(parts[0], ImagePart)
    assert (parts[0].mime_type, parts[0].inline_data) == ("image/png", None)
    assert [omitted(part)[2] for part in parts[1:]] == ["validate", "download"]


async def test_each_failure_keeps_its_place_and_says_where_it_failed(
    server: MediaServer, make_bench: MakeBench
) -> None:
    bench = await make_bench(media_max_mb=1)
    gone = server.image("gone.png", PNG)
    del server.files["gone.png"]
    parts = await bench.resolve(
        CLAUDE,
        said(
            server.image("good.png", PNG),
            gone,
            server.image("page.png", b"<html>", "text/html"),
            server.image("vector.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
            server.image("cut.png", encoded(noise(300, 200), "PNG")[:-5_000]),
            server.image("large.png", bytes(1_048_577)),
            ImagePart(mime_type="image/png", uri="http://192.168.0.1/secret.png", name="inside.png"),
            "text",
        ),
    )
    assert isinstance(parts[0], ImagePart)
    assert [omitted(part) for part in parts[1:7]] == [
        ("image", 1, "download", "gone.png", 404),
        ("image", 2, "validate", "page.png", None),
        ("image", 3, "validate", "vector.svg", None),
        ("image", 4, "decode", "cut.png", None),
        ("image", 5, "limit", "large.png", 200),
        ("image", 6, "download", "inside.png", None),
    ]
    assert parts[7] == TextPart(text="text")


async def test_no_reason_and_no_log_names_an_address_or_what_a_server_says(
    server: MediaServer, make_bench: MakeBench, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    bench = await make_bench()
    unknown = ImagePart(mime_type="image/png", uri=f"{server.base}/hidden-path?token=hidden")
    inside = ImagePart(mime_type="image/png", uri="https://hidden.invalid/a.png")
    parts = await bench.resolve(OPENAI, said(unknown, inside))
    shown = " ".join(part.model_dump_json() for part in parts) + caplog.text
    assert all(isinstance(part, OmittedPart) for part in parts)
    assert not any(word in shown for word in ("hidden", "127.0.0.1", "http"))


async def test_production_fetches_nothing_of_this_machine(
    server: MediaServer, make_bench: MakeBench, tmp_path: Path
) -> None:
    store = FolderStore(tmp_path / "other", keep_s=60, most_bytes=10**9)
    resolver = MediaResolver.opened(Settings(), store)
    context = NeutralContext(items=(said(server.image("cat.png", PNG)),))
    (part,) = (await resolver.resolve(context, OPENAI)).items[0].parts
    await resolver.aclose()
    assert isinstance(part, OmittedPart)
    assert part.reason == "the address may not be fetched: only https is allowed (PRODUCTION_HTTPS_REQUIRED)"
    assert server.asked == []


async def test_a_target_that_sees_nothing_gets_nothing_fetched(server: MediaServer, make_bench: MakeBench) -> None:
    bench = await make_bench()
    picture, clip = server.image("cat.png", PNG), server.video("a.mp4", MP4)
    assert await bench.resolve(BLIND, said(picture, clip)) == [picture, clip]
    novelai = target("novelai", "novelai", sees_images=True)
    assert await bench.resolve(novelai, said(picture, clip)) == [picture, clip]
    assert server.asked == []


async def test_the_same_context_is_resolved_anew_for_each_attempts_target(
    server: MediaServer, make_bench: MakeBench
) -> None:
    bench = await make_bench()
    context = NeutralContext(items=(said(server.image("cat.png", PNG), server.video("a.mp4", MP4)),))
    seen = [
        [isinstance(part, ImagePart | VideoPart) and part.blob is not None for part in resolved.items[0].parts]
        for resolved in [await bench.resolver.resolve(context, each) for each in (BLIND, OPENAI, GEMINI)]
    ]
    assert seen == [[False, False], [True, False], [True, True]]


@pytest.mark.parametrize(
    ("provider", "dialect", "sees", "shown"),
    [
        ("google", "google", True, True),
        ("vertex", "google", True, True),
        ("openrouter", "openai-chat", True, True),
        ("google", "google", False, False),
        ("openai", "openai-chat", True, False),
        ("anthropic", "anthropic", True, False),
    ],
)
async def test_videos_go_to_models_of_google_and_openrouter_that_see_them(
    provider: Any, dialect: Any, sees: bool, shown: bool, server: MediaServer, make_bench: MakeBench
) -> None:
    bench = await make_bench()
    (part,) = await bench.resolve(target(provider, dialect, sees_videos=sees), said(server.video("a.mp4", MP4)))
    assert isinstance(part, VideoPart)
    assert (part.blob is not None) == shown


async def test_videos_are_bounded_and_must_be_videos(server: MediaServer, make_bench: MakeBench) -> None:
    bench = await make_bench(video_max_mb=1)
    parts = await bench.resolve(
        GEMINI,
        said(server.video("large.mp4", MP4 + bytes(2**20)), server.video("page.mp4", PNG), server.image("a.png", PNG)),
    )
    assert [omitted(part)[:3] for part in parts[:2]] == [("video", 0, "limit"), ("video", 1, "validate")]
    link = VideoPart(uri="https://www.youtube.com/watch?v=aaaaaaaaaaa", is_youtube_link=True, enhanced_context=True)
    assert await bench.resolve(GEMINI, said(link)) == [link]


async def test_in_production_an_animation_is_only_told_of(server: MediaServer, make_bench: MakeBench) -> None:
    bench = await make_bench(environment="production")
    for mime_type in ("image/gif", "image/png"):
        (part,) = await bench.resolve(OPENAI, said(server.image("a.gif", gif(12), mime_type)))
        assert isinstance(part, ImagePart)
        assert (part.mime_type, part.blob, part.uri, part.inline_data) == ("image/gif", None, None, None)


@pytest.mark.parametrize("environment", ["production", "development"])
async def test_a_gif_that_does_not_move_is_an_image(
    environment: str, server: MediaServer, make_bench: MakeBench
) -> None:
    bench = await make_bench(environment=environment)
    (part,) = await bench.resolve(GEMINI, said(server.image("a.gif", gif(1), "image/gif")))
    assert isinstance(part, ImagePart)
    assert part.mime_type == "image/jpeg"
    assert part.blob is not None


async def test_in_development_its_keyframes_follow_a_line_about_them(
    server: MediaServer, make_bench: MakeBench
) -> None:
    bench = await make_bench(environment="development")
    image = server.image("a.gif", gif(12), "image/gif").model_copy(update={"name": "a [b].gif"})
    parts = await bench.resolve(OPENAI, said(image, "look"))
    assert [part.text if isinstance(part, TextPart) else getattr(part, "name", None) for part in parts] == [
        '[System: 3 frames of the animated GIF "a (b).gif" follow, in order.]',
        "[Frame 1]",
        "a (b).gif, frame 1",
        "[Frame 11]",
        "a (b).gif, frame 11",
        "[Frame 12]",
        "a (b).gif, frame 12",
        "look",
    ]
    assert read(await bench.bytes_of(parts[2])).size == (40, 30)
    own = await bench.resolve(OPENAI, said(image, role="model"))
    assert [type(part) for part in own] == [ImagePart] * 3


async def test_claude_gets_a_gif_as_it_is(server: MediaServer, make_bench: MakeBench) -> None:
    bench = await make_bench(environment="production")
    data = gif(12)
    (part,) = await bench.resolve(CLAUDE, said(server.image("a.gif", data, "image/gif")))
    assert isinstance(part, ImagePart)
    assert (part.mime_type, await bench.bytes_of(part)) == ("image/gif", data)


async def test_claude_gets_nothing_over_its_five_megabytes_of_base64(
    server: MediaServer, make_bench: MakeBench
) -> None:
    bench = await make_bench()
    data = encoded(noise(1_400, 1_000), "PNG", compress_level=0)
    assert 5 * 1024 * 1024 * 3 // 4 < len(data) < 8 * 1024 * 1024
    for each, media_type in ((CLAUDE, "image/jpeg"), (GEMINI, "image/png")):
        (part,) = await bench.resolve(each, said(server.image("a.png", data)))
        assert isinstance(part, ImagePart)
        assert isinstance(part.blob, BlobRef)
        assert part.mime_type == media_type
        assert each is GEMINI or len(base64.b64encode(bytes(part.blob.size))) <= 5 * 1024 * 1024


async def test_what_tools_returned_is_prepared_and_counted_after_the_dialogue(
    server: MediaServer, make_bench: MakeBench
) -> None:
    bench = await make_bench(environment="development")
    missing = ImagePart(mime_type="image/png", uri=f"{server.base}/missing", name="missing.png")
    images = (server.image("a.png", PNG), missing, server.image("b.gif", gif(5), "image/gif"))
    call = FunctionCall(id="c1", name="draw", args={})
    result = FunctionResult(call_id="c1", name="draw", response={"ok": True}, images=images, note="two cats")
    before = OmittedPart(medium="image", index=0, stage="download", reason="earlier")
    context = NeutralContext(
        items=(said(before, server.image("c.png", PNG)),),
        function_history=(FunctionExchange(calls=(call,), results=(result,)),),
    )
    resolved = (await bench.resolver.resolve(context, OPENAI)).function_history[0]
    good, bad, moving = resolved.results[0].images
    assert isinstance(good, ImagePart)
    assert good.blob is not None
    assert omitted(bad) == ("image", 3, "download", "missing.png", 404)
    assert isinstance(moving, ImagePart)
    assert (moving.mime_type, moving.blob) == ("image/gif", None)
    assert (resolved.calls, resolved.results[0].note) == ((call,), "two cats")


async def test_media_outside_of_the_window_are_not_fetched(server: MediaServer, make_bench: MakeBench) -> None:
    bench = await make_bench()
    items = [said(server.image(f"{n}.png", PNG), number=n) for n in range(5)]
    tools = (ToolDeclaration(name="increase_media_context"),)
    context = NeutralContext(items=tuple(items), tools=tools)
    resolved = await bench.resolver.resolve(context, OPENAI)
    assert sorted(server.asked) == ["2.png", "3.png", "4.png"]
    assert "The tool increase_media_context shows more." in str(resolved.items[0].parts)
    server.asked.clear()
    await bench.resolver.resolve(context, OPENAI, MediaWindow(messages=50, image_messages=50))
    assert len(server.asked) == 5


async def test_many_are_fetched_at_once_but_not_all(server: MediaServer, make_bench: MakeBench) -> None:
    bench = await make_bench()
    server.gate.clear()
    images = [server.image(f"{n}.png", PNG) for n in range(20)]
    resolving = asyncio.create_task(bench.resolve(OPENAI, said(*images)))
    while server.at_once < 8:
        await asyncio.sleep(0.01)
    server.gate.set()
    assert all(isinstance(part, ImagePart) and part.blob is not None for part in await resolving)
    assert server.most_at_once == 8


async def test_all_together_take_a_minute_at_most(
    server: MediaServer, make_bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.context.media.resolving.TOTAL_S", 0.5)
    bench = await make_bench()
    server.gate.clear()
    parts = await bench.resolve(OPENAI, said(*(server.image(f"{n}.png", PNG) for n in range(10))))
    assert {omitted(part)[2] for part in parts} == {"limit"}


async def test_a_store_that_is_full_leaves_images_out_and_one_that_is_down_lets_the_turn_wait(
    server: MediaServer, make_bench: MakeBench, tmp_path: Path
) -> None:
    full = await make_bench(most_bytes=10)
    (part,) = await full.resolve(OPENAI, said(server.image("a.png", PNG)))
    assert omitted(part)[2] == "limit"
    down = await make_bench()
    os.rmdir(tmp_path / "blobs")
    (tmp_path / "blobs").write_bytes(b"")
    with pytest.raises(Unavailable):
        await down.resolve(OPENAI, said(server.image("a.png", PNG)))


async def test_hidden_data_stay(server: MediaServer, make_bench: MakeBench) -> None:
    bench = await make_bench()
    item = said(server.image("a.png", PNG), sender="Ada", participant_target_index=0)
    (resolved,) = (await bench.resolver.resolve(NeutralContext(items=(item,)), OPENAI)).items
    assert resolved.model_copy(update={"parts": ()}) == item.model_copy(update={"parts": ()})


async def test_what_became_of_media_is_counted(server: MediaServer, make_bench: MakeBench) -> None:
    def count(outcome: str) -> float:
        labels = {"medium": "image", "outcome": outcome}
        return REGISTRY.get_sample_value("odradek_context_media_total", labels) or 0.0

    bench = await make_bench()
    before = count("shown"), count("validate")
    await bench.resolve(OPENAI, said(server.image("a.png", PNG), server.image("b.png", b"?")))
    assert (count("shown") - before[0], count("validate") - before[1]) == (1, 1)
