"""Stop strings as people write them, within their bounds, and that two who change them at once lose none."""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from schemas.context import GenerationOptions
from schemas.ignorable import DEFAULT_IGNORABLE
from services.catalog.database import Database
from services.catalog.errors import NoSuchRow, Refused
from services.catalog.owners import Server
from services.catalog.stop_strings import MOST, MOST_CHARACTERS, added, escaped, removed, unescaped, usable
from services.catalog.tuning import change_stop_strings, stop_strings_of

SERVER = Server("1")
ignorable = re.compile(f"[{DEFAULT_IGNORABLE}]")
seen = st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]).filter(
    lambda letter: not ignorable.match(letter)
)
emoji = st.sampled_from(["\u2764\ufe0f", "\U0001f469\u200d\U0001f680"])
texts = st.lists(seen | emoji | st.sampled_from("\n\r\t\\"), min_size=1, max_size=MOST_CHARACTERS // 3).map("".join)


@given(text=texts)
def test_a_stop_string_is_one_line_that_means_it_again(text: str) -> None:
    assert not set("\n\r\t") & set(escaped(text))
    assert unescaped(escaped(text)) == text


@given(written=st.text(max_size=300))
def test_whatever_is_written_is_refused_or_a_stop_string_that_options_take(written: str) -> None:
    try:
        text = unescaped(written)
    except Refused:
        return
    assert GenerationOptions(stop_strings=(text,)).stop_strings == (text,)
    assert text
    text.encode()
    assert "\x00" not in text


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("", "1 to 200 characters, and not 0"),
        ("a" * 201, "1 to 200 characters, and not 201"),
        (r"a\q", r"'\q' means nothing"),
        ("a\\", r"'\' means nothing"),
        ("a\x1bb", "cannot be seen"),
        ("a\u202eb", "cannot be seen"),
        ("a\udc80", "cannot be seen"),
        ("\u2028", "cannot be seen"),
        ("\ufe0f", "cannot be seen"),
        ("\ufe0f \ufe0e", "cannot be seen"),
        ("\u200d", "cannot be seen"),
        ("\u3164", "cannot be seen"),
        ("\u034f\\n", "cannot be seen"),
        ("\U000e0100", "cannot be seen"),
    ],
)
def test_what_can_be_no_stop_string_is_refused(written: str, complaint: str) -> None:
    with pytest.raises(Refused) as refused:
        unescaped(written)
    assert complaint in str(refused.value)


@pytest.mark.parametrize("text", ["\u2764\ufe0f", "\U0001f469\u200d\U0001f680", " ", "\n"])
def test_an_emoji_of_several_characters_and_blanks_are_stop_strings(text: str) -> None:
    assert unescaped(text) == text
    assert usable([text, "\ufe0f"]) == [text]


def test_escapes_count_as_the_one_character_that_they_mean() -> None:
    assert unescaped(r"\n" * MOST_CHARACTERS) == "\n" * MOST_CHARACTERS


@given(held=st.lists(texts, unique=True, max_size=MOST), new=st.lists(texts, max_size=MOST))
def test_new_ones_stand_behind_those_there_are_each_once_and_not_too_many(held: list[str], new: list[str]) -> None:
    distinct = list(dict.fromkeys([*held, *new]))
    if len(distinct) <= MOST:
        assert added(held, new) == distinct
        assert removed(distinct, new) == [text for text in held if text not in new]
        return
    with pytest.raises(Refused, match=f"40 stop strings at most, and these would be {len(distinct)}"):
        added(held, new)


def test_one_that_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(NoSuchRow) as refused:
        removed(["a"], ["a", "\nb"])
    assert r"there is no stop string '\nb'" in str(refused.value)


async def change(database: Database, server: Server, **changes: list[str]) -> list[str]:
    async with database.writing() as session:
        return await change_stop_strings(session, server, **changes)


async def held(database: Database, server: Server = SERVER) -> list[str]:
    async with database.reading() as session:
        return await stop_strings_of(session, server)


async def test_they_are_a_servers_and_a_change_that_is_refused_changes_nothing(database: Database) -> None:
    assert await held(database) == []
    assert await change(database, SERVER, add=["b", "a", "b"]) == ["b", "a"]
    assert await held(database, Server("2")) == []
    with pytest.raises(NoSuchRow):
        await change(database, SERVER, add=["c"], remove=["a", "x"])
    with pytest.raises(Refused):
        await change(database, SERVER, add=[f"{number}" for number in range(MOST)])
    assert await held(database) == ["b", "a"]


async def test_two_that_change_at_once_lose_none(database: Database, database_url: str) -> None:
    async with Database(SecretStr(database_url)) as other:
        two, names = (database, other), [f"stop {number}" for number in range(20)]
        await asyncio.gather(*(change(two[at % 2], SERVER, add=[name]) for at, name in enumerate(names)))
        assert sorted(await held(database)) == sorted(names)
        await asyncio.gather(*(change(two[at % 2], SERVER, remove=[name]) for at, name in enumerate(names)))
        assert await held(database) == []
