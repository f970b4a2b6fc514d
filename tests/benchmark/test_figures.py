"""What the benchmarks make of what they measured."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.orchestrator.rules import RULES
from services.orchestrator.segments import Buffer, feed
from services.sandbox.benchmark.fairness import FairnessReport, compare
from services.sandbox.benchmark.hostile import HOSTILITIES
from services.sandbox.benchmark.load import Level, Sample, place
from services.sandbox.benchmark.machine import this_machine
from services.sandbox.benchmark.neighbours import Waited
from services.sandbox.benchmark.quantiles import in_ms, quantile
from services.sandbox.benchmark.replies import label_of, make_reply
from services.sandbox.benchmark.report import fairness_report, scale_report
from services.sandbox.benchmark.scale import ScaleReport, Step
from services.sandbox.benchmark.search import search_highest

FLAT = Level(
    turns_at_once=2,
    rate=20.0,
    seconds=30.0,
    samples=tuple(Sample(1, n, float(n), 0.02) for n in range(30)),
    turn_equivalents=4.0,
    turns_over=4,
    broken=0,
    start_s=(0.1, 0.1),
    provider_late_s=0.001,
    cpu_s={"provider": 1.0},
    records={"raw": 600, "inbox": 600},
    waiting=(3,) * 30,
)


@given(st.integers(0, 100_000), st.integers(1, 12))
def test_a_paragraph_is_decided_at_the_delta_that_is_said_to_complete_it(number: int, paragraphs: int) -> None:
    reply = make_reply(number, paragraphs=paragraphs)
    buffer, decided = Buffer(), dict[int, int]()
    for index, delta in enumerate(reply.deltas):
        buffer, segments = feed(buffer, delta, RULES[max(RULES)])
        for segment in segments:
            label = label_of(segment.text)
            assert label == (number, len(decided))
            decided[len(decided)] = index
    assert tuple(decided.values()) == reply.completes


@given(st.lists(st.floats(0, 10), min_size=1), st.floats(0.01, 1))
def test_a_quantile_is_the_least_value_that_the_part_does_not_exceed(values: list[float], part: float) -> None:
    found = quantile(values, part)
    assert found in values
    assert sum(value <= found for value in values) >= part * len(values) - 1e-9
    assert sum(value < found for value in values) < part * len(values) + 1e-9


def test_nothing_measured_has_no_quantiles() -> None:
    assert in_ms([]).p50 is None


@given(st.integers(1, 40), st.integers(1, 300), st.integers(0, 400))
async def test_the_search_ends_within_a_tenth_of_the_highest_that_holds(first: int, most: int, limit: int) -> None:
    async def holds(turns: int) -> str | None:
        assert 1 <= turns <= most
        return None if turns <= limit else "too many"

    found, tried = await search_highest(holds, first=first, most=most)
    best = min(limit, most)
    assert best - max(1, int(found * 0.1)) <= found <= best
    assert len({one.turns for one in tried}) == len(tried)


@given(st.integers(1, 128), st.integers(0, 1_000))
def test_channels_in_a_row_fill_all_partitions_evenly(partitions: int, first: int) -> None:
    assert {place(first + number, partitions) for number in range(partitions)} == set(range(partitions))


def test_an_even_load_is_flat() -> None:
    assert FLAT.why_not_flat() is None


@pytest.mark.parametrize(
    ("level", "why"),
    [
        (replace(FLAT, broken=1), "whole text"),
        (replace(FLAT, provider_late_s=0.3), "behind its pace"),
        (replace(FLAT, start_s=(0.1, 2.5)), "began"),
        (replace(FLAT, samples=FLAT.samples[:5]), "too few"),
        (replace(FLAT, samples=tuple(replace(s, lag_s=2.0) for s in FLAT.samples)), "late"),
        (replace(FLAT, samples=tuple(replace(s, lag_s=s.wrote_s / 100) for s in FLAT.samples)), "grew by 2"),
        (replace(FLAT, waiting=tuple(range(30))), "records that wait"),
    ],
)
def test_a_load_that_does_not_hold_says_why(level: Level, why: str) -> None:
    assert why in (level.why_not_flat() or "flat")


def test_the_scale_report_has_a_line_for_each_number_of_processes() -> None:
    steps = tuple(Step(n, 10 * n, None if n == 1 else float(n), in_ms([0.01]), ()) for n in (1, 2, 4))
    report = ScaleReport(
        "odradek bench scale", this_machine(), "a broker", 16, "a Discord", "openai-chat", "provider", 0.1, 12, {}, 20.0,
        15.0, 320, steps,
    )  # fmt: skip
    text = scale_report(report)
    assert [line.split()[:2] for line in text.splitlines()[-3:]] == [["1", "10"], ["2", "20"], ["4", "40"]]


@pytest.mark.parametrize(
    ("hostile_s", "within"),
    [
        ((0.6,) * 20, True),
        ((0.61,) * 20, False),
        ((0.5,) * 18 + (0.7,) * 2, False),
        ((0.5,) * 19 + (9.0,), True),
        ((), False),
    ],
)
def test_a_hostility_counts_as_fair_where_neither_the_median_nor_the_slow_turns_wait_a_fifth_longer(
    hostile_s: tuple[float, ...], within: bool
) -> None:
    quiet = [Waited("elsewhere", 0.5)] * 20
    row = compare(HOSTILITIES[0], quiet, [Waited("elsewhere", value) for value in hostile_s], 7, 1.0)
    assert row.within_20_percent == within
    assert (row.quiet_ms.turns, row.hostile_ms.turns, row.hostile_messages) == (20, len(hostile_s), 7)


def test_the_fairness_report_tells_the_places_apart_and_has_a_line_for_each_hostility() -> None:
    quiet = [Waited("same partition", 0.5), Waited("elsewhere", 0.5)]
    beside = [Waited("same partition", 1.0), Waited("elsewhere", 0.5)]
    rows = tuple(compare(one, quiet, beside, 1, 0.0) for one in HOSTILITIES)
    assert rows[0].ratio_p50_of == {"same partition": 2.0, "elsewhere": 1.0}
    report = FairnessReport(
        "odradek bench fairness", this_machine(), "a broker", 16, "a Discord", "openai-chat", {}, 2, {}, 1, 5.0, 2.0, 500.0,
        rows,
    )  # fmt: skip
    lines = fairness_report(report).splitlines()
    for one in HOSTILITIES:
        assert any(line.split()[:3] == [one.name, "2", "2"] for line in lines)
