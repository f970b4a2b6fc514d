"""On what machine a benchmark ran, as far as it bears on its figures."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Machine:
    """`load_before` is the load average of the last minute before the run: over a tenth of the cores, others worked too."""

    system: str
    processor: str
    cores: int
    memory_gib: float
    python: str
    load_before: float


def this_machine() -> Machine:
    """The machine that this process runs on, as it is now."""
    return Machine(
        system=f"{platform.system()} {platform.release()}",
        processor=_processor(),
        cores=len(psutil.Process().cpu_affinity()) if hasattr(psutil.Process, "cpu_affinity") else os.cpu_count() or 1,
        memory_gib=round(psutil.virtual_memory().total / 2**30, 1),
        python=platform.python_version(),
        load_before=round(os.getloadavg()[0], 1),
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
