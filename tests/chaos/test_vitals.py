"""Whether a process stays level: growth between thirds, descriptors, and what it holds at the end."""

from dataclasses import replace

from services.sandbox.chaos.vitals import Vitals, level

SAMPLE = Vitals(at=0.0, rss_mb=100.0, descriptors=20, claims=3, unfinished=7)
END = replace(SAMPLE, claims=0, unfinished=0)


def samples(*rss_mb: float) -> list[Vitals]:
    return [replace(SAMPLE, rss_mb=one) for one in rss_mb]


def test_a_process_that_grows_only_while_it_warms_up_is_level() -> None:
    judged = level(samples(50, 60, 90, 100, 101, 102, 103, 104, 104), END)
    assert judged is not None
    assert judged.failures == ()
    assert (judged.rss_mb, judged.claims_most, judged.unfinished_most) == ((101.0, 104.0), 3, 7)


def test_memory_that_goes_on_growing_is_a_failure() -> None:
    judged = level(samples(50, 60, 70, 80, 90, 100, 110, 120, 130), END)
    assert judged is not None
    assert judged.failures == ("its memory grew by 33.3% from the second to the last third",)


def test_one_high_sample_is_none() -> None:
    judged = level(samples(100, 100, 100, 100, 100, 100, 100, 300, 100), END)
    assert judged is not None
    assert judged.failures == ()


def test_more_descriptors_and_what_is_held_at_the_end_are_failures() -> None:
    more = [*samples(*[100.0] * 6), *(replace(SAMPLE, descriptors=30) for _ in range(3))]
    judged = level(more, replace(SAMPLE, claims=1, unfinished=2))
    assert judged is not None
    assert judged.failures == (
        "its descriptors grew from 20 to 30",
        "1 claims are open at the end",
        "2 records are unfinished at the end",
    )


def test_too_few_samples_are_not_judged() -> None:
    assert level(samples(100, 100), END) is None
