"""What counts as a good outage: turns that go on, quiet logs, ports that tell the truth, memory that stays."""

import json
from pathlib import Path

import pytest

from schemas.deliveries import NOTICE, SendText
from schemas.identities import nonce
from schemas.turns import Timings, TurnFinished, TurnStatus
from services.runtime.log import LogRecord
from services.runtime.outputs import output
from services.runtime.partitions import partition_of
from services.sandbox.chaos.clock import RunClock
from services.sandbox.chaos.outages.lines import LogVolume, volume
from services.sandbox.chaos.outages.verdict import Seen, judge
from services.sandbox.chaos.outages.watch import Health, Memory, Sample, Watch, health, memory
from services.sandbox.chaos.slots import Slots
from services.sandbox.checking.history import History, ShownMessage, Written
from services.sandbox.checking.index import Index

CLOCK = RunClock(began_s=1_000.0)
KINDS = {"provider-0": "provider", "provider-1": "provider", "gateway-0": "gateway"}
END = 60.0


def line(at: float, event: str, logger: str = "feed") -> str:
    stamp = f"1970-01-01T00:{int(1_000 + at) // 60:02d}:{(1_000 + at) % 60:09.6f}Z"
    return json.dumps({"timestamp": stamp, "event": event, "logger": logger})


def test_lines_are_counted_in_the_outage_only_and_the_loudest_are_named(tmp_path: Path) -> None:
    loud, quiet = tmp_path / "provider-0.log", tmp_path / "gateway-0.log"
    lines = [line(5, "before"), *(line(10 + n / 2, "waiting") for n in range(20)), line(25, "after")]
    loud.write_text("\n".join(lines) + "\n")
    quiet.write_text(line(11, "once", "aiokafka") + "\nTraceback (most recent call last):\n")
    found = volume({"provider-0": loud, "gateway-0": quiet}, CLOCK, 10, 20)
    assert (found.lines, found.worst, found.worst_mean, found.most) == (22, "provider-0", 2.0, 2)
    assert [(one.process, one.event, one.lines) for one in found.loudest] == [
        ("provider-0", "feed: waiting", 20),
        ("gateway-0", "aiokafka: once", 1),
        ("gateway-0", "Traceback (most recent call last):", 1),
    ]


def sample(process: str, at: float, missing: str | None = None, *, lives: bool = True, mib: int = 60) -> Sample:
    return Sample(process, at, lives, missing, mib * 1024 * 1024)


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(Slots(tmp_path, CLOCK), CLOCK)


def test_a_kind_has_told_when_its_last_process_has(watch: Watch) -> None:
    away = "kafka: no answer from 127.0.0.1:9092 for 7 s\nwrites: no write to raw/2 and 7 more is acknowledged for 7 s"
    watch.samples = [
        sample("provider-0", 16, away),
        sample("provider-1", 19, away),
        sample("gateway-0", 17, lives=False),
        sample("provider-0", 61, away),
        sample("gateway-0", 62),
    ]
    found = health(watch, KINDS, 10, END)
    assert found.told_after_s == {"provider": 9.0, "gateway": None}
    assert found.reasons == {
        "provider: kafka: no answer from 127.0.0.1:9092": 2,
        "provider: writes: no write to raw is acknowledged": 2,
    }
    assert (found.ready_after_s, found.dead_looks) == (2.0, 1)


def test_a_process_that_is_never_ready_again_is_found(watch: Watch) -> None:
    watch.samples = [sample("gateway-0", 61, "discord gateway: not connected"), sample("provider-0", 60.5)]
    assert health(watch, KINDS, 10, END).ready_after_s is None


def test_memory_is_that_of_the_process_that_grew_most(watch: Watch) -> None:
    watch.samples = [
        *(sample("provider-0", at, mib=mib) for at, mib in ((5, 70), (20, 75), (70, 72))),
        *(sample("gateway-0", at, mib=mib) for at, mib in ((5, 60), (20, 90), (70, 61))),
    ]
    assert memory(watch, 10) == Memory("gateway-0", 60.0, 90.0)


class Told:
    """Turns told by hand: what was shown when, and how they ended."""

    def __init__(self) -> None:
        self.history = History(partitions=1, at_rest=True)

    def turn(self, number: int, status: TurnStatus, *shown: tuple[float, str]) -> str:
        turn, channel = f"m{number}", str(100 + number)
        for sequence, (at, text) in enumerate(shown):
            send = SendText(channel_id=channel, turn=turn, sequence=sequence, text=text)
            new = output(
                "deliveries", send, channel=channel, event_id=f"{turn}:{sequence}", turn=turn, sequence=sequence
            )
            self._write(at, new)
            message = ShownMessage(channel, f"{number}{sequence}", text, nonce(turn, sequence), at)
            self.history.shown.append(message)
        finished = TurnFinished(
            channel_id=channel, guild_id="1", turn=turn, status=status, generations=1, messages=1, characters=1,
            timings=Timings(received_ms=1, finished_ms=2),
        )  # fmt: skip
        self._write(100.0, output("turns", finished, channel=channel, event_id=f"{turn}:end", turn=turn))
        return turn

    def _write(self, at: float, new) -> None:
        order = len(self.history.writes)
        place = partition_of(new.key, 1)
        record = LogRecord(new.topic, place, order, round(at * 1000), new.key, new.value, new.headers)
        self.history.writes.append(Written(at, order, record))


def seen(*turns: str, **changes: object) -> Seen:
    given: dict[str, object] = {
        "away_s": 50.0,
        "open": frozenset(turns),
        "asked": frozenset(turns),
        "end": END,
        "log": LogVolume(10, "provider-0", 0.2, 3, ()),
        "health": Health({"provider": 6.0, "gateway": None}, {}, 2.0, 0),
        "memory": Memory("provider-0", 60.0, 70.0),
        "tells": frozenset({"provider"}),
        "found": 0,
    }
    return Seen(**{**given, **changes})  # type: ignore[arg-type]


def test_turns_that_go_on_soon_in_quiet_processes_are_a_good_outage() -> None:
    told = Told()
    one = told.turn(1, "completed", (9.0, "One."), (61.5, "Two."), (63.0, "Three."))
    two = told.turn(2, "completed", (9.0, "One."), (62.0, "Two."))
    figures = judge(seen(one, two), Index(told.history))
    assert figures.failures == ()
    assert figures.report["back_s"] == {"count": 2, "p50": 1.5, "max": 2.0}


@pytest.mark.parametrize(
    ("changes", "failure"),
    [
        ({"log": LogVolume(500, "delivery-0", 5.0, 60, ())}, "delivery-0 wrote 5.0 lines a second"),
        ({"health": Health({"provider": None}, {}, 2.0, 0)}, "not every provider said"),
        ({"health": Health({"provider": 6.0}, {}, None, 0)}, "not every process was ready again"),
        ({"memory": Memory("provider-0", 60.0, 300.0)}, "provider-0 grew from 60.0 to 300.0 MiB"),
        ({"end": 20.0}, "showed nothing for 41.5 s"),
        ({"end": 90.0}, "no turn that was open showed anything"),
    ],
)
def test_what_must_not_be_so_fails_the_run(changes: dict[str, object], failure: str) -> None:
    told = Told()
    one = told.turn(1, "completed", (9.0, "One."), (61.5, "Two."))
    [found] = judge(seen(one, **changes), Index(told.history)).failures
    assert failure in found


def test_a_turn_that_ends_with_an_error_has_told_its_user() -> None:
    told = Told()
    silent = told.turn(1, "error", (61.0, "One."))
    honest = told.turn(2, "error", (61.0, "One."), (62.0, f"{NOTICE}The connection to the model was lost."))
    [found] = judge(seen(silent, honest), Index(told.history)).failures
    assert found == "turn m1 ended with error, and its user was not told"
