"""What is known of server, persona and turn: its order, the note's depth, directives, macros and how the reply begins."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from schemas.context import GenerationOptions
from services.context.building import macros
from services.context.building.known import KnownUser, Note, Persona, Sample, Server
from services.context.neutral.partition import partition
from tests.context.building.conftest import BOT, GRACE, asking, items, lines, made, said, scene, text

FULL = scene(
    system_prompt="You play {bot} for {user}.",
    persona=Persona(
        "Mira",
        webhook_name="Mira",
        prompt="{{char}} is a spool.",
        attributes=("is small", "likes {user}"),
        samples=(Sample("Hi {bot}", "Hello {user}"),),
        note=Note("Stay calm, {bot}.", 1),
    ),
    server=Server(
        name="Prague",
        description="A [quiet]\nplace",
        channel="stairs",
        topic="thread",
        memories=("Grace has\na cat",),
        emojis=("tea", "yarn"),
        stickers=("wave",),
        conditioning=("Speak {bot}'s way.",),
        note=Note("unused"),
    ),
    users=(
        KnownUser(GRACE, aliases=("G",), status="away", memories=("likes tea",)),
        KnownUser("99", memories=("gone",)),
    ),
    short_term_memory=("They met.",),
    documents=("Page 1: all.",),
    minor_directives=("Remember the stairs.",),
    directives=("Be brief.", "Be kind."),
)


def test_the_whole_order() -> None:
    where = asking(FULL, is_queued=True)
    told = items(where, said(1, "one"), said(2, "two", "60", "Mira", voice="own_webhook"), said(3, "three"))
    assert [(item.role, item.tag, text(item)) for item in told] == snapshot(
        [
            ("system", "system_instruction_block", "You play Mira for Ada."),
            ("system", "system_personality", "Mira is a spool."),
            (
                "system",
                "system_personality",
                """\
is small
likes Ada\
""",
            ),
            (
                "system",
                "knowledge_server_info",
                """\
Server: Prague
About it: A (quiet) place
Channel: stairs
Topic of the channel: thread\
""",
            ),
            (
                "system",
                "knowledge_server_memories",
                """\
Remembered of this server:
- "Grace has a cat"\
""",
            ),
            ("system", "knowledge_server_emojis", "Custom emojis of this server: :tea:, :yarn:"),
            ("system", "knowledge_server_stickers", "Stickers of this server: wave"),
            (
                "user",
                "knowledge_users_in_conversation",
                """\
[System: Known of those who take part:
- "Grace": also called "G"; "away"; "likes tea"]\
""",
            ),
            (
                "user",
                "knowledge_short_term_memory",
                """\
[System: What happened before:
- "They met."]\
""",
            ),
            (
                "user",
                "knowledge_server_documents",
                """\
[System: Found in documents:
- "Page 1: all."]\
""",
            ),
            ("user", "knowledge_server_conditioning", "[System: Speak Mira's way.]"),
            ("user", "dialogue_sample", "User: Hi Mira"),
            ("model", "dialogue_sample", "Mira: Hello Ada"),
            ("user", "dialogue_history", "Grace: one"),
            ("model", "dialogue_history", "Mira: two"),
            ("user", "knowledge_current_context", "[System: Remember the stairs.]"),
            ("user", "dialogue_history", "Grace: three"),
            ("user", "context_note_injection", "[System: Stay calm, Mira.]"),
            ("user", "dialogue_history", "Ada: and you?"),
            ("user", "knowledge_current_context", "[System: Be brief. Be kind.]"),
            ("user", "knowledge_current_context", '[System: Answer this message of "Ada" now: "and you?"]'),
        ]
    )


def test_what_is_system_text_and_what_is_dialogue() -> None:
    parted = partition(items(FULL, said(1, "one")))
    assert len(parted.system) == 7
    assert parted.dialogue[0].tag == "knowledge_users_in_conversation"


def test_where_nothing_is_known_nothing_is_said_of_it() -> None:
    assert lines(scene()) == [("user", "Ada: and you?")]


@pytest.mark.parametrize(("depth", "place"), [(0, 4), (1, 3), (3, 1), (4, 0), (100, 0), (1000, 0)])
def test_a_note_stands_so_many_messages_from_the_end(depth: int, place: int) -> None:
    where = scene(server=Server(note=Note("Mind the gap.", depth)))
    history = (said(1, "a"), said(2, "b", BOT), said(3, "c"))
    told = lines(where, *history)
    assert told[place] == ("user", "[System: Mind the gap.]")
    assert len(told) == 5


def test_a_personas_note_goes_before_its_servers() -> None:
    where = scene(persona=Persona("Mira", note=Note("own")), server=Server(note=Note("server's")))
    assert lines(where)[-1] == ("user", "[System: own]")


@pytest.mark.parametrize(
    ("contents", "is_asked"),
    [
        (("<:aa:1> <:bb:2>", "x", "y"), True),
        (("<:aa:1>", "<:aa:1>", "y"), True),
        (("<:aa:1>", "x", "y"), False),
        (("<:aa:1> <:bb:2>", "x", "y", "z"), False),
        (("😀😀😀", "`<:aa:1> <:bb:2>`", "y"), False),
    ],
)
def test_many_custom_emojis_in_the_last_replies_ask_for_fewer(contents: tuple[str, ...], is_asked: bool) -> None:
    history = [
        message
        for number, content in enumerate(contents)
        for message in (said(2 * number + 1, "hm"), said(2 * number + 2, content, BOT))
    ]
    told = [line for _, line in lines(scene(), *history)]
    directive = "[System: The last replies had many custom emojis. Use none this time.]"
    assert (directive in told) is is_asked
    if is_asked:
        assert told.index(directive) == len(told) - 3


def test_a_reply_begins_as_wished_until_it_has_begun() -> None:
    where = scene(persona=Persona("Mira"), options=GenerationOptions(prefill="Well,", temperature=0.5))
    context = made(where).context
    assert (context.items[-1].role, text(context.items[-1])) == ("model", "Mira: Well,")
    assert context.options == GenerationOptions(prefill="Mira: Well,", temperature=0.5, persona_name="Mira")
    begun = made(asking(where, emitted="Well, yes")).context
    assert begun.options.prefill is None
    assert [item.role for item in begun.items] == ["user", "model", "user"]


def test_a_queued_message_is_quoted_in_part() -> None:
    where = asking(scene("[x] " + "y" * 400), is_queued=True)
    told = lines(where)[-1][1]
    assert told.startswith('[System: Answer this message of "Ada" now: "(x) yyy')
    assert len(told) == len('[System: Answer this message of "Ada" now: ""]') + 280


@pytest.mark.parametrize(
    ("written", "resolved"),
    [
        ("{user} {{user}} { USER } {{ Char }} {bot}", "Ada Ada Ada Mira Mira"),
        ("{{user} {users} {us er}", "{Ada {users} {us er}"),
        ("{{random:only}}", "only"),
        ("{{ random :: {user} }}", "Ada"),
        ("{{random:}}", "{{random:}}"),
    ],
)
def test_macros(written: str, resolved: str) -> None:
    assert macros.resolve(written, user="Ada", bot="Mira", seed="1") == resolved


def test_a_macro_without_a_value_stays() -> None:
    assert macros.resolve("{user} and {bot}", user="", bot="Mira", seed="1") == "{user} and Mira"


def test_choices_are_drawn_by_the_turn() -> None:
    drawn = [macros.resolve("{{random:a,b}}{{random:a,b}}", user="", bot="", seed=str(seed)) for seed in range(40)]
    assert set(drawn) == {"aa", "ab", "ba", "bb"}
    assert macros.resolve("{{random:a::b,c}}", user="", bot="", seed="5") in {"a", "b,c"}


def test_users_words_are_no_macros() -> None:
    assert lines(scene("{bot}, {{random:a,b}}")) == [("user", "Ada: {bot}, {{random:a,b}}")]


@given(st.text(max_size=30), st.text(max_size=10))
def test_any_prompt_resolves_alike_twice(written: str, name: str) -> None:
    once = macros.resolve(written, user=name, bot="Mira", seed="1")
    assert macros.resolve(written, user=name, bot="Mira", seed="1") == once
