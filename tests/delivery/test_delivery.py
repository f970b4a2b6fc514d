"""discord.py against the local Discord: what is ordered is shown once and answered with a receipt."""

import asyncio

import pytest

from schemas.deliveries import Cancel, ClearStopButton, SendText, Typing
from schemas.errors import BadRecord
from schemas.headers import Facts
from schemas.inbox import DeliveryReceipt, Failed, Sent, Skipped
from schemas.registry import decode
from schemas.turns import Timings, TurnFinished
from services.runtime.discord import RestSession, bounded
from services.runtime.errors import ConfigurationError, Unavailable
from services.runtime.log import LogRecord
from services.runtime.settings import Settings
from services.sandbox.discord.faults import Fault
from services.sandbox.discord.limits import LimitsConfig, Rate
from services.sandbox.discord.server import SandboxDiscord

TURN = "m1"


def text(delivery, sequence: int, words: str = "Once upon a time", **more) -> SendText:
    return SendText(channel_id=delivery.channel, turn=TURN, sequence=sequence, text=words, **more)


async def test_a_text_is_shown_and_its_receipt_names_the_message(delivery) -> None:
    await delivery.give(text(delivery, 0))
    [message] = delivery.shown()
    assert message.content == "Once upon a time"
    assert delivery.log.receipts == [(0, Sent(message_id=str(message.id)))]
    facts, receipt = decode(delivery.log.records[0].headers, delivery.log.records[0].value)
    assert isinstance(receipt, DeliveryReceipt)
    assert (facts.id, facts.turn, facts.sequence, facts.cause) == ("receipt:m1:0", TURN, 0, 77)
    assert delivery.log.records[0].key == delivery.channel.encode()


async def test_a_reply_names_its_message_and_pings_nobody(delivery) -> None:
    world = delivery.sandbox.world
    ada = world.user("ada")
    asked = world.post_as(ada, world.channel("general"), "hello?")
    await delivery.give(text(delivery, 0, f"@everyone <@{ada.id}>", reply_to=str(asked.id)))
    [message] = delivery.shown()
    assert message.reply_to == asked.id
    assert message.mentions == ()
    assert not message.mention_everyone


async def test_a_reply_to_a_message_that_is_gone_is_shown_without_it(delivery) -> None:
    await delivery.give(text(delivery, 0, reply_to="123456789"))
    [message] = delivery.shown()
    assert message.reply_to is None


async def test_a_stop_button_carries_its_turn_and_can_be_cleared(delivery) -> None:
    await delivery.give(text(delivery, 0, stop_button=True))
    [message] = delivery.shown()
    assert message.components[0]["components"][0]["custom_id"] == "odradek:stop:m1"
    await delivery.give(
        ClearStopButton(channel_id=delivery.channel, turn=TURN, sequence=1, of=0, message_id=str(message.id))
    )
    [message] = delivery.shown()
    assert message.components == []
    assert message.content == "Once upon a time"
    assert len(delivery.log.receipts) == 1


async def test_a_button_on_a_message_that_is_gone_is_no_error(delivery) -> None:
    await delivery.give(ClearStopButton(channel_id=delivery.channel, turn=TURN, sequence=1, of=0, message_id="12345"))
    assert delivery.log.records == []


async def test_the_same_order_twice_in_one_process_shows_one_message(delivery) -> None:
    await delivery.give(text(delivery, 0))
    await delivery.give(text(delivery, 0))
    [message] = delivery.shown()
    assert delivery.log.receipts == [(0, Sent(message_id=str(message.id)))] * 2
    assert delivery.log.records[0] == delivery.log.records[1]


async def test_the_same_young_order_in_two_processes_shows_one_message_without_a_look(start_delivery) -> None:
    first, second = start_delivery(), start_delivery()
    first.sandbox.faults.add(Fault("GET", "/channels/*/messages", status=503, times=None))
    order = text(first, 0).model_copy(update={"turn": first.young_turn()})
    await first.give(order)
    await second.give(order)
    [_] = first.shown()
    assert first.log.receipts == second.log.receipts


async def test_an_old_order_that_was_shown_before_a_crash_is_found_and_not_shown_again(start_delivery) -> None:
    first, second = start_delivery(), start_delivery()
    inbound = first.inbound(text(first, 0))
    await first.handler.handle(inbound)
    first.sandbox.world.posting._nonces.clear()  # as Discord forgets nonces after a few minutes
    await second.give(text(second, 0))
    [_] = first.shown()
    assert first.log.receipts == second.log.receipts


async def test_an_old_order_that_was_never_shown_is_shown(delivery) -> None:
    await delivery.give(text(delivery, 0))
    [message] = delivery.shown()
    assert delivery.log.receipts == [(0, Sent(message_id=str(message.id)))]


async def test_an_old_order_is_not_taken_for_another_output_with_the_same_words(delivery) -> None:
    await delivery.give(text(delivery, 0, "Ha!"))
    await delivery.give(text(delivery, 1, "Ha!"))
    assert [message.content for message in delivery.shown()] == ["Ha!", "Ha!"]


async def test_an_old_order_is_not_taken_for_what_another_turn_said_before_it(delivery) -> None:
    await delivery.give(SendText(channel_id=delivery.channel, turn="m2", sequence=0, text="Yes."))
    await delivery.give(text(delivery, 0, "So?"))
    await delivery.give(text(delivery, 1, "Yes."))
    assert [message.content for message in delivery.shown()] == ["Yes.", "So?", "Yes."]


async def test_a_cancelled_text_is_not_taken_for_what_another_turn_said(delivery) -> None:
    await delivery.give(SendText(channel_id=delivery.channel, turn="m2", sequence=0, text="Yes."))
    await delivery.give(Cancel(channel_id=delivery.channel, turn=TURN, sequence=1, first=0))
    await delivery.give(text(delivery, 0, "Yes."))
    assert delivery.log.receipts[-1] == (0, Skipped(reason="cancelled"))


async def test_an_old_order_is_not_taken_for_what_somebody_else_said(delivery) -> None:
    world = delivery.sandbox.world
    world.post_as(world.user("ada"), world.channel("general"), "Ha!")
    await delivery.give(text(delivery, 0, "Ha!"))
    [_] = delivery.shown()


async def test_a_gone_channel_gives_a_failed_receipt(delivery) -> None:
    order = text(delivery, 0)
    delivery.sandbox.world.delete_channel(delivery.sandbox.world.channel("general"))
    await delivery.give(order)
    [(sequence, outcome)] = delivery.log.receipts
    assert sequence == 0
    assert outcome == Failed(code="10003", reason="Unknown Channel")


async def test_a_closed_channel_gives_a_failed_receipt(delivery) -> None:
    world = delivery.sandbox.world
    world.deny(world.channel("general"), 50013)
    await delivery.give(text(delivery, 0))
    [(_, outcome)] = delivery.log.receipts
    assert isinstance(outcome, Failed)
    assert outcome.code == "50013"


async def test_an_answer_that_got_lost_does_not_show_the_text_twice(delivery) -> None:
    delivery.sandbox.faults.add(Fault("POST", "/channels/*/messages", cut=True, apply=True))
    inbound = delivery.inbound(text(delivery, 0))
    with pytest.raises(Unavailable):
        await delivery.handler.handle(inbound)
    await delivery.handler.handle(inbound)
    [message] = delivery.shown()
    assert delivery.log.receipts == [(0, Sent(message_id=str(message.id)))]


@pytest.mark.parametrize("how", ["cut", "503"])
async def test_a_discord_that_was_away_shows_the_text_once_it_is_back(delivery, how: str) -> None:
    delivery.sandbox.go_away(3_600, how)
    inbound = delivery.inbound(text(delivery, 0))
    with pytest.raises(Unavailable, match="discord"):
        await delivery.handler.handle(inbound)
    assert delivery.log.records == []
    delivery.sandbox.faults.clear()
    await delivery.handler.handle(inbound)
    [_] = delivery.shown()
    assert len(delivery.log.receipts) == 1


async def test_a_discord_that_takes_a_text_and_never_answers_does_not_hold_its_channel(
    delivery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.delivery.refusals.CALL_S", 0.2)
    delivery.sandbox.faults.add(Fault("POST", "/channels/*/messages", delay_s=3_600))
    inbound = delivery.inbound(text(delivery, 0))
    with pytest.raises(Unavailable, match="no answer"):
        await delivery.handler.handle(inbound)
    await delivery.handler.handle(inbound)
    [_] = delivery.shown()
    assert len(delivery.log.receipts) == 1


async def test_a_rate_limit_that_discord_did_not_mean_for_waiting_is_passed_on(delivery) -> None:
    delivery.sandbox.faults.add(Fault("POST", "/channels/*/messages", status=429, retry_after=0.01, times=5))
    with pytest.raises(Unavailable) as raised:
        await delivery.give(text(delivery, 0))
    assert raised.value.dependency == "discord"
    await delivery.give(text(delivery, 0))
    [_] = delivery.shown()


@pytest.mark.parametrize("young", [True, False])
async def test_a_text_that_discord_would_take_in_an_hour_is_given_up_and_others_are_sent(delivery, young: bool) -> None:
    turn = {"turn": delivery.young_turn() if young else TURN}
    for method in ("GET", "POST"):
        channel = f"/channels/{delivery.channel}/*"
        delivery.sandbox.faults.add(Fault(method, channel, status=429, retry_after=3_600, times=None))
    await delivery.give(typing(delivery, 0, True).model_copy(update=turn))
    await delivery.give(text(delivery, 1).model_copy(update=turn))
    [(sequence, outcome)] = delivery.log.receipts
    assert (sequence, outcome) == (1, Failed(code="rate_limited", reason="Discord asks to wait for 3600 s"))
    await typing_is_over(delivery)
    other = delivery.sandbox.world.channel("help")
    await delivery.give(text(delivery, 2).model_copy(update={"channel_id": str(other.id), "reply_to": None}))
    assert len(delivery.sandbox.world.messages(other)) == 1


async def test_a_text_waits_where_discord_takes_nothing_from_the_whole_bot_for_an_hour(delivery) -> None:
    delivery.sandbox.limits.config = LimitsConfig(overall=Rate(0, 3_600))
    inbound = delivery.inbound(text(delivery, 0))
    with pytest.raises(Unavailable):
        await delivery.handler.handle(inbound)
    delivery.sandbox.limits.config = LimitsConfig(enabled=False)
    await delivery.handler.handle(inbound)
    assert len(delivery.shown()) == 1


async def test_a_stop_button_that_discord_would_clear_in_an_hour_is_left(delivery) -> None:
    await delivery.give(text(delivery, 0))
    [(_, sent)] = delivery.log.receipts
    delivery.sandbox.faults.add(Fault("PATCH", "/channels/*", status=429, retry_after=3_600, times=None))
    await delivery.give(
        ClearStopButton(channel_id=delivery.channel, turn=TURN, sequence=1, of=0, message_id=sent.message_id)
    )
    assert delivery.log.receipts == [(0, sent)]


async def test_a_cancel_overtakes_the_texts_that_wait(delivery) -> None:
    waiting = [delivery.inbound(text(delivery, sequence, str(sequence))) for sequence in range(3)]
    cancel = delivery.inbound(Cancel(channel_id=delivery.channel, turn=TURN, sequence=3, first=1))
    assert [delivery.handler.arrived(inbound) for inbound in (*waiting, cancel)] == [False, False, False, True]
    for inbound in waiting:
        await delivery.handler.handle(inbound)
    assert [message.content for message in delivery.shown()] == ["0"]
    assert delivery.log.receipts[1:] == [(1, Skipped(reason="cancelled")), (2, Skipped(reason="cancelled"))]


async def test_a_cancel_spares_a_text_that_discord_may_have_already(delivery) -> None:
    delivery.sandbox.faults.add(Fault("POST", "/channels/*/messages", cut=True, apply=True))
    begun = delivery.inbound(text(delivery, 0))
    with pytest.raises(Unavailable):
        await delivery.handler.handle(begun)
    delivery.handler.arrived(delivery.inbound(Cancel(channel_id=delivery.channel, turn=TURN, sequence=1, first=0)))
    await delivery.handler.handle(begun)
    [message] = delivery.shown()
    assert delivery.log.receipts == [(0, Sent(message_id=str(message.id)))]


async def test_a_cancel_of_one_turn_leaves_the_others_alone(delivery) -> None:
    await delivery.give(Cancel(channel_id=delivery.channel, turn="m0", sequence=1, first=0))
    await delivery.give(text(delivery, 0))
    assert len(delivery.shown()) == 1


def typing(delivery, sequence: int, active: bool) -> Typing:
    return Typing(channel_id=delivery.channel, turn=TURN, sequence=sequence, active=active)


async def wait_for_typing(delivery, times: int) -> None:
    journal = delivery.sandbox.world.journal
    await journal.wait_until(lambda: sum(entry.kind == "typing" for entry in journal.entries()) >= times, 10)


async def test_typing_is_shown_again_and_again_until_it_stops_before_the_last_text(delivery) -> None:
    await delivery.give(typing(delivery, 0, True))
    await wait_for_typing(delivery, 3)
    await delivery.give(typing(delivery, 1, False))
    await delivery.give(text(delivery, 2))
    await delivery.handler.close()
    kinds = [entry.kind for entry in delivery.sandbox.world.journal.entries()]
    assert kinds[-1] == "message_create"


async def test_the_end_of_typing_overtakes_the_texts_that_wait(delivery) -> None:
    await delivery.give(typing(delivery, 0, True))
    await wait_for_typing(delivery, 1)
    last, end = delivery.inbound(text(delivery, 1)), delivery.inbound(typing(delivery, 2, False))
    for inbound in (last, end):
        delivery.handler.arrived(inbound)
    await delivery.handler.handle(last)
    await delivery.handler.close()
    kinds = [entry.kind for entry in delivery.sandbox.world.journal.entries()]
    assert kinds[-1] == "message_create"


async def test_typing_goes_on_after_a_text_that_is_not_the_last(delivery) -> None:
    await delivery.give(typing(delivery, 0, True))
    await wait_for_typing(delivery, 1)
    await delivery.give(text(delivery, 1))
    journal = delivery.sandbox.world.journal
    await journal.wait_for(lambda entry: entry.kind == "typing", 10, after=journal.last_seq)


async def test_a_cancel_stops_typing(delivery) -> None:
    await delivery.give(typing(delivery, 0, True))
    await wait_for_typing(delivery, 1)
    await delivery.give(Cancel(channel_id=delivery.channel, turn=TURN, sequence=1, first=0))
    await typing_is_over(delivery)


async def test_typing_stops_in_partitions_that_move_away(delivery) -> None:
    delivery.handler.arrived(delivery.inbound(typing(delivery, 0, True), partition=3))
    await wait_for_typing(delivery, 1)
    delivery.handler.dropped([2])
    await wait_for_typing(delivery, 3)
    delivery.handler.dropped([3])
    await typing_is_over(delivery)


async def test_typing_for_an_order_from_long_ago_is_not_shown(delivery) -> None:
    await delivery.give(typing(delivery, 0, True), age_ms=31_000)
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("typing ")]


async def test_typing_stops_in_a_channel_that_refuses_it(delivery) -> None:
    world = delivery.sandbox.world
    world.deny(world.channel("general"), 50001)
    await delivery.give(typing(delivery, 0, True))
    await typing_is_over(delivery)


async def typing_is_over(delivery) -> None:
    tasks = [task for task in asyncio.all_tasks() if task.get_name().startswith("typing ")]
    await asyncio.wait_for(asyncio.gather(*tasks), 10)


async def test_a_record_that_is_no_order_is_refused(delivery) -> None:
    stray = TurnFinished(
        channel_id=delivery.channel,
        guild_id=None,
        turn=TURN,
        status="completed",
        generations=1,
        messages=1,
        characters=1,
        timings=Timings(received_ms=1, finished_ms=2),
    )
    inbound = delivery.inbound(stray)
    delivery.handler.arrived(inbound)
    with pytest.raises(BadRecord):
        await delivery.handler.handle(inbound)


def refused(delivery, kind: str, turn: str | None = TURN) -> list[object]:
    facts = Facts(type=kind, version=1, id="x", channel="7", turn=turn, sequence=4, cause=9)
    record = LogRecord("deliveries", 0, 0, 0, b"7", b"?", facts.headers())
    found = delivery.handler.refuse(record, facts, "invalid_value", "SendText does not fit its schema")
    return [decode(new.headers, new.value)[1] for new in found]


async def test_an_order_that_is_dead_lettered_gives_a_failed_receipt(delivery) -> None:
    failed = Failed(code="invalid_value", reason="SendText does not fit its schema")
    assert refused(delivery, "SendText") == [DeliveryReceipt(turn=TURN, sequence=4, outcome=failed)]
    assert refused(delivery, "Typing") == []
    assert refused(delivery, "SendText", turn=None) == []
    assert delivery.handler.refuse(LogRecord("deliveries", 0, 0, 0, None, None, ()), None, "x", "y") == []


async def test_a_rest_session_logs_in_as_soon_as_discord_answers(
    sandbox: SandboxDiscord, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.runtime.discord._FIRST_WAIT_S", 0.01)
    sandbox.go_away(3_600)
    session = RestSession(settings)
    running = asyncio.create_task(session.run())
    while session.missing() == "not logged in yet":
        await asyncio.sleep(0)
    with pytest.raises(Unavailable, match="does not answer"):
        session.client()
    sandbox.faults.clear()
    while session.missing() is not None:
        await asyncio.sleep(0)
    assert session.client().user is not None
    running.cancel()
    await asyncio.wait([running])
    with pytest.raises(Unavailable):
        session.client()


async def test_a_discord_that_stops_answering_is_missing_and_is_asked_by_nobody_but_the_session(
    sandbox: SandboxDiscord, delivery, session: RestSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("EVERY_S", "SILENT_S"):
        monkeypatch.setattr(f"services.runtime.answering.{name}", 0.001)
    sandbox.go_away(3_600, "cut")
    inbound = delivery.inbound(text(delivery, 0))
    while session.missing() is None:
        with pytest.raises(Unavailable):
            await delivery.handler.handle(inbound)
        await asyncio.sleep(0.001)
    assert str(session.missing()).startswith("no answer from http://127.0.0.1")
    with pytest.raises(Unavailable) as raised:
        session.client()
    assert raised.value.retry_after_s == 2.0
    sandbox.faults.clear()
    while session.missing() is not None:  # the session's own question
        await asyncio.sleep(0.001)
    await delivery.handler.handle(inbound)
    [_] = delivery.shown()


async def test_a_call_that_is_given_up_in_a_global_rate_limit_does_not_hold_up_the_others_for_ever(
    sandbox: SandboxDiscord, session: RestSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.runtime.discord._GLOBAL_LIMIT_S", 0.01)
    client, channel = session.client(), sandbox.world.channel("general")
    sandbox.limits.config = LimitsConfig(overall=Rate(0, 50))
    with pytest.raises(TimeoutError):
        async with bounded(client, 0.2):
            await client.get_partial_messageable(channel.id).send("one")
    sandbox.limits.config = LimitsConfig(enabled=False)
    async with asyncio.timeout(10):
        await client.get_partial_messageable(channel.id).send("two")


async def test_a_rest_session_ends_with_a_remedy_when_the_token_is_refused(settings: Settings) -> None:
    wrong = Settings(discord_token="old", discord_api=settings.discord_api)
    with pytest.raises(ConfigurationError) as raised:
        await RestSession(wrong).run()
    assert "ODRADEK_DISCORD_TOKEN" in raised.value.remedy
