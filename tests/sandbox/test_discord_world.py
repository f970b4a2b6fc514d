"""The local Discord's world, without a server."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.sandbox.discord.errors import DiscordError
from services.sandbox.discord.forms import read_message
from services.sandbox.discord.snowflakes import Snowflakes, made_at_ms
from services.sandbox.discord.world import World, WorldConfig

NOW_MS = 1_700_000_000_000


def _world(config: WorldConfig | None = None) -> World:
    return World(config or WorldConfig(), now_ms=lambda: NOW_MS)


@given(st.lists(st.integers(NOW_MS, NOW_MS + 5), min_size=2, max_size=50))
def test_snowflakes_increase_whatever_the_clock_does(times: list[int]) -> None:
    clock = iter(times)
    snowflakes = Snowflakes(lambda: next(clock))
    made = [snowflakes.make() for _ in times]
    assert made == sorted(set(made))
    assert made_at_ms(made[-1]) == max(times)


@given(
    count=st.integers(0, 12),
    at=st.integers(-1, 13),
    limit=st.integers(1, 8),
    side=st.sampled_from(["before", "after", "around", "newest"]),
)
def test_a_page_holds_the_messages_next_to_its_anchor(count: int, at: int, limit: int, side: str) -> None:
    world = _world()
    channel, ada = world.channel("general"), world.user("ada")
    ids = [world.post_as(ada, channel, "x").id for _ in range(count)]
    anchor = (ids[at] if 0 <= at < count else (0 if at < 0 else 1 << 63)) if side != "newest" else None
    sides = {name: anchor if name == side else None for name in ("before", "after", "around")}
    page = [message.id for message in world.posting.history(channel, **sides, limit=limit)]
    assert page == sorted(page, reverse=True)
    assert len(page) <= limit
    match side:
        case "newest":
            assert page == ids[::-1][:limit]
        case "before":
            assert page == [one for one in ids[::-1] if one < (anchor or 0)][:limit]
        case "after":
            assert page[::-1] == [one for one in ids if one > (anchor or 0)][:limit]
        case _:
            assert anchor not in ids or anchor in page


def test_a_channel_keeps_its_newest_messages() -> None:
    world = _world(WorldConfig(messages_kept=3))
    channel = world.channel("general")
    for number in range(5):
        world.post_as(world.user("ada"), channel, str(number))
    assert [message.content for message in world.messages(channel)] == ["2", "3", "4"]


async def test_the_journal_keeps_the_newest_entries_and_waits_for_new_ones() -> None:
    world = _world(WorldConfig(entries_kept=4))
    ada, channel = world.user("ada"), world.channel("general")
    waiting = asyncio.create_task(world.wait_for(lambda entry: entry.kind == "typing", 5))
    for number in range(6):
        world.post_as(ada, channel, str(number))
    world.type_as(ada, channel)
    assert (await waiting).author is ada
    assert [entry.seq for entry in world.journal.entries()] == [world.journal.last_seq - back for back in (3, 2, 1, 0)]
    with pytest.raises(TimeoutError):
        await world.wait_until(lambda: False, 0)


async def test_a_reader_that_falls_behind_goes_on_with_what_is_kept() -> None:
    world = _world(WorldConfig(entries_kept=3))
    ada, channel = world.user("ada"), world.channel("general")
    entries = world.journal.entries()
    next(entries)
    for _ in range(10):
        world.type_as(ada, channel)
    assert [entry.seq for entry in entries] == [world.journal.last_seq - back for back in (2, 1, 0)]


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({"content": 5}, ["content"]),
        ({"nonce": "n" * 26}, ["nonce"]),
        (
            {"embeds": [{"fields": [{"name": "n", "value": "v"}, {"name": "n"}]}]},
            ["embeds", "0", "fields", "1", "value"],
        ),
        ({"allowed_mentions": {"parse": ["all"]}}, ["allowed_mentions", "parse", "0"]),
        ({"allowed_mentions": {"parse": ["users"], "users": ["1"]}}, ["allowed_mentions"]),
        ([], []),
    ],
)
def test_a_form_error_names_its_place(body: object, place: list[str]) -> None:
    with pytest.raises(DiscordError) as refused:
        read_message(body)
    node: object = refused.value.body()["errors"]
    for step in place:
        assert isinstance(node, dict)
        node = node[step]
    assert isinstance(node, dict)
    assert node["_errors"]


@pytest.mark.parametrize(
    "rows",
    [
        [[{"type": 2, "style": 1, "label": "x"}]],
        [[{"type": 2, "style": 5, "label": "x"}]],
        [[{"type": 2, "style": 9, "label": "x", "custom_id": "a"}]],
        [[{"type": 2, "style": 1, "custom_id": "a"}]],
        [[{"type": 2, "style": 1, "label": "x" * 81, "custom_id": "a"}]],
        [[{"type": 2, "style": 1, "label": "x", "custom_id": "a" * 101}]],
        [[{"type": 2, "style": 1, "label": "x", "custom_id": "a"}] * 2],
        [[{"type": 2, "style": 1, "label": "x", "custom_id": str(n)} for n in range(6)]],
        [[{"type": 2, "style": 1, "label": "x", "custom_id": str(n)}] for n in range(6)],
        [[]],
        [["x"]],
        [[{"style": 1}]],
    ],
)
def test_buttons_that_discord_refuses_are_refused(rows: list[object]) -> None:
    world = _world()
    form = read_message({"components": [{"type": 1, "components": row} for row in rows]})
    with pytest.raises(DiscordError) as refused:
        world.posting.send(world.channel("general"), world.bot, form)
    assert refused.value.code == 50035
