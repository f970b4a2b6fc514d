"""Discord's Markdown as a tree: what is understood, and that all the rest stays text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from services.sandbox.page.jsontypes import Span
from services.sandbox.page.markup import blocks_of

NAMES = {"12": "odradek"}


def short(content: str) -> list:
    """The blocks as lists: [kind, span, ...], a span being a text or [kind, ...]."""

    def span(one: Span):
        if one["kind"] == "text":
            return one["text"]
        return [one["kind"], *(map(span, one["spans"]) if "spans" in one else [one["text"]])]

    return [
        [block["kind"], *(map(span, block["spans"]) if "spans" in block else [block["language"], block["text"]])]
        for block in blocks_of(content, NAMES)
    ]


def test_inline_markup() -> None:
    assert short("a **b *c*** _d_ `e*f*` <@12> <@!99> \\*g\\*") == snapshot(
        [
            [
                "text",
                "a ",
                ["bold", "b ", ["italic", "c"]],
                " ",
                ["italic", "d"],
                " ",
                ["code", "e*f*"],
                " ",
                ["mention", "@odradek"],
                " ",
                "<@!99>",
                " ",
                "*",
                "g",
                "*",
            ]
        ]
    )


def test_blocks() -> None:
    content = "one\ntwo\n\nthree\n> said\n> again\n- x\n- y\n-# small **print**\n```py\nif a < b:\n    **c**\n```\nend"
    assert short(content) == snapshot(
        [
            [
                "text",
                """\
one
two\
""",
            ],
            ["text", "three"],
            [
                "quote",
                """\
said
again\
""",
            ],
            ["item", "x"],
            ["item", "y"],
            ["small", "small ", ["bold", "print"]],
            [
                "code",
                "py",
                """\
if a < b:
    **c**\
""",
            ],
            ["text", "end"],
        ]
    )


@pytest.mark.parametrize(
    "content",
    [
        "snake_case_name",
        "2 * 3 * 4",
        "** not bold **",
        "`open",
        "```open",
        "<@x>",
        "<script>alert(1)</script>",
        "*",
        "__",
    ],
)
def test_what_is_no_markup_stays_text(content: str) -> None:
    assert short(content) == [["text", content]]


def test_a_fence_without_a_language_keeps_its_first_line() -> None:
    assert short("```a b\nc```") == [["code", "", "a b\nc"]]


def test_an_empty_message_has_no_blocks() -> None:
    assert short(" \n ") == []


def leaves(spans: list[Span]) -> str:
    return "".join(leaves(span["spans"]) if "spans" in span else span["text"] for span in spans)


@given(st.text(alphabet="ab*_`<>@!12\\#- \n"))
def test_no_letter_is_lost(content: str) -> None:
    shown = "".join(block["text"] if "text" in block else leaves(block["spans"]) for block in blocks_of(content, {}))
    letters = [letter for letter in content if letter in "ab"]
    # A fence's language is not a part of its text.
    languages = "".join(block.get("language", "") for block in blocks_of(content, {}))
    assert sorted(letter for letter in shown + languages if letter in "ab") == sorted(letters)
