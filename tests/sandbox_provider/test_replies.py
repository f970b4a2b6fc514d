"""The canned dialogue is known in advance, and a continuation adds exactly what is missing."""

import re

from hypothesis import given
from hypothesis import strategies as st

from services.sandbox.provider.neutral import ChatMessage
from services.sandbox.provider.replies import MODELS, reply_for, whole_reply

GO_ON = ChatMessage("user", "[System: Continue your previous response exactly where it stopped.]")
QUESTIONS = st.sampled_from(["hello", "help me", "a long one", "code please", "stop", "tell me"]) | st.text(min_size=1)


def user(text):
    return ChatMessage("user", text)


def said(text):
    return ChatMessage("assistant", text)


def asked(question):
    """A real question, as hypothesis may make one that is only space or a request to continue."""
    return bool(question.strip()) and not question.lstrip().startswith("[System: Continue")


@given(question=QUESTIONS.filter(asked), model=st.sampled_from(MODELS), data=st.data())
def test_what_was_said_and_the_continuation_are_the_reply(question, model, data):
    reply = reply_for(model, [user(question)])
    cut = data.draw(st.integers(0, len(reply)))
    rest = reply_for(model, [user(question), said(reply[:cut]), GO_ON])
    assert reply[:cut] + rest == reply


@given(question=QUESTIONS.filter(asked), model=st.sampled_from(MODELS), data=st.data())
def test_a_part_that_lost_its_outer_space_is_continued_without_a_gap(question, model, data):
    reply = reply_for(model, [user(question)])
    cut = data.draw(st.integers(1, len(reply)))
    part = reply[:cut].strip()
    rest = reply_for(model, [user(question), said(part), GO_ON])
    assert part + rest == reply


@given(question=QUESTIONS.filter(asked), data=st.data())
def test_a_reply_may_be_continued_more_than_once_and_over_several_messages(question, data):
    reply = reply_for("sandbox-echo", [user(question)])
    cuts = sorted(data.draw(st.lists(st.integers(0, len(reply)), min_size=2, max_size=2)))
    first, second = reply[: cuts[0]], reply[cuts[0] : cuts[1]]
    for between in ([], [GO_ON]):
        talk = [user(question), said(first.strip()), *between, said(second.strip()), GO_ON]
        rest = reply_for("sandbox-echo", talk)
        assert "".join((first + second + rest).split()) == "".join(reply.split())


def test_a_part_that_is_not_of_this_reply_gets_the_whole():
    talk = [user("hello"), said("Something else"), GO_ON]
    assert reply_for("sandbox-echo", talk) == whole_reply("sandbox-echo", "hello")


def test_an_earlier_turn_changes_nothing():
    talk = [user("code"), said("old answer"), user("hello")]
    assert reply_for("sandbox-echo", talk) == whole_reply("sandbox-echo", "hello")


def test_tool_results_without_text_are_not_a_question():
    assert reply_for("sandbox-echo", [user("hello"), said(""), user("")]) == whole_reply("sandbox-echo", "hello")


def test_keywords_vary_the_reply():
    replies = {
        word: whole_reply("sandbox-echo", f"{word}, please") for word in ("hello", "help", "stop", "long", "code")
    }
    assert len(set(replies.values())) == 5
    assert "```python" in replies["code"]
    assert "- `stop`" in replies["help"]
    assert all(f"{word}, please" in reply for word, reply in replies.items())


def test_the_long_reply_numbers_its_sentences():
    reply = whole_reply("sandbox-long", "go")
    numbers = [int(number) for number in re.findall(r"Sentence (\d+) of 120", reply)]
    assert numbers == list(range(1, 121))
    assert len([part for part in reply.split("\n\n") if part.startswith("Sentence")]) == 40


def test_code_fences_are_closed_whatever_the_user_writes():
    assert whole_reply("sandbox-code", "```` unclosed ```py").count("```") == 6


def test_a_long_question_is_quoted_in_part():
    assert len(whole_reply("sandbox-echo", "x" * 100_000)) < 2000


async def test_the_server_streams_only_the_missing_rest(sandbox, dialect):
    reply = whole_reply("sandbox-echo", "hello")
    cut = reply.index("generations")
    request = sandbox.native(dialect, "hello", ("assistant", reply[:cut]), ("user", GO_ON.text))
    answer = await sandbox.ask(request)
    assert reply[:cut] + sandbox.heard(dialect, answer.text).text == reply
