"""Stops, kills, follow-ups and queues: which turn ends, what is shown, and that the provider's connection is closed."""

from typing import Any

import pytest
import pytest_asyncio

from schemas.channels import ChannelSnapshot
from schemas.deliveries import SendText
from schemas.inbox import Author, MessageReceived
from schemas.stops import ChannelTurns, OneTurn, StopRequested
from schemas.turns import TurnFinished
from services.runtime.outputs import output
from services.sandbox.discord.faults import Fault
from services.sandbox.provider.replies import whole_reply
from services.sandbox.provider.script import Hang, Recording, Reply, Stream, Text

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENDLESS = Stream((Reply(), Reply()), Hang(), pace_ms=4.0)
SILENT = Recording(b"", Hang())
SHORT = Stream((Text("A short reply."),))
SHORT_WORDS = ["A", "short", "reply."]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def crowd(open_crowd: Any, kafka: Any) -> Any:
    async with open_crowd(
        kafka.bootstrap, broker=kafka.kind, copies=2, environment={"ODRADEK_MODEL": "sandbox-long"}
    ) as crowd:
        yield crowd


def pressed_at(crowd: Any, talk: Any) -> float:
    """When the channel's last interaction was made, by the monotonic clock, in seconds."""
    entries = [e for e in crowd.discord.world.journal.entries() if e.kind == "interaction"]
    return max(e.monotonic_ns for e in entries if e.channel_id == talk.channel.id) / 1e9


def whole(call: Any) -> list[str]:
    return whole_reply("sandbox-long", call.body["messages"][-1]["content"]).split()


async def test_the_stop_button_closes_the_connection_and_leaves_what_is_shown(
    crowd: Any, record_testsuite_property: Any
) -> None:
    talk = crowd.talk()
    turn = talk.say("Count for me.", play=ENDLESS)
    await talk.shows(3)
    [(_, custom_id)] = talk.buttons
    assert custom_id.endswith(turn)
    talk.press_stop()
    call = await talk.called(turn)
    closed = await crowd.provider.wait_until_closed(call)
    took_ms = (closed.at.monotonic - pressed_at(crowd, talk)) * 1000
    print(f"stop latency: {took_ms:.1f} ms from the button to the closed connection")
    record_testsuite_property("stop_button_ms", round(took_ms, 1))
    assert closed.how == "client-closed"
    finished = await talk.finished(turn)
    assert finished.status == "stopped_by_user"
    await crowd.until(lambda: not talk.buttons, "the button to be cleared")
    assert len(talk.calls(turn)) == 1
    assert len(talk.words) > 20
    assert talk.words == whole(call)[: len(talk.words)]
    assert talk.notices == []
    after = talk.say("And now?", play=SHORT)
    assert (await talk.finished(after)).status == "completed"
    assert talk.reply[-1].content == "A short reply."


async def test_a_kill_before_the_first_byte_closes_the_connection_and_shows_nothing(crowd: Any) -> None:
    talk = crowd.talk()
    turn = talk.say("Anything.", play=SILENT)
    call = await talk.called(turn)
    talk.kill()
    closed = await crowd.provider.wait_until_closed(call)
    print(
        f"kill latency: {(closed.at.monotonic - pressed_at(crowd, talk)) * 1000:.1f} ms from /kill to the closed connection"
    )
    assert closed.how == "client-closed"
    assert (await talk.finished(turn)).status == "killed"
    assert talk.shown == []
    assert (await talk.finished(talk.say("Again.", play=SHORT))).status == "completed"
    assert talk.words == SHORT_WORDS


async def test_a_kill_drops_what_is_buffered_and_clears_the_queue(crowd: Any) -> None:
    talk = crowd.talk()
    turn = talk.say("Count for me.", play=ENDLESS)
    await talk.shows(1)
    queued = [talk.say(f"Me too, {number}.", user=crowd.grace, play=SHORT) for number in range(3)]
    await crowd.until(lambda: len(talk.records("inbox", MessageReceived)) == 4, "four messages in the inbox")
    talk.kill()
    closed = await crowd.provider.wait_until_closed(await talk.called(turn))
    assert closed.how == "client-closed"
    for each in (turn, *queued):
        assert (await talk.finished(each)).status == "killed"
    assert [len(talk.calls(each)) for each in queued] == [0, 0, 0]
    await crowd.until(lambda: not talk.buttons, "the button to be cleared")
    assert talk.words == whole(talk.calls(turn)[0])[: len(talk.words)]
    assert (await talk.finished(talk.say("Again.", play=SHORT))).status == "completed"


async def test_a_follow_up_by_the_same_user_takes_the_floor(crowd: Any) -> None:
    talk = crowd.talk()
    first = talk.say("Count for me.", play=ENDLESS)
    await talk.shows(2)
    second = talk.say("No, say something short.", play=SHORT)
    closed = await crowd.provider.wait_until_closed(await talk.called(first))
    assert closed.how == "client-closed"
    assert (await talk.finished(first)).status == "follow_up_interrupt"
    assert (await talk.finished(second)).status == "completed"
    assert talk.reply[-1].content == "A short reply."
    await crowd.until(lambda: not talk.buttons, "the button to be cleared")


async def test_another_users_message_waits_for_its_turn(crowd: Any) -> None:
    talk = crowd.talk()
    first = talk.say("Count for me.", play=Stream((Reply(),), pace_ms=0.5))
    await talk.shows(1)
    second = talk.say("And for me.", user=crowd.grace, play=SHORT)
    assert (await talk.finished(first)).status == "completed"
    assert (await talk.finished(second)).status == "completed"
    assert talk.words == [*whole(talk.calls(first)[0]), *SHORT_WORDS]
    [call] = talk.calls(first)
    assert call.ended.how == "completed"
    assert call.ended.at.monotonic < talk.calls(second)[0].arrived.monotonic


async def test_a_stop_that_comes_before_its_message_counts(crowd: Any) -> None:
    talk = crowd.talk()
    message = talk.post("Not yet for the bot.")
    turn = f"m{message.id}"
    await _stop(crowd, talk, OneTurn(turn=turn), "900")
    received = MessageReceived(
        channel_id=talk.id,
        guild_id=str(talk.channel.guild_id),
        message_id=str(message.id),
        author=Author(id=str(crowd.ada.id), name="Ada"),
        content="Anything.",
        source="mention",
    )
    new = output("inbox", received, channel=talk.id, event_id=f"message:{message.id}", turn=turn)
    await crowd.append("inbox", new, talk.partition)
    assert (await talk.finished(turn)).status == "stopped_by_user"
    assert talk.calls(turn) == []
    assert talk.shown == []
    assert (await talk.finished(talk.say("Anything.", play=SHORT))).status == "completed"


async def test_a_stop_for_a_turn_that_has_ended_changes_nothing(crowd: Any) -> None:
    talk = crowd.talk()
    first = talk.say("Anything.", play=SHORT)
    assert (await talk.finished(first)).status == "completed"
    await _stop(crowd, talk, OneTurn(turn=first), "901")
    assert (await talk.finished(talk.say("Again.", play=SHORT))).status == "completed"
    assert talk.words == SHORT_WORDS * 2
    assert len(talk.records("turns", TurnFinished)) == 2


async def test_a_slow_or_failing_channel_does_not_hold_up_another(crowd: Any) -> None:
    held, free = crowd.talk(), crowd.talk()
    while free.partition != held.partition:
        free = crowd.talk()
    fault = crowd.discord.faults.add(
        Fault("POST", f"/channels/{held.id}/messages", delay_s=0.2, status=503, times=None)
    )
    turn = held.say("Count for me.", play=Stream((Reply(2),)))
    await crowd.until(lambda: held.records("deliveries", SendText), "a text for the held channel")
    other = free.say("Count for me.", play=Stream((Reply(),), pace_ms=0.5))
    assert (await free.finished(other)).status == "completed"
    assert free.words == whole(free.calls(other)[0])
    assert held.shown == []
    crowd.discord.faults.remove(fault)
    assert (await held.finished(turn)).status == "completed"
    assert held.words == whole(held.calls(turn)[0])[: len(held.words)]
    assert held.words


async def test_text_arrives_once_when_discord_comes_back(crowd: Any) -> None:
    talk = crowd.talk()
    turn = talk.say("Count for me.", play=Stream((Reply(),), pace_ms=1.0))
    await talk.shows(2)
    crowd.discord.go_away(3.0)
    finished = await talk.finished(turn)
    assert finished.status == "completed"
    assert talk.words == whole(talk.calls(turn)[0])
    assert (await talk.finished(talk.say("Again.", play=SHORT))).status == "completed"


async def test_at_rest_nothing_is_open_and_everything_is_committed(crowd: Any) -> None:
    talk = crowd.talk()
    await talk.finished(talk.say("Anything.", play=SHORT))
    await crowd.at_rest()
    assert crowd.records["dead-letters"] == []
    assert crowd.leaks() == []
    assert crowd.contradictions() == []
    assert crowd.decoded("channels", ChannelSnapshot)


async def _stop(crowd: Any, talk: Any, target: OneTurn | ChannelTurns, stop_id: str) -> None:
    """Write a stop to both logs, as the gateway does."""
    stop = StopRequested(
        channel_id=talk.id, stop_id=stop_id, target=target, manner="graceful", requested_by=str(crowd.ada.id)
    )
    for topic, partition in (("control", 0), ("inbox", talk.partition)):
        new = output(topic, stop, channel=talk.id, event_id=f"stop:{stop_id}", turn=getattr(target, "turn", None))
        await crowd.append(topic, new, partition)
