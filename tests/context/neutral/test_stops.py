"""Stop strings: their order, what is cut when a provider takes few, and that a cut is told."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from schemas.context import GenerationOptions
from services.catalog.target import ProviderName
from services.context.neutral.stops import MOST_STOPS, UNIVERSAL, stop_strings


def test_the_order_is_dialects_universal_specialised_servers_personas() -> None:
    options = GenerationOptions(
        stop_strings=("END", "", "own", "END"), speaker_stop=True, persona_name=" Ada \n Lovelace "
    )
    stops = stop_strings(options, own=("own",), specialised=("<|user|>",))
    assert stops.strings == ("own", *UNIVERSAL, "<|user|>", "END", "\nAda Lovelace:")
    assert stops.warnings == ()


def test_the_personas_stop_needs_the_setting_the_provider_and_a_name() -> None:
    def named(options: GenerationOptions, *, with_speaker: bool = True) -> tuple[str, ...]:
        return stop_strings(options, universal=(), with_speaker=with_speaker).strings

    assert named(GenerationOptions(speaker_stop=True, persona_name="Ada")) == ("\nAda:",)
    assert named(GenerationOptions(speaker_stop=False, persona_name="Ada")) == ()
    assert named(GenerationOptions(speaker_stop=True, persona_name=" \n")) == ()
    assert named(GenerationOptions(speaker_stop=True)) == ()
    assert named(GenerationOptions(speaker_stop=True, persona_name="Ada"), with_speaker=False) == ()


def test_what_nobody_asked_for_is_cut_first_then_the_last_of_the_users() -> None:
    options = GenerationOptions(stop_strings=("1", "2", "3"), speaker_stop=True, persona_name="Ada")
    cut = stop_strings(options, own=("own",), specialised=("role",), most=4)
    assert cut.strings == ("own", "role", "1", "2")
    (warning,) = cut.warnings
    assert warning.code == "stop_strings_cut"
    assert warning.message == (
        "the provider takes at most 4 stop strings; left out: universal[0], options.stop_strings[2], options.persona_name"
    )


def test_a_users_string_that_is_also_universal_counts_as_the_users() -> None:
    options = GenerationOptions(stop_strings=UNIVERSAL)
    assert stop_strings(options, universal=("guard", *UNIVERSAL), most=1).strings == UNIVERSAL


def test_a_provider_that_refuses_blanks_gets_none() -> None:
    stops = stop_strings(GenerationOptions(stop_strings=("\n", "END")), universal=(), takes_blank=False)
    assert stops.strings == ("END",)
    assert stops.warnings[0].message == "the provider takes none of blanks alone; left out: options.stop_strings[0]"


def test_what_a_user_wrote_is_in_no_warning() -> None:
    cut = stop_strings(GenerationOptions(stop_strings=("private words", "x")), most=1)
    assert "x" not in cut.strings
    assert "private" not in cut.warnings[0].message


def test_a_limit_is_stated_for_every_provider() -> None:
    assert set(MOST_STOPS) == set(get_args(ProviderName))


@given(
    st.lists(st.sampled_from(["", "\n", "a", "b", "c", "d"]), max_size=8),
    st.none() | st.integers(1, 5),
    st.booleans(),
)
def test_strings_are_distinct_within_the_limit_and_a_cut_is_always_told(
    texts: list[str], most: int | None, takes_blank: bool
) -> None:
    options = GenerationOptions(stop_strings=tuple(texts))
    stops = stop_strings(options, universal=("a", "z"), most=most, takes_blank=takes_blank)
    assert len(set(stops.strings)) == len(stops.strings) <= (most or 99)
    wished = [text for text in dict.fromkeys(["a", "z", *texts]) if text]
    assert [text for text in wished if text in stops.strings] == [*stops.strings]
    assert bool(stops.warnings) == (len(wished) > len(stops.strings))
