"""How a reply becomes messages."""

import random
import re
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from services.orchestrator import segments
from services.orchestrator.rules import RULES
from services.orchestrator.segments import Buffer, Segment, discard

feed = partial(segments.feed, rules=RULES[2])
flush = partial(segments.flush, rules=RULES[2])
LIMIT, LINE_GROUP = RULES[2].segment_limit, RULES[2].line_group

PIECES = st.sampled_from(
    [
        "word ",
        "A sentence. ",
        "\n",
        "\n\n",
        "```",
        "```py\n",
        "``",
        "`",
        "    ",
        "- an item of a list\n" * 12,
        "x" * 700,
        " " * 900,
        "\n" * 40,
        "é\u0301",
        "👩\u200d👩\u200d👧",
        "🇩🇪🇫🇷",
        "。日本語",
    ]
)
TEXTS = st.lists(PIECES, max_size=40).map("".join)


def segments_of(*deltas: str) -> list[Segment]:
    buffer = Buffer()
    segments: list[Segment] = []
    for delta in deltas:
        buffer, more = feed(buffer, delta)
        segments += more
        assert len(buffer.pending) <= LIMIT
    _, more = flush(buffer)
    return [*segments, *more]


def shown(*deltas: str) -> list[str]:
    return [segment.text for segment in segments_of(*deltas)]


def test_a_blank_line_ends_a_message() -> None:
    assert shown("One.\n\nTwo.\nThree.\n\n\n\nFour.") == ["One.", "Two.\nThree.", "Four."]


def test_a_single_newline_ends_a_message_only_behind_enough_text() -> None:
    line = "a" * (LINE_GROUP // 2 - 1) + "\n"
    assert shown(line * 3) == [(line * 2).rstrip(), line.rstrip()]


def test_a_segment_is_given_out_as_soon_as_its_newline_is_there() -> None:
    buffer, segments = feed(Buffer(), "One.\n\nTw")
    assert [segment.text for segment in segments] == ["One."]
    assert buffer.pending == "Tw"


def test_blank_text_makes_no_segment() -> None:
    assert shown(" \n\n \t\n" * 1_000) == []


def test_a_blank_run_longer_than_a_message_joins_the_range_of_the_text_behind_it() -> None:
    [segment] = segments_of(" " * 5_000 + "here")
    assert (segment.text.strip(), segment.start, segment.end) == ("here", 0, 5_004)


def test_a_fence_is_not_cut_at_blank_lines_inside_it() -> None:
    code = "```py\na = 1\n\nb = 2\n```"
    assert shown(f"{code}\n\nDone.") == [code, "Done."]


def test_an_overlong_fence_is_closed_and_opened_again_with_its_language() -> None:
    lines = "".join(f"line_{number} = {number}\n" for number in range(300))
    texts = shown(f"```py\n{lines}```\n\nDone.")
    assert texts[-1] == "Done."
    assert all(text.startswith("```py\n") and text.endswith("\n```") for text in texts[:-1])
    assert "".join(text.removeprefix("```py\n").removesuffix("```") for text in texts[:-1]) == lines


def test_the_text_before_an_overlong_fence_goes_out_alone_so_that_the_code_stays_together() -> None:
    code = "```py\n" + "x = 1\n" * 306 + "```"
    assert shown(f"Look:\n{code}\n") == ["Look:", code]


def test_a_fence_that_closes_right_behind_a_cut_makes_no_empty_block() -> None:
    for length in range(LIMIT - 20, LIMIT + 20):
        texts = shown("```\n" + "x" * length + "\n```\n\nDone.")
        assert texts[-1] == "Done."
        assert "".join(texts[:-1]).count("x") == length
        assert all("x" in text and text.count("```") == 2 for text in texts[:-1])


def test_a_fence_that_the_end_leaves_open_is_closed() -> None:
    assert shown("```py\na = 1") == ["```py\na = 1\n```"]


def test_a_fence_that_was_only_opened_is_not_shown() -> None:
    assert shown("Code:\n```py\n") == ["Code:"]


def test_inline_triple_backticks_open_nothing() -> None:
    assert shown("Use ```x``` here.\n\nThen.") == ["Use ```x``` here.", "Then."]


def test_an_overlong_line_is_cut_behind_a_sentence() -> None:
    texts = shown("A fine sentence here. " * 200)
    assert all(text.endswith("here.") for text in texts)
    assert all(LIMIT // 2 < len(text) <= LIMIT for text in texts[:-1])


def test_an_overlong_line_without_sentences_is_cut_behind_a_word() -> None:
    assert all(set(text.split(" ")) == {"word"} for text in shown("word " * 1_000))


def test_a_cut_without_spaces_splits_no_emoji_and_no_backticks() -> None:
    family = "👩\u200d👩\u200d👧"
    for shift in range(12):
        texts = shown("x" * (LIMIT - shift) + family + "y" * 50)
        assert any(family in text for text in texts)
        texts = shown("x" * (LIMIT - shift) + "```py\ncode\n```")
        assert not any(text.rstrip("`").endswith("x") and text.endswith("`") for text in texts)


def test_discarding_goes_back_to_the_end_of_the_last_segment_and_its_open_fence() -> None:
    buffer, segments = feed(Buffer(), "```py\n" + "x = 1\n" * 400)
    buffer, more = feed(discard(buffer), "y = 2\n```\n")
    _, last = flush(buffer)
    assert more == ()
    assert last[0].text == "```py\ny = 2\n```"
    assert last[0].start == segments[-1].end


@given(TEXTS, st.randoms(use_true_random=False))
def test_the_cuts_of_a_text_do_not_depend_on_its_deltas(text: str, dice: random.Random) -> None:
    deltas: list[str] = []
    rest = text
    while rest:
        size = dice.choice((1, 2, 3, 40, 900, 5_000))
        deltas.append(rest[:size])
        rest = rest[size:]
    assert segments_of(*deltas) == segments_of(text)


@given(TEXTS)
def test_ranges_are_contiguous_and_messages_fit(text: str) -> None:
    position = 0
    for segment in segments_of(text):
        assert segment.start == position < segment.end
        assert text[: segment.end].endswith(segment.source)
        assert segment.text.strip()
        assert len(segment.text) <= 1_900
        position = segment.end
    # What no message shows is blank, or a fence with its language and nothing in it.
    assert re.fullmatch(r"\s*(?:`+\s*[A-Za-z0-9_+#.\-]*\s*)*", text[position:])


@given(TEXTS.map(lambda text: text.replace("`", "")))
def test_all_text_is_shown_once(text: str) -> None:
    assert "".join("".join(part.split()) for part in shown(text)) == "".join(text.split())


@given(TEXTS)
def test_every_message_closes_the_fences_that_it_opens(text: str) -> None:
    for part in shown(text):
        runs = [run for run in "".join(char if char == "`" else " " for char in part).split() if len(run) >= 3]
        assert len(runs) % 2 == 0
