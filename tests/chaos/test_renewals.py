"""The scenarios that renew workers on the Kafka of the test run, with one process of each kind: nobody takes over."""

from pathlib import Path
from typing import Any

import pytest

from services.orchestrator.rules import RULES
from services.sandbox.chaos.campaign import run_campaign
from services.sandbox.chaos.scenarios import rolling
from services.sandbox.chaos.wishes import Wishes


@pytest.mark.timeout(600)  # it starts a dozen processes, one after another
async def test_a_rolling_restart_interrupts_no_turn_and_repeats_none(
    kafka: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kafka.kind != "kafka":
        pytest.skip("the history needs log-append times and the broker's own notes of its groups")
    monkeypatch.setattr(rolling, "PACE_MS", 15.0)
    wishes = Wishes(
        scenario="rolling", seconds=6.0, kills=0, seed=1, kafka=kafka.bootstrap, restart=True, processes=1, partitions=2,
        turns=3,
    )  # fmt: skip
    report, _ = await run_campaign(wishes, tmp_path, print)
    assert report.good, (report.failures, report.violations)
    assert report.faults == {"sigterm": 6}
    assert report.statuses == {"completed": report.turns}
    assert (report.lost, report.duplicated, report.calls_repeated) == (0, 0, 0)
    assert report.own is not None
    shown = report.own.report
    assert (shown["interrupted"], shown["called_again"]) == (0, 0)
    assert shown["by_slot"].keys() == shown["restart_s"].keys() >= {"provider-0", "gateway-0"}
    assert shown["pause_s"] > 0


@pytest.mark.timeout(600)
async def test_turns_keep_their_rules_version_while_new_code_goes_out_and_the_version_is_raised(
    kafka: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kafka.kind != "kafka":
        pytest.skip("the history needs log-append times and the broker's own notes of its groups")
    monkeypatch.setattr(rolling, "PACE_MS", 15.0)
    wishes = Wishes(
        scenario="rules-raised", seconds=6.0, kills=0, seed=1, kafka=kafka.bootstrap, restart=True, processes=1,
        partitions=2, turns=3,
    )  # fmt: skip
    report, _ = await run_campaign(wishes, tmp_path, print)
    assert report.good, (report.failures, report.violations)
    assert report.statuses == {"completed": report.turns}
    assert (report.lost, report.duplicated, report.calls_repeated) == (0, 0, 0)
    assert report.own is not None
    versions = report.own.report["versions"]
    present, following = str(max(RULES)), str(max(RULES) + 1)
    assert versions[present]["turns"] >= 3
    assert versions[following]["turns"] >= 3
    assert versions[following]["longest_text"] < versions[present]["longest_text"]
