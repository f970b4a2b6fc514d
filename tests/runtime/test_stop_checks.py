"""Stops that are not believed: of another channel, or from a time that has not come."""

from types import SimpleNamespace

import pytest

from schemas.stops import ChannelTurns, OneTurn, StopRequested, TurnInterrupted
from services.orchestrator.worker import Orchestrator
from services.runtime.control import Control
from services.runtime.log import LogRecord
from services.runtime.outputs import output
from services.runtime.stop_checks import AHEAD_MS, StopFromTheFuture, StopOfAnotherChannel, check_stop

NOW_MS = 1_780_000_000_000
EPOCH_MS = 1_420_070_400_000


def snowflake(at_ms: int) -> str:
    return str((at_ms - EPOCH_MS) << 22)


def kill(before: str, channel: str = "77") -> StopRequested:
    return StopRequested(
        channel_id=channel, stop_id="1", target=ChannelTurns(before=before), manner="kill", requested_by="1"
    )


def record(stop: StopRequested | TurnInterrupted, *, key: str = "77", offset: int = 0) -> LogRecord:
    new = output("control", stop, channel=key, event_id="stop:1")
    return LogRecord("control", 0, offset, NOW_MS, new.key, new.value, new.headers)


def check(stop: StopRequested | TurnInterrupted, *, key: str = "77") -> None:
    check_stop(record(stop, key=key), stop)


def test_a_stop_of_now_is_believed_also_where_clocks_differ() -> None:
    check(kill(snowflake(NOW_MS)))
    check(kill(snowflake(NOW_MS + AHEAD_MS)))
    check(kill(snowflake(NOW_MS - 3_600_000)))


@pytest.mark.parametrize("before", [snowflake(NOW_MS + AHEAD_MS + 1_000), "9" * 20])
def test_a_stop_from_the_future_is_refused(before: str) -> None:
    with pytest.raises(StopFromTheFuture):
        check(kill(before))


def test_a_stop_under_another_channels_key_is_refused() -> None:
    with pytest.raises(StopOfAnotherChannel):
        check(kill(snowflake(NOW_MS)), key="78")
    with pytest.raises(StopOfAnotherChannel):
        check(TurnInterrupted(channel_id="77", turn="m1", reason="internal"), key="78")


def test_a_stop_that_names_its_turn_has_no_time() -> None:
    check(StopRequested(channel_id="77", stop_id="9" * 20, target=OneTurn(turn="m1"), manner="kill", requested_by="1"))


class NoTail:
    """A log of which the test is the tail."""

    def tail(self, topic: str, **_: object) -> object:
        return None


class StoppedClock:
    def now_ms(self) -> int:
        return NOW_MS


def test_control_lets_turns_go_on_that_a_stop_from_the_future_aims_at() -> None:
    control = Control(NoTail(), StoppedClock())  # type: ignore[arg-type]
    later = snowflake(NOW_MS + 2_000)
    control._apply(record(kill("9" * 20)))
    control._apply(record(kill(snowflake(NOW_MS + 5_000), channel="77"), key="78", offset=1))
    assert control.hit(f"m{later}", "77", later) is None
    control._apply(record(kill(snowflake(NOW_MS + 5_000)), offset=2))
    assert control.hit(f"m{later}", "77", later) is not None


async def test_the_orchestrator_folds_no_stop_from_the_future() -> None:
    folding = Orchestrator(None)  # type: ignore[arg-type]
    with pytest.raises(StopFromTheFuture):
        await folding.handle(SimpleNamespace(record=record(kill("9" * 20))))  # type: ignore[arg-type]
