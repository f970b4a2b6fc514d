"""What the doctor finds, against a real broker, a local Discord and a local provider."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.topics import load_topics
from services.cli.doctor_checks import Check, Finding, check_broker, check_machine, check_port, check_variables
from services.cli.doctor_discord import check_discord
from services.cli.doctor_provider import check_provider, judge, models_url
from services.cli.doctor_report import examine_all, lines
from services.context.configured import CONFIGURED
from services.gateway.commands import register_commands
from services.runtime.discord import rest_client
from services.runtime.kafka.admin import provision
from services.runtime.settings import Settings
from services.sandbox.discord.limits import LimitsConfig
from services.sandbox.discord.server import SandboxConfig as DiscordConfig
from services.sandbox.discord.server import SandboxDiscord
from services.sandbox.discord.world import WorldConfig
from services.sandbox.provider.server import SandboxConfig as ProviderConfig
from services.sandbox.provider.server import SandboxProvider

TOKEN, KEY = "sandbox-token", "sandbox-key"


async def found_by(check: Any, settings: Settings) -> dict[str, Finding]:
    """The last finding of each kind."""
    return {finding.what: finding async for finding in check(settings)}


async def a_discord(**world: Any) -> SandboxDiscord:
    server = SandboxDiscord(DiscordConfig(world=WorldConfig(**world), limits=LimitsConfig(enabled=False)))
    await server.start()
    return server


@pytest.fixture
async def sandbox_discord() -> AsyncIterator[SandboxDiscord]:
    server = await a_discord()
    yield server
    await server.stop()


@pytest.fixture
async def provider_url() -> AsyncIterator[str]:
    provider = SandboxProvider(ProviderConfig(key=KEY))
    address = await provider.start()
    yield address.url
    await provider.stop()


def api(server: SandboxDiscord) -> str:
    assert server.address is not None
    return server.address.api_url


# -- broker and topics -------------------------------------------------------------------------------------------------


async def test_a_broker_without_topics_is_told_with_the_command_that_makes_them(
    kafka: Any, topic_prefix: str, make_settings: Any
) -> None:
    found = await found_by(check_broker, make_settings(kafka=kafka.bootstrap, broker=kafka.kind, prefix=topic_prefix))

    assert found["broker"].state == "ok"
    assert (found["topics"].state, found["topics"].remedy) == ("FAIL", "run `odradek topics create`")


async def test_topics_as_declared_leave_no_complaint_about_the_cluster(
    kafka: Any, topic_prefix: str, make_settings: Any
) -> None:
    settings = make_settings(kafka=kafka.bootstrap, broker=kafka.kind, prefix=topic_prefix)
    await provision(settings, load_topics(), partitions=2)

    findings = [finding async for finding in check_broker(settings)]

    assert not [finding for finding in findings if "cluster says" in finding.detail]


async def test_a_broker_of_the_other_kind_is_a_warning(kafka: Any, topic_prefix: str, make_settings: Any) -> None:
    other = "embedded" if kafka.kind == "kafka" else "kafka"

    found = await found_by(check_broker, make_settings(kafka=kafka.bootstrap, broker=other, prefix=topic_prefix))

    assert (found["broker"].state, found["broker"].remedy) == ("warn", f"set ODRADEK_BROKER={kafka.kind}")


async def test_an_unusable_topics_file_fails_and_is_named(make_settings: Any, tmp_path: Path) -> None:
    found = await found_by(check_broker, make_settings(topics_file=tmp_path / "nowhere.yaml"))

    assert found["topics"].state == "FAIL"
    assert "nowhere.yaml" in found["topics"].detail


# -- Discord -----------------------------------------------------------------------------------------------------------


async def test_discord_as_it_should_be_is_ok(sandbox_discord: SandboxDiscord, make_settings: Any) -> None:
    settings = make_settings(discord_token=TOKEN, discord_api=api(sandbox_discord))
    async with rest_client(settings) as client:
        await register_commands(client)

    found = await found_by(check_discord, settings)

    assert {what: finding.state for what, finding in found.items()} == {
        "discord token": "ok",
        "discord intent": "ok",
        "discord commands": "ok",
    }
    assert found["discord commands"].detail == "/kill"


async def test_commands_that_are_not_registered_are_a_warning(
    sandbox_discord: SandboxDiscord, make_settings: Any
) -> None:
    found = await found_by(check_discord, make_settings(discord_token=TOKEN, discord_api=api(sandbox_discord)))

    assert found["discord commands"].state == "warn"
    assert found["discord commands"].remedy == "run `odradek discord invite`"


async def test_a_missing_intent_fails_and_says_where_to_switch_it_on(make_settings: Any) -> None:
    server = await a_discord(intents=0)
    try:
        found = await found_by(check_discord, make_settings(discord_token=TOKEN, discord_api=api(server)))
    finally:
        await server.stop()

    assert found["discord intent"].state == "FAIL"
    assert "https://discord.com/developers/applications/" in found["discord intent"].remedy


@pytest.mark.parametrize(("token", "state"), [(None, "warn"), ("wrong.token.here", "FAIL")])
async def test_a_token_that_is_refused_fails_without_being_shown_and_a_missing_one_is_warned_of(
    sandbox_discord: SandboxDiscord, make_settings: Any, token: str | None, state: str
) -> None:
    found = await found_by(check_discord, make_settings(discord_token=token, discord_api=api(sandbox_discord)))

    assert found["discord token"].state == state
    assert "ODRADEK_DISCORD_TOKEN" in found["discord token"].remedy
    assert "wrong.token" not in str(found)


# -- the provider ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["openai-chat", "anthropic"])
async def test_a_key_that_is_taken_and_a_known_model_are_ok(
    provider_url: str, make_settings: Any, dialect: str
) -> None:
    settings = make_settings(
        dialect=dialect, provider_url=provider_url, ODRADEK_OPENAI_API_KEY=KEY, ODRADEK_ANTHROPIC_API_KEY=KEY
    )

    found = await found_by(check_provider, settings)

    assert {what: finding.state for what, finding in found.items()} == {"provider key": "ok", "provider model": "ok"}
    assert KEY not in str(found)


async def test_a_refused_key_fails_and_names_its_setting(provider_url: str, make_settings: Any) -> None:
    found = await found_by(check_provider, make_settings(provider_url=provider_url, ODRADEK_OPENAI_API_KEY="sk-wrong"))

    assert found["provider key"].state == "FAIL"
    assert "ODRADEK_OPENAI_API_KEY" in found["provider key"].remedy
    assert "sk-wrong" not in str(found)


async def test_a_model_that_the_provider_does_not_list_is_a_warning(provider_url: str, make_settings: Any) -> None:
    found = await found_by(
        check_provider, make_settings(provider_url=provider_url, ODRADEK_OPENAI_API_KEY=KEY, model="no-such")
    )

    assert found["provider model"].state == "warn"
    assert "sandbox-echo" in found["provider model"].remedy


async def test_a_missing_key_is_warned_of_where_the_dialects_own_provider_would_be_asked(make_settings: Any) -> None:
    found = await found_by(check_provider, make_settings(dialect="anthropic"))

    assert found["provider key"].state == "warn"
    assert "ODRADEK_ANTHROPIC_API_KEY" in found["provider key"].remedy


async def test_a_dialect_without_requests_fails(make_settings: Any) -> None:
    found = await found_by(check_provider, make_settings(dialect="novelai"))

    assert found["provider"].state == "FAIL"
    assert "openai-chat" in found["provider"].remedy


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "ftp://x", "nonsense", "http://["])
async def test_a_provider_that_cannot_be_reached_fails(make_settings: Any, url: str) -> None:
    found = await found_by(check_provider, make_settings(provider_url=url))

    assert found["provider"].state == "FAIL"
    assert "ODRADEK_PROVIDER_URL" in found["provider"].remedy


@pytest.mark.parametrize(
    ("status", "body", "states"),
    [
        (200, b'{"data":[{"id":"sandbox-echo"}]}', ["ok", "ok"]),
        (200, b'{"data":[]}', ["ok", "warn"]),
        (200, b"<html>", ["ok", "warn"]),
        (200, b'{"data":7}', ["ok", "warn"]),
        (200, b"[" * 100_000, ["ok", "warn"]),
        (401, b"", ["FAIL"]),
        (404, b"", ["warn"]),
        (429, b"", ["warn"]),
        (503, b"", ["FAIL"]),
        (302, b"", ["FAIL"]),
    ],
)
def test_every_answer_of_a_provider_has_a_meaning(
    make_settings: Any, status: int, body: bytes, states: list[str]
) -> None:
    found = judge(make_settings(), CONFIGURED["openai-chat"], status, body)

    assert [finding.state for finding in found] == states


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/chat/completions"])
def test_models_are_asked_for_beside_the_completions(make_settings: Any, end: str) -> None:
    settings = make_settings(provider_url=f"https://provider.example{end}")

    assert models_url(settings) == "https://provider.example/v1/models"


# -- the rest ----------------------------------------------------------------------------------------------------------


async def test_a_port_that_is_taken_fails_and_a_free_one_is_ok(make_settings: Any) -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    taken = await found_by(check_port, make_settings(http_port=port))
    server.close()
    await server.wait_closed()
    free = await found_by(check_port, make_settings(http_port=port))
    picked = await found_by(check_port, make_settings())

    assert (taken["port"].state, free["port"].state, picked["port"].state) == ("FAIL", "ok", "info")
    assert "Address already in use" in taken["port"].detail


async def test_what_the_machine_has_is_information_alone(make_settings: Any) -> None:
    found = await found_by(check_machine, make_settings())

    assert found.keys() == {"embedded broker", "java", "mvn"}
    assert {finding.state for finding in found.values()} == {"info"}


async def test_a_misspelt_variable_is_a_warning(make_settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = make_settings()
    monkeypatch.setenv("ODRADEK_MODLE", "x")

    found = await found_by(check_variables, settings)

    assert (found["settings"].state, found["settings"].remedy) == ("warn", "is ODRADEK_MODEL meant?")


async def test_a_check_that_hangs_is_cut_off_and_keeps_what_it_found(make_settings: Any) -> None:
    async def hanging(_: Settings) -> AsyncIterator[Finding]:
        yield Finding("half", "ok", "this much is known")
        await asyncio.Event().wait()

    checks = [Check("asks", hanging, asks=True), Check("looks", hanging, asks=False)]
    found = await examine_all(make_settings(), checks, within_s=0.01)

    told = [(finding.what, finding.state) for finding in found]
    assert told == [("half", "ok"), ("asks", "FAIL"), ("half", "ok"), ("looks", "info")]
    assert "network" in found[1].remedy
    assert "machine is busy" in found[3].detail


def test_findings_are_lines_with_what_to_do_below() -> None:
    told = lines([Finding("x", "ok", "fine"), Finding("y", "FAIL", "\x1b[2Jbad", "mend it")], colours=False)

    assert told == ["ok    x: fine", "FAIL  y: \\x1b[2Jbad", "      what to do: mend it"]


async def test_everything_wrong_is_told_at_once_and_exits_with_one(odradek: Any) -> None:
    done = await asyncio.to_thread(
        odradek, "doctor", "--json", "--kafka", "127.0.0.1:1", ODRADEK_DISCORD_TOKEN="secret.token.x",
        ODRADEK_DISCORD_API="http://127.0.0.1:1/api", ODRADEK_PROVIDER_URL="http://127.0.0.1:1",
        OPENAI_API_KEY="sk-secret",
    )  # fmt: skip

    failed = {finding["what"] for finding in json.loads(done.out) if finding["state"] == "FAIL"}
    assert done.code == 1
    assert failed == {"broker", "discord token", "provider"}
    assert "secret" not in done.out + done.err


async def test_a_setting_that_is_wrong_fails_and_the_rest_is_examined(odradek: Any) -> None:
    done = await asyncio.to_thread(
        odradek, "doctor", "--json", "--kafka", "127.0.0.1:1", ODRADEK_PROVIDER_URL="http://127.0.0.1:1",
        ODRADEK_TEMPERATURE="9",
    )  # fmt: skip

    found = json.loads(done.out)
    assert done.code == 1
    assert (found[0]["what"], found[0]["state"]) == ("settings", "FAIL")
    assert "ODRADEK_TEMPERATURE" in found[0]["detail"]
    assert {"broker", "provider"} <= {finding["what"] for finding in found}


# -- the invitation ----------------------------------------------------------------------------------------------------


async def test_an_invitation_asks_for_what_is_used_and_registers_the_commands(
    odradek: Any, sandbox_discord: SandboxDiscord
) -> None:
    there = {"ODRADEK_DISCORD_TOKEN": TOKEN, "ODRADEK_DISCORD_API": api(sandbox_discord)}

    printed = await asyncio.to_thread(odradek, "discord", "invite", "--no-register", **there)
    assert dict(sandbox_discord.world.interactions.commands) == {}
    done = await asyncio.to_thread(odradek, "discord", "invite", **there)

    link = httpx.URL(done.lines[0])
    assert printed.lines[0] == done.lines[0]
    assert link.host == "discord.com"
    assert link.params["client_id"] == str(sandbox_discord.world.state.application.id)
    assert set(link.params["scope"].split()) == {"bot", "applications.commands"}
    # Discord's bits: reactions 6, view 10, send 11, embed 14, attach 15, history 16, external emoji 18, threads 38.
    assert int(link.params["permissions"]) == sum(1 << bit for bit in (6, 10, 11, 14, 15, 16, 18, 38))
    assert done.lines[1] == "registered: /kill"
    assert list(sandbox_discord.world.interactions.commands) == ["kill"]


async def test_an_invitation_without_a_token_says_where_to_get_one(odradek: Any) -> None:
    done = await asyncio.to_thread(odradek, "discord", "invite")

    assert done.code == 2
    assert "what to do: Set ODRADEK_DISCORD_TOKEN" in done.err
