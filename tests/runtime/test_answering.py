"""A dependency that stops answering is told once, on /readyz as long as it lasts, and told again when it answers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest
from structlog.testing import capture_logs

from services.runtime import answering as module
from services.runtime.answering import Answering


@dataclass
class Dependency:
    """Answers, says no, raises, or never comes back."""

    how: str = "answers"
    asked: int = 0

    async def ask(self) -> bool:
        self.asked += 1
        match self.how:
            case "raises":
                raise OSError
            case "hangs":
                await asyncio.Event().wait()
            case _:
                pass
        return self.how == "answers"


@pytest.fixture
def dependency() -> Dependency:
    return Dependency()


@pytest.fixture
async def answering(dependency: Dependency, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Answering]:
    for name in ("EVERY_S", "SILENT_S", "ANSWER_S"):
        monkeypatch.setattr(module, name, 0.001)
    one = Answering("Kafka", "broker:9092", dependency.ask)
    yield one
    await one.stop()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)


@pytest.mark.parametrize("how", ["says no", "raises", "hangs"])
async def test_a_silence_is_missing_until_there_is_an_answer(
    answering: Answering, dependency: Dependency, how: str
) -> None:
    with capture_logs() as lines:
        answering.start()
        await until(lambda: dependency.asked)
        assert answering.missing() is None
        dependency.how = how
        await until(answering.missing)
        assert str(answering.missing()).startswith("no answer from broker:9092 for")
        asked = dependency.asked
        await until(lambda: dependency.asked > asked + 3)
        dependency.how = "answers"
        await until(lambda: answering.missing() is None)
        await until(lambda: len(lines) == 2)
    assert [(line["event"], line["dependency"]) for line in lines] == [
        ("does not answer, so work waits", "Kafka"),
        ("answers again", "Kafka"),
    ]


async def test_one_failure_within_the_bound_says_nothing(
    answering: Answering, dependency: Dependency, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILENT_S", 3600.0)
    dependency.how = "raises"
    with capture_logs() as lines:
        answering.start()
        await until(lambda: dependency.asked > 2)
        assert answering.missing() is None
    assert lines == []
