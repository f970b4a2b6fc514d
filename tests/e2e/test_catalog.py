"""Whole turns with models and keys from a catalog: rotation, fallback, own keys, and errors that say what is missing."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from sqlalchemy import select

from schemas.prompts import ProviderRequest
from services.catalog.catalog import Catalog, open_catalog
from services.catalog.choices import set_policy
from services.catalog.owners import Person, Server
from services.catalog.tables import RotationKey
from services.sandbox.provider.script import Answer
from tests.e2e.keys import catalog_environment, catalog_settings, fall_back_on, forget_all, offer

pytestmark = pytest.mark.asyncio(loop_scope="module")

KEYS = {holder: f"e2e-key-of-{holder}-{uuid4().hex}" for holder in ("first", "second", "third", "ada")}


@dataclass
class Place:
    crowd: Any
    catalog: Catalog
    talk: Any

    @property
    def url(self) -> str:
        return self.crowd.settings.provider_url

    @property
    def server(self) -> Server:
        return Server(str(self.talk.channel.guild_id))

    def credentials(self, turn: str) -> list[str]:
        """What the prompts of the turn name as their keys."""
        found = [record for _, record in self.talk.records("prompts", ProviderRequest) if record.turn == turn]
        return [record.credential.name for record in found]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened(open_crowd: Any, kafka: Any, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Any]:
    environment = catalog_environment(tmp_path_factory.mktemp("catalog"))
    async with (
        open_catalog(catalog_settings(environment)) as catalog,
        open_crowd(kafka.bootstrap, broker=kafka.kind, environment=environment, more_keys=KEYS) as crowd,
    ):
        yield crowd, catalog


@pytest_asyncio.fixture(loop_scope="module")
async def place(opened: Any) -> Place:
    crowd, catalog = opened
    await forget_all(catalog)
    return Place(crowd, catalog, crowd.talk())


async def test_where_nobody_has_set_anything_up_the_settings_answer(place: Place) -> None:
    turn = place.talk.say("Who pays?")
    finished = await place.talk.finished(turn)
    assert finished.status == "completed"
    assert place.credentials(turn) == ["openai"]


async def test_a_key_that_is_over_its_limit_rests_and_the_next_one_answers(place: Place) -> None:
    await offer(place.catalog, place.server, "home", place.url, KEYS["first"], KEYS["second"])

    turn = place.talk.say("Two keys.", play=Answer(429, message="Slow down.", headers={"retry-after": "60"}))
    finished = await place.talk.finished(turn)

    assert (finished.status, finished.generations, place.talk.notices) == ("completed", 2, [])
    refused, answered = place.talk.calls(turn)
    assert {refused.holder, answered.holder} == {"first", "second"}
    tried, used = place.credentials(turn)
    async with place.catalog.database.reading() as session:
        rows = {f"catalog/rotation/{row.id}": row for row in await session.scalars(select(RotationKey))}
    assert (rows[tried].last_error, rows[tried].error_count) == ("rate_limit", 1)
    assert (rows[used].last_error, rows[used].usage_count) == (None, 1)

    again = place.talk.say("And now?")
    await place.talk.finished(again)
    assert place.credentials(again) == [used]
    assert place.crowd.leaks() == []


async def test_a_model_that_fails_is_followed_by_another_provider_s_in_its_own_dialect(place: Place) -> None:
    other = await offer(place.catalog, place.server, "other", place.url, KEYS["second"], style="anthropic")
    await offer(place.catalog, place.server, "home", place.url, KEYS["first"])
    await fall_back_on(place.catalog, place.server, other, "other")

    turn = place.talk.say("Anybody?", play=Answer(500, message="The upstream is broken today."))
    finished = await place.talk.finished(turn)

    assert (finished.status, place.talk.notices) == ("completed", [])
    calls = [(call.dialect, call.holder) for call in place.talk.calls(turn)]
    assert calls == [("openai-chat", "first"), ("anthropic", "second")]


async def test_a_person_s_endpoint_in_the_operators_network_gets_no_call_and_the_servers_answers(place: Place) -> None:
    await offer(place.catalog, place.server, "home", place.url, KEYS["first"])
    await offer(place.catalog, Person(str(place.crowd.ada.id)), "mine", place.url, KEYS["ada"])

    turn = place.talk.say("With my key.", user=place.crowd.ada)
    finished = await place.talk.finished(turn)
    other = place.talk.say("And me?", user=place.crowd.grace)
    await place.talk.finished(other)

    assert finished.status == "completed"
    assert [call.holder for call in place.talk.calls(turn)] == ["first"]
    assert [call.holder for call in place.talk.calls(other)] == ["first"]
    assert place.crowd.leaks() == []


async def test_who_must_bring_a_key_and_has_none_is_told_so(place: Place) -> None:
    await offer(place.catalog, place.server, "home", place.url, KEYS["first"])
    async with place.catalog.database.writing() as session:
        await set_policy(session, place.server, user_byok_mode=True)

    turn = place.talk.say("Who pays?")
    finished = await place.talk.finished(turn)

    assert (finished.status, finished.error.code) == ("error", "personal_provider_required")
    [notice] = place.talk.notices
    assert "a provider of your own" in notice
    assert "odradek provider add --user" in notice
    assert place.talk.calls(turn) == []


async def test_an_endpoint_without_its_key_is_named_to_the_user(place: Place) -> None:
    await offer(place.catalog, place.server, "home", place.url)

    turn = place.talk.say("Who has the key?")
    finished = await place.talk.finished(turn)

    assert (finished.status, finished.error.code) == ("error", "placeholder_key")
    assert re.search(r"custom:[0-9]+: The provider wants a key, and none is stored\.", place.talk.notices[0])
    assert place.talk.calls(turn) == []
