"""Pauses of visible text: between two texts of one turn, inside a stretch of time or across its edges."""

from services.sandbox.chaos.pauses import Pause, first_waits, longest, pauses
from services.sandbox.chaos.people import Asked
from services.sandbox.chaos.slots import Window
from services.sandbox.discord.entities import Channel, ChannelKind

TEXTS = {"m1": [1.0, 2.0, 5.5, 6.0], "m2": [3.0], "m3": []}
CHANNEL = Channel(101, ChannelKind.TEXT, "chaos-0", 1)


def test_only_neighbouring_texts_of_one_turn_make_a_pause() -> None:
    assert pauses(TEXTS) == [Pause("m1", 1.0, 2.0), Pause("m1", 2.0, 5.5), Pause("m1", 5.5, 6.0)]


def test_a_pause_that_began_before_the_restarts_or_ends_after_them_counts_whole() -> None:
    found = longest(pauses(TEXTS), Window("renewal", 5.0, 5.2))
    assert found is not None
    assert found.seconds == 3.5


def test_a_calm_stretch_knows_only_what_lies_in_it() -> None:
    assert longest(pauses(TEXTS), Window("calm", 2.5, 6.0), whole=True) == Pause("m1", 5.5, 6.0)
    assert longest(pauses(TEXTS), Window("calm", 1.5, 5.0), whole=True) is None


def test_a_turn_without_text_has_no_first_one_to_wait_for() -> None:
    asked = [Asked(turn, CHANNEL, 0.5, "?") for turn in TEXTS]
    assert first_waits(asked, TEXTS) == [Pause("m1", 0.5, 1.0), Pause("m2", 0.5, 3.0)]
