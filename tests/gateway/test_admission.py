"""Who is answered: the rules of admission, without Discord."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.inbox import FoldSettings, MessageReceived
from schemas.registry import decode
from services.gateway.admission import SeenMessage, admit, inbox_record

BOT = 42
PLAIN = SeenMessage(
    id=1000, channel_id=7, guild_id=5, author_id=9, author_name="Ada", author_bot=False, content="hello there"
)
MENTION = replace(PLAIN, content=f"<@{BOT}> hello", mentions=frozenset({BOT}))


def admitted(message: SeenMessage) -> MessageReceived | None:
    return admit(message, bot_id=BOT, settings=FoldSettings())


def test_talk_among_others_in_a_guild_is_not_for_the_bot() -> None:
    assert admitted(PLAIN) is None


def test_a_mention_in_a_guild_is_for_the_bot() -> None:
    received = admitted(MENTION)
    assert received is not None
    assert (received.source, received.content, received.guild_id) == ("mention", "hello", "5")


def test_a_direct_message_needs_no_mention() -> None:
    received = admitted(replace(PLAIN, guild_id=None))
    assert received is not None
    assert received.source == "direct"


def test_a_reply_to_the_bot_counts_without_a_ping() -> None:
    received = admitted(replace(PLAIN, reply_to=900, reply_to_author=BOT))
    assert received is not None
    assert (received.source, received.reply_to) == ("reply", "900")


def test_a_reply_to_somebody_else_is_not_for_the_bot() -> None:
    assert admitted(replace(PLAIN, reply_to=900, reply_to_author=8)) is None


def test_a_mention_that_discord_does_not_confirm_does_not_count() -> None:
    assert admitted(replace(PLAIN, content=f"`<@{BOT}>` is how to ping")) is None


def test_another_bot_that_replies_with_a_ping_is_ignored() -> None:
    message = replace(PLAIN, author_bot=True, mentions=frozenset({BOT}), reply_to=900, reply_to_author=BOT)
    assert admitted(message) is None


def test_another_bot_in_a_direct_message_is_ignored() -> None:
    assert admitted(replace(PLAIN, author_bot=True, guild_id=None)) is None


def test_another_bot_that_writes_a_mention_is_answered() -> None:
    assert admitted(replace(MENTION, author_bot=True)) is not None


def test_the_bot_never_answers_itself() -> None:
    assert admitted(replace(MENTION, author_id=BOT, author_bot=True)) is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"<@{BOT}> hi", "hi"),
        (f"<@!{BOT}>hi", "hi"),
        (f"  <@{BOT}>  <@{BOT}> hi ", "hi"),
        (f"hi <@{BOT}>", "hi"),
        (f"what does <@{BOT}> say?", f"what does <@{BOT}> say?"),
        (f"<@{BOT}>", ""),
        (f"<@{BOT}> ask <@77>", "ask <@77>"),
    ],
)
def test_the_address_at_either_end_is_not_part_of_the_text(content: str, expected: str) -> None:
    received = admitted(replace(MENTION, content=content))
    assert received is not None
    assert received.content == expected


def test_the_same_message_becomes_the_same_record_twice() -> None:
    received = admitted(MENTION)
    assert received is not None
    record = inbox_record(received)
    assert record == inbox_record(received)
    facts, value = decode(record.headers, record.value)
    assert (facts.id, facts.turn, facts.channel, record.key) == ("message:1000", "m1000", "7", b"7")
    assert value == received


@given(name=st.text(st.characters(), max_size=300), content=st.text(st.characters(), max_size=9_000))
def test_whatever_is_written_becomes_a_readable_record(name: str, content: str) -> None:
    received = admitted(replace(PLAIN, guild_id=None, author_name=name, content=content))
    assert received is not None
    record = inbox_record(received)
    assert decode(record.headers, record.value)[1] == received


def test_half_a_surrogate_pair_does_not_stop_the_message() -> None:
    received = admitted(replace(PLAIN, guild_id=None, content="a\ud83db"))
    assert received is not None
    assert received.content == "a?b"
