"""The reference shows whole turns, and the stage knows for each segment when its last byte was written."""

import asyncio

import pytest

from services.sandbox.benchmark import load
from services.sandbox.benchmark.provider import Plan
from services.sandbox.benchmark.replies import make_reply
from services.sandbox.benchmark.runners import open_reference
from services.sandbox.benchmark.stage import Stage


async def test_the_reference_shows_every_paragraph_in_order_after_the_byte_that_completes_it(stage: Stage) -> None:
    async with open_reference(stage) as reference:
        turns = await asyncio.gather(
            *(
                reference.run(*stage.add_channel(), Plan(make_reply(stage.next_number(), paragraphs=3), 0.002))
                for _ in range(2)
            )
        )
    for _, turn in turns:
        assert turn.whole
        assert turn.call is not None
        assert turn.call.how == "finished"
        assert sorted(turn.call.wrote) == [0, 1, 2]
        assert all(shown.at_s > turn.call.wrote[n] for n, shown in enumerate(turn.shown))
        assert "".join(shown.message.content for shown in turn.shown) == turn.plan.reply.text.replace("\n", "")


async def test_a_load_counts_what_its_measured_part_saw(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "RAMP_S", 0.05)
    monkeypatch.setattr(load, "WARM_S", 0.05)
    async with open_reference(stage) as reference:
        level = await load.run_load(stage, reference, turns=2, rate=400.0, seconds=1.0)
    assert level.broken == 0
    assert level.turn_equivalents > 0
    assert level.samples
    assert all(sample.lag_s > 0 for sample in level.samples)
    assert stage.turns == {}
    assert stage.provider.plans == {}
