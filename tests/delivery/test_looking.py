"""A delivery that has just started knows nothing, and still shows nothing twice and takes no equal text for its own."""

from typing import Any

import pytest

from schemas.deliveries import Cancel, SendText
from schemas.inbox import Sent, Skipped
from services.runtime.errors import Unavailable
from services.sandbox.discord.faults import Fault

CAUSE = 77
OLD_MS = 90_000


def ha(delivery: Any, sequence: int) -> SendText:
    return SendText(channel_id=delivery.channel, turn="m1", sequence=sequence, text="Ha!")


def texts(delivery: Any) -> list[str]:
    return [message.content for message in delivery.shown()]


async def test_an_old_order_of_before_the_take_over_is_shown_beside_an_equal_text(start_delivery: Any) -> None:
    first, second = start_delivery(), start_delivery()
    await first.give(ha(first, 0))
    await second.give(ha(second, 1))
    assert texts(first) == ["Ha!", "Ha!"]
    [before, after] = first.shown()
    assert second.log.receipts == [(1, Sent(message_id=str(after.id)))]
    assert str(before.id) != str(after.id)


async def test_an_order_that_a_predecessor_has_a_receipt_for_is_not_sent_again(start_delivery: Any) -> None:
    first, second = start_delivery(), start_delivery()
    await first.give(ha(first, 0))
    await first.give(ha(first, 1))
    first.sandbox.world.posting._nonces.clear()  # as Discord forgets nonces after a few minutes
    await second.give(ha(second, 1))
    assert texts(first) == ["Ha!", "Ha!"]
    assert second.log.receipts == [(1, first.log.receipts[1][1])]


async def test_a_cancelled_order_is_not_taken_for_an_equal_text_before_it(start_delivery: Any) -> None:
    first, second = start_delivery(), start_delivery()
    await first.give(ha(first, 0))
    await second.give(Cancel(channel_id=second.channel, turn="m1", sequence=2, first=1))
    await second.give(ha(second, 1))
    assert texts(first) == ["Ha!"]
    assert second.log.receipts == [(1, Skipped(reason="cancelled"))]


async def test_receipts_are_read_once_for_the_orders_of_a_partition(start_delivery: Any) -> None:
    first, second = start_delivery(), start_delivery()
    await first.give(ha(first, 0))
    for sequence in (1, 2, 3):
        await second.give(ha(second, sequence))
    assert texts(first) == ["Ha!"] * 4
    assert second.log.reads == 1


def forbid_looks(delivery: Any) -> None:
    delivery.sandbox.faults.add(Fault("GET", "/channels/*/messages", status=503))


async def test_an_order_whose_cause_came_after_the_take_over_is_shown_without_a_look(start_delivery: Any) -> None:
    first, second = start_delivery(), start_delivery()
    await first.give(ha(first, 0))
    await second.take_over()
    forbid_looks(second)
    await second.give(ha(second, 1))
    assert texts(first) == ["Ha!", "Ha!"]


async def test_a_cancelled_order_whose_cause_came_after_the_take_over_is_skipped_without_a_look(
    start_delivery: Any,
) -> None:
    first, second = start_delivery(), start_delivery()
    await first.give(ha(first, 0))
    await second.take_over()
    forbid_looks(second)
    await second.give(Cancel(channel_id=second.channel, turn="m1", sequence=2, first=1))
    await second.give(ha(second, 1))
    assert second.log.receipts == [(1, Skipped(reason="cancelled"))]


async def test_a_copy_that_was_appended_after_the_take_over_is_looked_for(start_delivery: Any) -> None:
    first, second = start_delivery(), start_delivery()
    await first.give(ha(first, 0))
    first.sandbox.world.posting._nonces.clear()  # as Discord forgets nonces after a few minutes
    await second.take_over(deliveries=1, inbox=CAUSE + 1)
    await second.give(ha(second, 0), offset=5)
    assert texts(first) == ["Ha!"]
    assert first.log.receipts == second.log.receipts


async def test_an_order_of_a_young_turn_is_left_to_the_nonce(start_delivery: Any) -> None:
    first, second = start_delivery(), start_delivery()
    order = ha(first, 0).model_copy(update={"turn": first.young_turn()})
    await first.give(order)
    await second.take_over(deliveries=1, inbox=CAUSE + 1)
    forbid_looks(second)
    await second.give(order, offset=5)
    assert texts(first) == ["Ha!"]
    assert first.log.receipts == second.log.receipts


async def test_an_order_of_before_the_inbox_was_made_anew_is_looked_for(start_delivery: Any) -> None:
    first, second = start_delivery(), start_delivery()
    await first.give(ha(first, 0))
    first.sandbox.world.posting._nonces.clear()
    await second.take_over(deliveries=1, inbox=3)
    await second.give(ha(second, 0))
    assert texts(first) == ["Ha!"]


async def test_an_order_that_this_process_may_have_sent_long_ago_is_looked_for(delivery: Any) -> None:
    await delivery.take_over()
    delivery.sandbox.faults.add(Fault("POST", "/channels/*/messages", cut=True, apply=True))
    inbound = delivery.inbound(ha(delivery, 0))
    with pytest.raises(Unavailable):
        await delivery.handler.handle(inbound)
    delivery.sandbox.world.posting._nonces.clear()
    delivery.clock.late_ms = OLD_MS
    await delivery.handler.handle(inbound)
    [message] = delivery.shown()
    assert delivery.log.receipts == [(0, Sent(message_id=str(message.id)))]


async def test_a_partition_that_went_and_came_is_a_new_take_over(delivery: Any) -> None:
    await delivery.take_over(inbox=1)
    assert not delivery.handler._take_overs.may_be_sent(0, 5, 5)
    delivery.handler.dropped([0])
    assert delivery.handler._take_overs.may_be_sent(0, 5, 5)
    await delivery.take_over(inbox=6)
    assert delivery.handler._take_overs.may_be_sent(0, 5, 5)
    assert not delivery.handler._take_overs.may_be_sent(0, 5, 6)


async def test_an_order_that_names_no_cause_may_be_sent(delivery: Any) -> None:
    await delivery.take_over()
    assert delivery.handler._take_overs.may_be_sent(0, 5, None)
