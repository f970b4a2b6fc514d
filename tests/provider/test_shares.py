"""Fair shares of the streams, as a sequence of wishes and givings-back without a clock."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from services.provider.shares import GENEROSITY, Shares, Ticket


def given_out(shares: Shares) -> list[Ticket]:
    tickets: list[Ticket] = []
    while (ticket := shares.give()) is not None:
        tickets.append(ticket)
    return tickets


def counted(tickets: list[Ticket]) -> dict[str, int]:
    return dict(Counter(ticket.guild for ticket in tickets))


def test_a_guild_that_asks_for_everything_leaves_a_fifth() -> None:
    shares = Shares(500)
    for _ in range(500):
        shares.ask("greedy")
    assert counted(given_out(shares)) == {"greedy": 400}


def test_another_guild_begins_at_once_beside_one_that_waits_with_a_hundred_wishes() -> None:
    shares = Shares(500)
    for _ in range(500):
        shares.ask("greedy")
    given_out(shares)
    wish = shares.ask("small")
    assert shares.give() is wish


def test_another_guild_goes_before_the_rest_of_a_flood_that_is_being_given_out() -> None:
    shares = Shares(500)
    for _ in range(500):
        shares.ask("greedy")
    shares.give()
    shares.ask("small")
    assert [ticket.guild for ticket in (shares.give(), shares.give()) if ticket] == ["small", "greedy"]


def test_greedy_guilds_share_alike_and_still_leave_room() -> None:
    shares = Shares(500)
    for guild in "abcd":
        for _ in range(500):
            shares.ask(guild)
    shared = counted(given_out(shares))
    assert max(shared.values()) - min(shared.values()) <= 1
    assert 500 - sum(shared.values()) >= 500 // (4 * GENEROSITY + 1)


def test_equals_are_served_in_turns() -> None:
    shares = Shares(2)
    for guild in "aabbcc":
        shares.ask(guild)
    order: list[str] = []
    for _ in range(6):
        ticket = shares.give()
        assert ticket is not None
        order.append(ticket.guild)
        shares.leave(ticket)
    assert order == list("abcabc")


def test_one_guild_is_served_in_the_order_of_its_wishes() -> None:
    shares = Shares(10)
    wishes = [shares.ask("a") for _ in range(5)]
    assert given_out(shares) == wishes


def test_a_process_with_one_stream_gives_it() -> None:
    shares = Shares(1)
    first, second = shares.ask("a"), shares.ask("a")
    assert given_out(shares) == [first]
    shares.leave(first)
    assert given_out(shares) == [second]


def test_who_waits_no_more_is_passed_over() -> None:
    shares = Shares(1)
    first, second = shares.ask("a"), shares.ask("a")
    shares.leave(first)
    assert given_out(shares) == [second]


ACTS = st.lists(st.tuples(st.sampled_from(["ask", "give", "leave"]), st.sampled_from("abcd"), st.integers(0, 100)))


@given(st.integers(1, 12), ACTS)
def test_whatever_happens_no_stream_is_given_twice_and_none_is_kept_from_a_guild_that_has_none(
    most: int, acts: list[tuple[str, str, int]]
) -> None:
    shares = Shares(most)
    waiting: list[Ticket] = []
    holding: list[Ticket] = []
    for act, guild, number in acts:
        if act == "ask":
            waiting.append(shares.ask(guild))
        elif act == "give":
            ticket = shares.give()
            held = Counter(one.guild for one in holding)
            if ticket is not None:
                assert held[ticket.guild] <= min(held[one.guild] for one in waiting)
                waiting.remove(ticket)
                holding.append(ticket)
            elif len(holding) < most:
                assert all(held[one.guild] for one in waiting)
        elif waiting + holding:
            ticket = (waiting + holding)[number % len(waiting + holding)]
            shares.leave(ticket)
            (holding if ticket in holding else waiting).remove(ticket)
        assert len(holding) <= most
    for ticket in holding:
        shares.leave(ticket)
    while waiting:
        ticket = shares.give()
        assert ticket is not None
        waiting.remove(ticket)
        shares.leave(ticket)
