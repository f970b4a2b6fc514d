"""What a delivery process remembers is bounded over all turns, and the newest of it is there."""

from schemas.inbox import Sent
from services.delivery.memory import Outcomes


def test_outcomes_are_bounded_over_all_turns_and_within_one() -> None:
    outcomes = Outcomes(kept=2_000)
    for turn in range(10_000):
        for sequence in range(3):
            outcomes.put(f"m{turn}", sequence, Sent(message_id=f"{turn}{sequence}"))
        outcomes.put(f"m{turn}", 2, Sent(message_id=f"{turn}2"))
    assert len(outcomes) == len(outcomes.message_ids()) == 1_998
    assert outcomes.get("m9999", 0) == Sent(message_id="99990")
    assert outcomes.get("m9333", 0) is None
    for sequence in range(3_000):
        outcomes.put("m10000", sequence, Sent(message_id=f"10000{sequence}"))
    assert len(outcomes) == len(outcomes.message_ids()) == 2_000
    assert outcomes.get("m10000", 2_999) is not None
    assert outcomes.get("m10000", 2_499) is None
