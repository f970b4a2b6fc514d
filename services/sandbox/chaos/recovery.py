"""How long the turns that a killed process held stood still: from the kill to their next visible text, or their end."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.runtime.partitions import partition_of
from services.sandbox.chaos.slots import Window
from services.sandbox.chaos.strikes import Kill
from services.sandbox.checking.history import Owned
from services.sandbox.checking.index import Index, TurnView
from services.sandbox.checking.reading import CONSUMERS

UNDER_WAY_S = 1.0
"""What is shown so soon after a kill was under way before; it recovers nothing."""

_READS = {service: topic for topic, service in CONSUMERS.items()}


@dataclass(frozen=True, slots=True)
class Recovery:
    """Of one kill that hit a process with turns in progress. `alone`: no other fault was at work until the recovery.

    `startup_s`: of the process that came in its stead; 0 where others took over.
    """

    kill: Kill
    turns: tuple[str, ...]
    seconds: float
    alone: bool
    startup_s: float


def recoveries(
    index: Index, kills: Sequence[Kill], faults: Sequence[Window], startups: Sequence[Window] = ()
) -> list[Recovery]:
    """Of all kills that hit a turn in progress; `faults` are all absences, those of the kills too."""
    found: list[Recovery] = []
    for kill in kills:
        turns = tuple(_held(index, kill))
        seconds = max((_stood_still(index, turn, kill.at) for turn in turns), default=None)
        if seconds is not None:
            others = (fault for fault in faults if not (fault.name == kill.slot and abs(fault.start - kill.at) < 1.0))
            alone = not any(fault.start <= kill.at + seconds and fault.end >= kill.at for fault in others)
            back = (one for one in startups if one.name == kill.slot and kill.at < one.start < kill.at + seconds)
            startup_s = next((one.end - one.start for one in back), 0.0)
            found.append(Recovery(kill, tuple(turn.id for turn in turns), seconds, alone, startup_s))
    return found


def _held(index: Index, kill: Kill) -> Iterator[TurnView]:
    """The turns in progress that the killed process had a part in; a gateway holds none."""
    partitions = _owned(index.history.owners or (), kill)
    for turn in index.turns.values():
        if turn.channel is None or not _in_progress(turn, kill.at):
            continue
        owns = partition_of(turn.channel.encode(), index.history.partitions) in partitions
        match kill.kind:
            case "provider":
                held = any(
                    call.instance == kill.slot
                    and call.opened_at <= kill.at
                    and (call.closed_at is None or call.closed_at >= kill.at)
                    for number in turn.requests
                    for call in index.calls.get((turn.id, number), ())
                )
            case "context":
                held = owns and not turn.prompts.get(max(turn.requests), ())
            case _:
                held = owns
        if held:
            yield turn


def _in_progress(turn: TurnView, at: float) -> bool:
    started = min((read.at for read in turn.requests.values()), default=None)
    return started is not None and started <= at and (not turn.results or turn.results[0].at > at)


def _owned(owners: Sequence[Owned], kill: Kill) -> set[int]:
    topic = _READS.get(kill.kind)
    last: dict[int, str] = {}
    for owned in owners:
        if owned.topic == topic and owned.at <= kill.at:
            last[owned.partition] = owned.member
    return {partition for partition, member in last.items() if member == kill.slot}


def _stood_still(index: Index, turn: TurnView, at: float) -> float:
    """To the end of the longest silence that began before the kill or soon after it."""
    times = sorted(message.at for key, messages in index.shown.items() if key[0] == turn.id for message in messages)
    times += [turn.results[0].at] if turn.results else [index.until]
    begins = [at, *(time for time in times if at < time <= at + UNDER_WAY_S)]
    ends = [(times[bisect_right(times, begin)], begin) for begin in begins if bisect_right(times, begin) < len(times)]
    if not ends:
        return times[-1] - at
    end, _ = max(ends, key=lambda pair: pair[0] - pair[1])
    return end - at
