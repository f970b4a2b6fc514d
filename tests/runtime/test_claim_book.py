"""The book of claims: one winner an effect, the first in the log; the first close counts; bounded."""

from hypothesis import given
from hypothesis import strategies as st

from schemas.claims import Alive, Claimed, Closed, Closing
from services.runtime import claim_book
from services.runtime.claim_book import OPEN_KEPT_S, ClaimBook

EFFECTS = st.sampled_from(["e1", "e2", "e3"])
LIVES = st.sampled_from([("a", "a:1"), ("a", "a:2"), ("b", "b:1")])
OUTCOMES: st.SearchStrategy[Closing] = st.sampled_from(["done", "stopped", "failed", "expired", "lost"])
RECORDS = st.one_of(
    st.builds(lambda e, life: Claimed(effect=e, instance=life[0], incarnation=life[1]), EFFECTS, LIVES),
    st.builds(lambda e, life, o: Closed(effect=e, outcome=o, by=life[1]), EFFECTS, LIVES, OUTCOMES),
    st.builds(lambda life: Alive(instance=life[0], incarnation=life[1]), LIVES),
)


@given(st.lists(RECORDS, max_size=25))
def test_the_first_claim_wins_unless_a_close_stands_before_it_and_the_first_close_counts(
    records: list[Claimed | Alive | Closed],
) -> None:
    book = ClaimBook()
    for now, record in enumerate(records):
        closed = book.apply(record, channel="1", partition=0, now=float(now))
        past = records[: now + 1]
        for effect in ("e1", "e2", "e3"):
            about = [r for r in past if not isinstance(r, Alive) and r.effect == effect]
            first_close = next((r for r in about if isinstance(r, Closed)), None)
            first = about[0] if about else None
            open_holder = first.incarnation if isinstance(first, Claimed) and first_close is None else None
            holder = book.holder(effect)
            assert (holder.incarnation if holder else None) == open_holder
            assert book.outcome(effect) == (first_close.outcome if first_close else None)
        is_first_close = isinstance(record, Closed) and not any(
            isinstance(r, Closed) and r.effect == record.effect for r in past[:-1]
        )
        assert (closed is not None) == is_first_close


@given(st.lists(RECORDS, max_size=25))
def test_a_life_was_last_heard_at_its_last_record(records: list[Claimed | Alive | Closed]) -> None:
    book = ClaimBook()
    heard: dict[str, float] = {}
    for now, record in enumerate(records):
        book.apply(record, channel="1", partition=0, now=float(now))
        heard[record.by if isinstance(record, Closed) else record.incarnation] = float(now)
    for life in ("a:1", "a:2", "b:1"):
        assert book.last_heard(life) == heard.get(life)


def test_only_open_effects_of_the_slots_other_lives_are_its_predecessors() -> None:
    book = ClaimBook()
    for effect, instance, life in [
        ("old", "a", "a:1"),
        ("gone", "a", "a:1"),
        ("own", "a", "a:2"),
        ("other", "b", "b:1"),
    ]:
        book.apply(Claimed(effect=effect, instance=instance, incarnation=life), channel="7", partition=1, now=0)
    book.apply(Closed(effect="gone", outcome="done", by="a:1"), channel="7", partition=1, now=0)
    assert book.held_by_predecessors("a", "a:2") == [("old", "7")]
    assert book.partitions_held("a:2") == {1}


def test_closed_effects_and_silent_lives_are_forgotten_in_the_end(monkeypatch) -> None:
    monkeypatch.setattr(claim_book, "CLOSED_KEPT", 10)
    book = ClaimBook()
    book.apply(Claimed(effect="open", instance="a", incarnation="a:0"), channel="1", partition=0, now=0)
    for number in range(3_000):
        life = f"a:{number}"
        effect = f"e{number}"
        book.apply(Claimed(effect=effect, instance="a", incarnation=life), channel="1", partition=0, now=number / 10)
        book.apply(Closed(effect=effect, outcome="done", by=life), channel="1", partition=0, now=number / 10)
    assert len(book._open) == 1
    assert len(book._closed) == 10
    assert len(book._heard) <= 1_001
    assert book.last_heard("a:0") is not None
    assert book.outcome("e2999") == "done"
    assert book.outcome("e0") is None


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 9), st.booleans()), max_size=60))
def test_a_claim_is_forgotten_once_no_call_can_be_open_under_it_and_never_before(
    steps: list[tuple[int, int, bool]],
) -> None:
    book = ClaimBook()
    claimed: dict[str, float] = {}
    now = 0.0
    for wait, number, closes in steps:
        now += wait
        effect = f"e{number}"
        life = f"a:{number}:{now}"
        if closes:
            book.apply(Closed(effect=effect, outcome="done", by=life), channel="1", partition=0, now=now)
            claimed.pop(effect, None)
            continue
        book.apply(Claimed(effect=effect, instance="a", incarnation=life), channel="1", partition=0, now=now)
        claimed = {name: at for name, at in claimed.items() if now - at <= OPEN_KEPT_S}
        if book.outcome(effect) is None:
            claimed.setdefault(effect, now)
        for name, at in claimed.items():
            holder = book.holder(name)
            assert holder is not None
            assert holder.incarnation.endswith(f":{at}")
        assert book.open_count == len(claimed)


def test_claims_that_nobody_closes_do_not_gather() -> None:
    book = ClaimBook()
    for second in range(5_000):
        effect = f"e{second}"
        book.apply(Claimed(effect=effect, instance="a", incarnation="a:1"), channel="1", partition=0, now=float(second))
    assert book.open_count == OPEN_KEPT_S + 1
