"""The context of a turn of which nothing is known but its settings: what the bot has always told its model."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.context import NeutralContext
from schemas.deliveries import NOTICE
from schemas.generations import GenerationRequested
from schemas.inbox import Author
from services.context.building.build import build
from services.context.building.history import WORDLESS
from services.context.building.messages import HistoryMessage
from services.context.building.tail import CONTINUE
from services.context.configured import options_of
from services.context.scene import scene_of
from services.runtime.settings import Settings

BOT = "42"


def asking(content: str = "<@42> and you?", *, emitted: str = "", name: str = "Ada") -> GenerationRequested:
    return GenerationRequested(
        channel_id="900",
        guild_id="800",
        turn="m500",
        generation=1,
        message_id="500",
        author=Author(id="7", name=name),
        content=content,
        emitted=emitted,
        deadline_ms=600_000,
    )


def said(number: int, content: str, author: str = "8", name: str = "grace") -> HistoryMessage:
    return HistoryMessage(str(number), author, name, content)


def assemble(settings: Settings, request: GenerationRequested, history: Iterable[HistoryMessage]) -> NeutralContext:
    return build(scene_of(settings, request, options_of(settings), bot_id=BOT, bot_name="Odradek"), history).context


def lines(request: GenerationRequested, *history: HistoryMessage) -> list[tuple[str, str]]:
    return dialogue(assemble(Settings(), request, history))


def dialogue(context: NeutralContext) -> list[tuple[str, str]]:
    """Roles and texts of what was said."""
    return [(item.role, item.parts[0].text) for item in context.items if item.role != "system"]


def test_others_carry_their_names_and_the_bot_is_the_assistant() -> None:
    history = (said(1, "hello"), said(2, "hello, Grace", BOT, "Odradek"), said(3, "fine weather"))
    assert lines(asking(), *history) == [
        ("user", "grace: hello"),
        ("model", "hello, Grace"),
        ("user", "grace: fine weather"),
        ("user", "Ada: and you?"),
    ]


def test_the_cause_is_last_even_if_the_history_holds_it_or_newer_messages() -> None:
    history = (said(501, "newer"), said(500, "<@42> and you?", "7", "ada"), said(10, "older"), said(9, "oldest"))
    assert lines(asking(), *history) == [
        ("user", "grace: oldest\nolder"),
        ("user", "Ada: and you?"),
    ]


def test_the_one_who_asks_has_one_name_throughout() -> None:
    assert lines(asking(), said(1, "earlier", "7", "ada1815"))[0] == ("user", "Ada: earlier")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("<@42> hi", "Ada: hi"),
        ("  <@!42>, hi", "Ada: hi"),
        ("hi <@42>", "Ada: hi @Odradek"),
        ("<@43> hi", "Ada: @someone hi"),
        ("<@42>", f"Ada: {WORDLESS}"),
        ("", f"Ada: {WORDLESS}"),
    ],
)
def test_the_mention_that_called_the_bot_is_dropped(content: str, line: str) -> None:
    assert lines(asking(content)) == [("user", line)]


def test_empty_messages_and_the_bots_own_notices_stay_out() -> None:
    history = (said(1, "  "), said(2, f"{NOTICE}The provider did not answer.", BOT), said(3, f"{NOTICE}small talk"))
    assert lines(asking(), *history) == [("user", f"grace: {NOTICE}small talk"), ("user", "Ada: and you?")]


def test_a_name_cannot_pose_as_another_line() -> None:
    assert lines(asking(name="Ada\nSystem"))[-1] == ("user", "Ada System: and you?")
    assert lines(asking(name="\n"))[-1] == ("user", "somebody: and you?")


def test_a_lost_reply_goes_on_after_what_was_shown() -> None:
    shown = said(501, "Once upon", BOT, "Odradek")
    assert lines(asking(emitted="Once upon"), shown) == [
        ("user", "Ada: and you?"),
        ("model", "Once upon"),
        ("user", CONTINUE),
    ]


def test_a_reply_of_blanks_is_begun_anew() -> None:
    assert lines(asking(emitted=" \n")) == [("user", "Ada: and you?")]


def test_settings_reach_the_context() -> None:
    settings = Settings(system_prompt=" Be kind. ", temperature=0.5, max_tokens=99, stop_strings="a,,b,a")
    context = assemble(settings, asking(), ())
    assert (context.items[0].role, context.items[0].parts[0].text) == ("system", "Be kind.")
    assert (context.options.temperature, context.options.max_output_tokens) == (0.5, 99)
    assert context.options.stop_strings == ("a", "b")
    assert [item.role for item in assemble(Settings(system_prompt=" "), asking(), ()).items] == ["user"]


def test_each_message_keeps_who_sent_it_and_which_it_is() -> None:
    items = assemble(Settings(), asking(), (said(1, "hello"), said(2, "hi", BOT))).items[1:]
    assert [(item.sender, item.message_id) for item in items] == [("grace", "1"), ("Odradek", "2"), ("Ada", "500")]


@given(
    st.lists(
        st.builds(
            HistoryMessage,
            id=st.integers(1, 1000).map(str),
            author_id=st.sampled_from([BOT, "7", "8"]),
            author_name=st.text(max_size=5),
            content=st.text(max_size=10),
        )
    ),
    st.text(max_size=10),
)
def test_every_context_ends_with_a_user_and_holds_no_empty_line(history: list[HistoryMessage], emitted: str) -> None:
    said = dialogue(assemble(Settings(), asking(emitted=emitted), history))
    assert said[-1][0] == "user"
    assert all(text.strip() for _, text in said)
    assert said.count(("user", "Ada: and you?")) >= 1
