"""The processes that decode: they work, die, hang and are replaced, and none outlives its owner."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from PIL import Image

from services.context.media.decoding import Decoders
from services.context.media.rules import ImageRules, Unshowable
from services.context.media.targets import KEYFRAMES
from tests.context.media.conftest import encoded, gif, noise, read

RULES = ImageRules(("image/png",), 2 * 1024 * 1024, 64, 85, 15_000_000, 16_000)
SMALL = encoded(Image.new("RGB", (30, 20), "red"), "PNG")


@pytest.fixture
async def decoders() -> AsyncIterator[Decoders]:
    decoders = Decoders(1, image_s=60.0)
    yield decoders
    await decoders.aclose()


def processes() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "services.context.media.decoder" in child.cmdline()]


async def test_one_process_makes_images_and_keyframes_one_after_the_other(decoders: Decoders) -> None:
    wide = encoded(noise(300, 150), "JPEG")
    made = await decoders.image(wide, "image/jpeg", RULES)
    assert (made.media_type, read(made.data).size) == ("image/jpeg", (64, 32))
    assert (await decoders.image(SMALL, "image/png", RULES)).data == SMALL
    assert await decoders.is_animated(gif(2), "image/gif")
    assert not await decoders.is_animated(gif(1), "image/gif")
    assert [frame.number for frame in await decoders.keyframes(gif(12), KEYFRAMES)] == [1, 11, 12]
    with pytest.raises(Unshowable) as failed:
        await decoders.image(SMALL[:50], "image/png", RULES)
    assert failed.value.stage == "decode"
    assert len(processes()) == 1


async def test_no_secret_of_the_environment_reaches_them(decoders: Decoders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hidden")
    await decoders.image(SMALL, "image/png", RULES)
    assert set(processes()[0].environ()) <= {"PYTHONPATH", "LC_CTYPE"}


async def test_one_that_hangs_is_killed_and_the_next_image_gets_another() -> None:
    decoders = Decoders(1, image_s=5.0)
    await decoders.image(SMALL, "image/png", RULES)
    (hung,) = processes()
    hung.send_signal(signal.SIGSTOP)
    with pytest.raises(Unshowable) as failed:
        await decoders.image(SMALL, "image/png", RULES)
    assert failed.value.stage == "limit"
    assert not hung.is_running()
    assert (await decoders.image(SMALL, "image/png", RULES)).data == SMALL
    await decoders.aclose()


async def test_one_that_dies_costs_its_image_only(decoders: Decoders) -> None:
    await decoders.image(SMALL, "image/png", RULES)
    (old,) = processes()
    old.kill()
    with pytest.raises(Unshowable) as failed:
        await decoders.image(SMALL, "image/png", RULES)
    assert failed.value.stage == "decode"
    assert (await decoders.image(SMALL, "image/png", RULES)).data == SMALL


async def test_whoever_gives_up_waiting_kills_the_process_at_work(decoders: Decoders) -> None:
    await decoders.image(SMALL, "image/png", RULES)
    (process,) = processes()
    process.send_signal(signal.SIGSTOP)
    waiting = asyncio.create_task(decoders.image(SMALL, "image/png", RULES))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    process.send_signal(signal.SIGCONT) if process.is_running() else None
    assert (await decoders.image(SMALL, "image/png", RULES)).data == SMALL
    assert len(processes()) == 1


async def test_no_more_processes_than_allowed_work_at_once() -> None:
    decoders = Decoders(2, image_s=60.0)
    data = encoded(noise(600, 600), "PNG")
    await asyncio.gather(*(decoders.image(data, "image/png", RULES) for _ in range(8)))
    assert len(processes()) == 2
    await decoders.aclose()
    assert processes() == []


def run_confined(code: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", f"import services.context.media.decoder as d\n{code}"], capture_output=True
    )


def test_a_process_may_not_take_all_memory_nor_write_files(tmp_path: Path) -> None:
    result = run_confined("d.confine()\ntry: bytearray(d.MOST_MEMORY)\nexcept MemoryError: print('no')")
    assert result.stdout == b"no\n"
    run_confined(f"d.confine()\nopen({str(tmp_path / 'file')!r}, 'w').write('y')")
    assert (tmp_path / "file").stat().st_size == 0


def test_a_process_without_a_parent_ends_by_its_processor_time() -> None:
    assert run_confined("d.bound_processor_time(0)\nwhile True: pass").returncode == -signal.SIGXCPU
