"""The run's clock: seconds since its start, told by the wall clock, since that is what the broker stamps records with."""

import time
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RunClock:
    """Started when it is made."""

    began_s: float = field(default_factory=time.time)

    def now(self) -> float:
        """Seconds since the start."""
        return time.time() - self.began_s

    def at_wall(self, wall_s: float) -> float:
        """A Unix time in seconds on this clock."""
        return wall_s - self.began_s

    def at_ms(self, wall_ms: int) -> float:
        """A Unix time in milliseconds on this clock."""
        return wall_ms / 1000 - self.began_s

    @property
    def began_ms(self) -> int:
        """The start in Unix milliseconds."""
        return int(self.began_s * 1000)
