"""The clock port: wall time only; durations and waits come from the running event loop."""

import time
from typing import Protocol


class Clock(Protocol):
    """Wall time. Loops that run virtual time bring a clock of their own."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        ...


class SystemClock:
    """The machine's wall clock."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC."""
        return time.time_ns() // 1_000_000
