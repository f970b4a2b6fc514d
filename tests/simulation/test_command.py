"""`odradek simulate` as a person runs it."""

import subprocess
import sys

import psutil
import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with the one that started it")
def test_a_killed_campaign_leaves_no_process() -> None:
    command = [sys.executable, "-m", "services.cli", "simulate", "--seeds", "100000", "--processes", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if "100000 seeds" in line)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.communicate()
    assert len(children) >= 2
    _, alive = psutil.wait_procs(children, timeout=60)
    assert alive == []
