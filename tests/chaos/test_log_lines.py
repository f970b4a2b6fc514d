"""How much is logged: lines a second of the process that logs most, on average, and in the worst second."""

from services.sandbox.chaos.log_lines import LogLines, log_lines


def line(second: int) -> bytes:
    return b'{"event": "something", "timestamp": "2026-01-01T10:00:%02d.123456Z"}' % second


def test_a_flood_shows_in_the_peak_and_names_its_process() -> None:
    quiet, flooding = [line(1), line(7)], [line(1), *[line(5)] * 17]
    counted = log_lines({"context-0": quiet, "delivery-1": flooding, "gateway-0": []}, 10.0)
    assert counted == LogLines(most=1.8, of="delivery-1", mean=0.67, peak=17)


def test_lines_without_a_time_count_too() -> None:
    assert log_lines({"context-0": [b"Traceback (most recent call last):"] * 5}, 10.0) == LogLines(
        most=0.5, of="context-0", mean=0.5, peak=0
    )
