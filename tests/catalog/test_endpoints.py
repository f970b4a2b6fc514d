"""Custom endpoints and their synthetic models: what is copied, what stays, what is refused."""

import pytest
from sqlalchemy import select

from services.catalog import endpoints
from services.catalog.database import Database
from services.catalog.endpoint import Endpoint
from services.catalog.endpoints import SavedEndpoint, base_url, endpoints_of, save_endpoint
from services.catalog.errors import Refused
from services.catalog.owners import Owner, Person, Server
from services.catalog.tables import CustomEndpoint, Llm
from services.catalog.targets import target_of

SERVER = Server("10")
HOME = Endpoint("Home", "http://localhost:11434", "llama")


async def save(database: Database, endpoint: Endpoint, owner: Owner = SERVER) -> SavedEndpoint:
    async with database.writing() as session:
        return await save_endpoint(session, owner, endpoint)


async def rows(database: Database, saved: SavedEndpoint) -> tuple[CustomEndpoint, Llm]:
    async with database.reading() as session:
        return await session.get_one(CustomEndpoint, saved.id), await session.get_one(Llm, saved.llm_id)


async def test_an_endpoints_synthetic_model_copies_its_flags(database: Database) -> None:
    everything = Endpoint(
        "Home",
        "http://localhost:11434",
        "llama",
        num_ctx=8192,
        has_tools=True,
        sees_images=True,
        sees_videos=True,
        supports_structured_output=True,
        verbatim_tool_calling=True,
        strict_role_alternation=True,
        supports_prefix_completion=True,
    )
    saved = await save(database, everything)
    endpoint, llm = await rows(database, saved)

    assert (llm.provider, llm.codename, llm.is_scoped_registration) == (saved.provider, "home-text", True)
    target = target_of(llm, endpoint)
    assert (target.provider, target.base_url, target.num_ctx) == ("custom", "http://localhost:11434/v1", 8192)
    facts = target.model
    assert facts.codename == "llama"
    assert facts.has_tools
    assert facts.sees_images
    assert facts.sees_videos
    assert facts.supports_structured_output
    assert facts.verbatim_tool_calling
    assert (facts.strict_role_alternation, facts.supports_prefix_completion) == (True, True)


async def test_both_strict_flags_are_off_unless_they_are_submitted(database: Database) -> None:
    endpoint, llm = await rows(database, await save(database, HOME))

    for row in (endpoint, llm):
        assert (row.strict_role_alternation, row.supports_prefix_completion) == (False, False)


async def test_a_label_names_one_endpoint_of_an_owner_and_saving_again_changes_it(database: Database) -> None:
    first = await save(database, HOME)
    again = await save(database, Endpoint("HOME", "http://localhost:1234", "qwen"))
    other = await save(database, HOME, Person("10"))

    assert (first.id, first.llm_id) == (again.id, again.llm_id) != (other.id, other.llm_id)
    assert (await rows(database, again))[0].model_name == "qwen"
    async with database.reading() as session:
        assert [row.id for row in await endpoints_of(session, Person("10"))] == [other.id]


async def test_a_flag_that_is_not_offered_keeps_its_stored_value(database: Database) -> None:
    await save(database, Endpoint("home", "http://localhost:1", "m", strict_role_alternation=True))

    saved = await save(
        database,
        Endpoint(
            "home",
            "http://localhost:1",
            "m",
            style="anthropic",
            strict_role_alternation=False,
            supports_prefix_completion=True,
        ),
    )

    assert saved.ignored == {"supports_prefix_completion"}
    for row in await rows(database, saved):
        assert (row.strict_role_alternation, row.supports_prefix_completion) == (True, False)
    back = await save(database, Endpoint("home", "http://localhost:1", "m", strict_role_alternation=False))
    for row in await rows(database, back):
        assert (row.strict_role_alternation, row.supports_prefix_completion) == (False, False)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("http://localhost:11434", "http://localhost:11434/v1"),
        ("https://llm.example/", "https://llm.example/v1"),
        ("https://llm.example/api/paas/v4/", "https://llm.example/api/paas/v4"),
        (" https://llm.example/v1/chat/completions ", "https://llm.example/v1/chat/completions"),
    ],
)
def test_a_bare_host_gets_its_version_and_a_path_stays(given: str, kept: str) -> None:
    assert base_url(given) == kept


@pytest.mark.parametrize(
    "url",
    [
        "",
        "llm.example",
        "ftp://llm.example",
        "file:///etc/passwd",
        "https://me:hunter2hunter2@llm.example",
        "https://llm.example/v1?key=hunter2hunter2",
        "https://llm.example/#x",
        "https://[::1",
        "https://llm.example:99999999/v1",
        "https://llm.example/" + "x" * 2_000,
    ],
)
def test_what_is_no_address_of_an_endpoint_is_refused_without_being_shown(url: str) -> None:
    with pytest.raises(Refused) as refused:
        base_url(url)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "endpoint",
    [
        Endpoint("with blank", "http://localhost", "m"),
        Endpoint("x" * 41, "http://localhost", "m"),
        Endpoint("", "http://localhost", "m"),
        Endpoint("home", "http://localhost", " "),
        Endpoint("home", "http://localhost", "m" * 201),
        Endpoint("home", "http://localhost", "m\x1b[2J"),
        Endpoint("home", "http://localhost", "m\nserver:1"),
        Endpoint("home", "http://localhost", "m\u202en"),
        Endpoint("home\x1b", "http://localhost", "m"),
        Endpoint("home", "http://localhost", "m", num_ctx=511),
    ],
)
async def test_what_no_endpoint_can_be_is_refused_and_leaves_nothing(database: Database, endpoint: Endpoint) -> None:
    with pytest.raises(Refused):
        await save(database, endpoint)
    async with database.reading() as session:
        assert list(await session.scalars(select(CustomEndpoint))) == []


async def test_an_owner_has_a_bounded_number_of_endpoints(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoints, "MOST_ENDPOINTS", 1)
    await save(database, HOME)
    with pytest.raises(Refused, match="1 endpoints already"):
        await save(database, Endpoint("second", "http://localhost", "m"))
    await save(database, HOME)
