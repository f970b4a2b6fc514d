"""Delivery alone in worlds that are hostile to it: each text once, each receipt its own, and each rule is needed for it."""

import pytest

from schemas.deliveries import SendText
from services.delivery.handler import DeliveryHandler
from services.delivery.receipts import Receipts
from services.delivery.take_overs import TakeOvers
from services.runtime.inbound import Inbound
from services.sandbox.simulation.delivery import DeliveryWorld


def test_every_text_is_shown_once_and_every_receipt_is_its_own() -> None:
    for seed in range(25):
        assert DeliveryWorld(seed).run() == [], f"seed {seed}"


def test_the_same_seed_is_the_same_run() -> None:
    first, second = DeliveryWorld(2), DeliveryWorld(2)
    first.run()
    second.run()
    assert first.events == second.events
    assert first.cluster.history == second.cluster.history


def test_without_the_receipts_of_predecessors_an_equal_text_is_taken_for_the_orders_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def read_nothing(self: Receipts, partition: int, turn: str) -> bool:
        return False

    monkeypatch.setattr(Receipts, "read", read_nothing)
    assert any("the receipt of another output" in wrong for wrong in DeliveryWorld(1).run())


def test_a_copy_is_shown_again_where_an_orders_own_place_tells_whether_a_predecessor_may_have_sent_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_cause = TakeOvers.may_be_sent

    def by_place(self: TakeOvers, partition: int, offset: int, cause: int | None) -> bool:
        return by_cause(self, partition, offset, 1_000_000)

    monkeypatch.setattr(TakeOvers, "may_be_sent", by_place)
    assert any("is shown 2 times" in wrong for wrong in DeliveryWorld(24).run())


def test_a_late_copy_is_shown_again_where_its_own_time_tells_how_old_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    of_turn = DeliveryHandler._tried_since_ms

    def of_record(self: DeliveryHandler, order: SendText, inbound: Inbound) -> int | None:
        since_ms = of_turn(self, order, inbound)
        return since_ms if since_ms is None else max(since_ms, inbound.record.timestamp_ms)

    monkeypatch.setattr(DeliveryHandler, "_tried_since_ms", of_record)
    assert any("is shown 2 times" in wrong for wrong in DeliveryWorld(16).run())
