"""`odradek chaos` as a person runs it: real processes on a Kafka of its own."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from services.sandbox.brokers.install import missing

pytestmark = [
    pytest.mark.skipif(missing() is not None, reason="chaos kills a Kafka of its own, which needs Java and Maven"),
    pytest.mark.usefixtures("jvm_kafka_factory"),
]


@contextmanager
def chaos(tmp_path: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "services.cli", "chaos", "--keep", str(tmp_path / "run"), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()


def test_a_short_run_breaks_no_invariant_and_tells_its_figures(tmp_path: Path) -> None:
    arguments = ("--seconds", "20", "--kills", "3", "--seed", "1", "--partitions", "4", "--json")
    with chaos(tmp_path, *arguments) as process:
        told, progress = process.communicate()
    assert process.returncode == 0, progress
    report = json.loads(told)
    assert report.keys() >= {
        *("turns", "ended", "lost", "duplicated", "calls_repeated", "kills", "recovery_s", "violations")
    }
    assert report["recovery_s"].keys() >= {"p50", "max"}
    assert (report["scenario"], report["violations"], report["failures"]) == ("mixed", [], [])
    assert report["turns"] == report["ended"] > 8
    assert report["kills"] == 3
    assert (report["lost"], report["duplicated"], report["calls_repeated"]) == (0, 0, 0)
    assert {path.stem for path in (tmp_path / "run").glob("*.log")} >= {"provider-0", "provider-1", "gateway-1"}


def test_an_unknown_scenario_is_refused_with_the_names_of_those_there_are(tmp_path: Path) -> None:
    with chaos(tmp_path, "--scenario", "nonesuch") as process:
        _, said = process.communicate()
    assert process.returncode == 2
    assert "nonesuch" in said
    assert "mixed" in said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_no_process(tmp_path: Path, number: signal.Signals) -> None:
    with chaos(tmp_path, "--seconds", "60", "--kills", "0") as process:
        assert process.stderr is not None
        next(line for line in process.stderr if "starting 12 worker processes" in line)
        children = _children(process.pid, at_least=13)
        process.send_signal(number)
        process.communicate()
        assert process.returncode == 130
        assert [child for child in children if child.is_running()] == []


def test_a_killed_run_leaves_no_process_either(tmp_path: Path) -> None:
    with chaos(tmp_path, "--seconds", "60", "--kills", "0", "--processes", "1") as process:
        assert process.stderr is not None
        next(line for line in process.stderr if "starting 6 worker processes" in line)
        children = _children(process.pid, at_least=7)
        process.kill()
        process.communicate()
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []


def _children(pid: int, *, at_least: int) -> list[psutil.Process]:
    found: list[psutil.Process] = []
    while len(found) < at_least:  # a process that has been started tells nobody
        found = psutil.Process(pid).children(recursive=True)
    return found
