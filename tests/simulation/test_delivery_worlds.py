"""Delivery alone in worlds that are hostile to it: each text once, each receipt its own, and each rule is needed for it."""

import pytest

from services.delivery.receipts import Receipts
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
    assert any("the receipt of another output" in wrong for wrong in DeliveryWorld(2).run())
