"""What goes wrong on purpose: slow, failing or cut calls, and being away for a while."""

from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Literal

from services.sandbox.discord.jsontypes import JsonObject

Away = Literal["503", "cut"]


@dataclass(frozen=True, slots=True)
class Fault:
    """What befalls calls whose method and path (without `/api/v10`, with `*` for anything) fit.

    After `skip` such calls, `times` of them (None: all) wait `delay_s` seconds; then, if `status` is set, are answered
    with it, or with `cut` lose their connection instead. `apply` says that the call is done all the same. `retry_after`
    is what a 429 tells, in seconds.
    """

    method: str = "*"
    path: str = "*"
    delay_s: float = 0.0
    status: int | None = None
    cut: bool = False
    apply: bool = False
    retry_after: float = 1.0
    skip: int = 0
    times: int | None = 1

    @property
    def fails(self) -> bool:
        return self.cut or self.status is not None


@dataclass(slots=True)
class _Armed:
    fault: Fault
    seen: int = 0


class Faults:
    """The faults in force, the oldest first; a call meets the first that fits."""

    def __init__(self) -> None:
        self._armed = dict[int, _Armed]()
        self._made = 0
        self._away: Away | None = None
        self._away_until = 0.0

    def add(self, fault: Fault) -> int:
        self._made += 1
        self._armed[self._made] = _Armed(fault)
        return self._made

    def remove(self, fault_id: int) -> bool:
        return self._armed.pop(fault_id, None) is not None

    def clear(self) -> None:
        self._armed.clear()
        self._away = None

    def go_away(self, how: Away, until: float) -> None:
        """Answer 503 or drop every connection until `until` (seconds of a steady clock)."""
        self._away, self._away_until = how, until

    def away(self, now: float) -> Away | None:
        return self._away if now < self._away_until else None

    def meet(self, method: str, path: str) -> Fault | None:
        """The fault that this call meets; counts it."""
        for fault_id, armed in self._armed.items():
            fault = armed.fault
            if fault.method not in ("*", method) or not fnmatchcase(path, fault.path):
                continue
            armed.seen += 1
            if armed.seen <= fault.skip:
                continue
            if fault.times is not None and armed.seen - fault.skip >= fault.times:
                del self._armed[fault_id]
            return fault
        return None

    def listed(self) -> list[JsonObject]:
        return [{"id": fault_id, "seen": armed.seen, **asdict(armed.fault)} for fault_id, armed in self._armed.items()]
