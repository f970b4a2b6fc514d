"""Whole turns from a Discord message to the reply or to a line that says why there is none, in each dialect."""

from typing import Any

import pytest
import pytest_asyncio

from schemas.deliveries import SendText
from schemas.headers import HeaderReader
from schemas.inbox import MessageReceived
from schemas.registry import decode
from services.runtime.outputs import output
from services.sandbox.provider.replies import whole_reply
from services.sandbox.provider.script import (
    Answer,
    EachEvent,
    Eof,
    EveryBytes,
    Hang,
    Reset,
    Script,
    Stream,
    StreamError,
    Text,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

HALF = "The first half of a thought.\n\nThe second half begins"


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["openai-chat", "anthropic"])
async def crowd(request: pytest.FixtureRequest, open_crowd: Any, kafka: Any) -> Any:
    async with open_crowd(kafka.bootstrap, broker=kafka.kind, copies=2, dialect=request.param) as crowd:
        yield crowd


def question(call: Any) -> str:
    """What the provider was asked last."""
    content = call.body["messages"][-1]["content"]
    return content if isinstance(content, str) else content[-1]["text"]


async def test_a_reply_is_shown_whole_once_and_in_order(crowd: Any) -> None:
    talk = crowd.talk()
    turn = talk.say("Tell me something long.")
    finished = await talk.finished(turn)
    [call] = talk.calls(turn)
    assert talk.words == whole_reply("sandbox-echo", question(call)).split()
    assert len(talk.reply) > 5
    assert talk.notices == []
    assert talk.buttons == []
    assert finished.status == "completed"
    assert finished.finish_reason in ("stop", "end_turn")
    assert finished.model == "sandbox-echo"
    assert finished.generations == 1
    assert finished.usage.output_tokens > 100
    assert finished.timings.first_shown_ms >= finished.timings.first_chunk_ms >= finished.timings.received_ms
    ranges = [(sent.start, sent.end) for _, sent in talk.records("deliveries", SendText)]
    assert [start for start, _ in ranges] == [0, *(end for _, end in ranges[:-1])]
    assert ranges[-1][1] == finished.characters


async def test_both_shards_and_all_partitions_are_served_side_by_side(crowd: Any) -> None:
    talks = [crowd.talk() for _ in range(12)]
    turns = [talk.say(f"Say hello to number {number}.") for number, talk in enumerate(talks)]
    for talk, turn in zip(talks, turns, strict=True):
        assert (await talk.finished(turn)).status == "completed"
        [call] = talk.calls(turn)
        assert talk.words == whole_reply("sandbox-echo", question(call)).split()
    assert len({talk.partition for talk in talks}) > 2


async def test_the_facts_of_every_record_travel_in_its_headers(crowd: Any) -> None:
    talk = crowd.talk()
    turn = talk.say("Say hello.")
    await talk.finished(turn)
    wanted = {
        "generations": {"turn", "generation", "cause", "traceparent"},
        "prompts": {"turn", "generation", "cause", "traceparent"},
        "raw": {"turn", "generation", "sequence", "cause", "traceparent", "instance", "dialect", "model"},
        "deliveries": {"turn", "sequence", "cause", "traceparent"},
        "turns": {"turn", "cause", "traceparent"},
        "claims": set[str](),
        "channels": {"cause"},
    }
    by_type = {
        "MessageReceived": {"turn", "traceparent"},
        "ChunkBatch": {"turn", "generation", "sequence", "cause", "traceparent"},
        "DeliveryReceipt": {"turn", "sequence", "cause", "traceparent"},
    }
    await crowd.until(lambda: any(read.key == talk.id.encode() for read in crowd.records["channels"]), "a snapshot")
    seen = set[str]()
    for topic, reads in crowd.records.items():
        for read in reads:
            if read.key != talk.id.encode():
                continue
            seen.add(topic)
            headers = HeaderReader(read.headers)
            facts = headers.facts()
            assert facts.channel == talk.id
            assert facts.origin == "live"
            for name in wanted[topic] if topic in wanted else by_type[facts.type]:
                assert headers.text(name) is not None, f"{facts.type} in {topic} has no {name}"
            assert headers.text("turn") in (turn, None)
            if topic != "raw":
                decode(read.headers, read.value)
    assert seen == {*wanted, "inbox"}


@pytest.mark.parametrize(
    ("play", "shown", "says"),
    [
        pytest.param(Answer(401), "", "refused the access", id="401"),
        pytest.param(Answer(429, headers={"retry-after": "7"}), "", "again in 7 s", id="429"),
        pytest.param(Answer(500), "", "again in a moment", id="500"),
        pytest.param(Answer(529), "", "overloaded", id="529"),
        pytest.param(
            Answer(200, body=b"<html><body>Sign in</body></html>", content_type="text/html"), "", "", id="html"
        ),
        pytest.param(Answer(502, body=b"<h1>Bad gateway</h1>", content_type="text/html"), "", "Bad gateway", id="502"),
        pytest.param(Stream((Text(HALF),), Reset()), HALF, "again in a moment", id="reset"),
        pytest.param(Stream((Text(HALF),), Eof()), HALF, "again in a moment", id="no end mark"),
        pytest.param(Stream((Text(HALF),), StreamError(503, "No room.")), HALF, "No room.", id="error in the stream"),
        pytest.param(Stream(()), "", "empty reply", id="empty"),
    ],
)
async def test_a_failing_provider_ends_the_turn_with_what_came_and_a_line_that_says_why(
    crowd: Any, play: Any, shown: str, says: str
) -> None:
    talk = crowd.talk()
    empty = isinstance(play, Stream) and not play.steps
    turn = talk.say("Anything.", play=play, times=3 if empty else 1)
    finished = await talk.finished(turn)
    print(talk.notices, finished.status, finished.error)
    assert finished.status == ("empty_response" if empty else "error")
    assert talk.words == shown.split()
    [notice] = talk.notices
    assert says in notice
    assert talk.shown[-1].content == notice
    assert talk.buttons == []
    assert (await talk.finished(talk.say("And again."))).status == "completed"


@pytest.mark.parametrize(
    ("play", "generations"),
    [
        pytest.param(Answer(400, message="Unsupported parameter: 'max_tokens'"), 2, id="a key is named"),
        pytest.param(Answer(429, headers={"retry-after": "0"}), 2, id="a wait is asked for"),
        pytest.param(Stream(()), 2, id="empty"),
    ],
)
async def test_a_refusal_that_another_attempt_can_mend_is_not_seen(crowd: Any, play: Any, generations: int) -> None:
    if crowd.settings.dialect == "anthropic" and isinstance(play, Answer) and play.status == 400:
        pytest.skip("Anthropic demands the key that is named")
    talk = crowd.talk()
    turn = talk.say("Anything.", play=play)
    finished = await talk.finished(turn)
    assert (finished.status, finished.generations) == ("completed", generations)
    assert talk.notices == []


async def test_a_model_that_the_provider_does_not_know_is_named_and_who_can_choose_another(crowd: Any) -> None:
    talk = crowd.talk()
    message = "The model `sandbox-echo` does not exist."
    finished = await talk.finished(talk.say("Anything.", play=Answer(404, message=message)))
    assert finished.status == "error"
    [notice] = talk.notices
    print(notice)
    assert "operator can choose another model" in notice
    assert message.replace("`", "'") in notice


async def test_a_provider_that_hangs_is_given_up_at_the_deadline(crowd: Any) -> None:
    talk = crowd.talk()
    crowd.provider.enqueue(Script(Stream((Text(HALF),), Hang()), contains="silence-please"))
    message = talk.post("silence-please")
    received = MessageReceived.model_validate(
        {
            "channel_id": talk.id,
            "guild_id": str(talk.channel.guild_id),
            "message_id": str(message.id),
            "author": {"id": str(crowd.ada.id), "name": "Ada"},
            "content": message.content,
            "source": "mention",
            "settings": {"generation_deadline_ms": 1_000},
        }
    )
    turn = f"m{message.id}"
    new = output("inbox", received, channel=talk.id, event_id=f"message:{message.id}", turn=turn)
    await crowd.append("inbox", new, talk.partition)
    call = await talk.called(turn)
    finished = await talk.finished(turn)
    assert finished.status == "timeout"
    await crowd.provider.wait_until_closed(call)
    assert talk.words == HALF.split()
    [notice] = talk.notices
    assert "in time" in notice or "too long" in notice


@pytest.mark.parametrize("cut", [EachEvent(), EveryBytes(7)], ids=["an event a write", "7 bytes a write"])
async def test_a_provider_that_echoes_the_key_gets_it_neither_into_the_log_nor_into_discord(
    crowd: Any, cut: Any
) -> None:
    talk = crowd.talk()
    echo = Stream((Text(("Your key is ", crowd.key, ", is it not?")),), cuts=cut, pace_ms=1.0)
    assert (await talk.finished(talk.say("What is my key?", play=echo))).status == "completed"
    assert talk.words[:3] == ["Your", "key", "is"]
    assert talk.words[-3:] == ["is", "it", "not?"]
    refused = talk.say("And now?", play=Answer(401, message=f"Incorrect API key provided: {crowd.key}."))
    assert (await talk.finished(refused)).status == "error"
    raw = [HeaderReader(read.headers) for read in crowd.records["raw"] if read.key == talk.id.encode()]
    assert [headers.text("masked") for headers in raw].count("1") >= 2
    assert not [message for message in talk.shown if crowd.key in message.content]
    assert crowd.leaks() == []
    assert crowd.contradictions() == []


async def test_at_rest_nothing_is_open_and_everything_is_committed(crowd: Any) -> None:
    talk = crowd.talk()
    await talk.finished(talk.say("Say hello."))
    await crowd.at_rest()
    assert crowd.records["dead-letters"] == []
    assert crowd.leaks() == []
    assert crowd.contradictions() == []
