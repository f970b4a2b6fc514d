"""Setting up providers, models and endpoints as an operator does it; keys go in unseen and never come out."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.cli.conftest import KEY, Command, Done


def test_a_provider_is_set_up_listed_and_removed(command: Command, tmp_path: Path) -> None:
    added = command("provider", "add", "claude", "--server", "1", stdin=f"{KEY}\n")
    assert (added.returncode, added.stdout) == (0, "anthropic: set up for server:1, with the model claude-sonnet-4-6\n")
    pooled = command("provider", "add", "anthropic", "--server", "1", "--pool", "--key-env", "MINE", MINE="other-key")
    assert pooled.returncode == 0, pooled.stderr
    again = command("provider", "add", "anthropic", "--server", "1", "--pool", "--key-env", "MINE", MINE="other-key")
    assert "the pool has this key already\nwhat to do: " in again.stderr
    chosen = command("model", "set", "anthropic", "claude-opus-4-7", "--server", "1")
    assert chosen.returncode == 0, chosen.stderr

    listed = json.loads(command("provider", "list", "--server", "1", "--json").stdout)
    assert listed == [
        {"provider": "anthropic", "has_key": True, "key_version": 1, "pooled_keys": 1, "model": "claude-opus-4-7"}
    ]
    assert all(KEY.encode() not in path.read_bytes() for path in tmp_path.iterdir())
    assert command("provider", "remove", "anthropic", "--server", "1", "--pool").stdout.startswith(
        "anthropic: 1 key of"
    )
    assert command("provider", "remove", "anthropic", "--server", "1").returncode == 0
    assert "has set up no provider" in command("provider", "list", "--server", "1").stdout
    assert command("provider", "remove", "anthropic", "--server", "1").returncode == 1


def test_overrides_fallbacks_and_switches_are_set(command: Command, tmp_path: Path) -> None:
    command("provider", "add", "anthropic", "--server", "1", stdin=KEY)
    assert command("model", "set", "anthropic", "claude-haiku-4-5", "--server", "1", "--channel", "9").returncode == 0
    chain = command("model", "fallback", "anthropic=claude-opus-4-7", "google=gemini-2.5-flash", "--server", "1")
    assert chain.stdout == "server:1: anthropic=claude-opus-4-7 -> google=gemini-2.5-flash\n"
    assert chain.stderr.startswith("warning: google is not set up there")
    policy = command("provider", "policy", "--server", "1", "--byok").stdout
    assert "user_byok_mode: on\npersonal_server_fallback_enabled: on\n" in policy

    with sqlite3.connect(tmp_path / "catalog.db") as connection:
        assert connection.execute("SELECT channel_id FROM channel_llm_overrides").fetchall() == [("9",)]
        assert connection.execute("SELECT slot FROM fallback_references ORDER BY slot").fetchall() == [(1,), (2,)]
    assert command("model", "unset", "--server", "1", "--channel", "9").returncode == 0
    with sqlite3.connect(tmp_path / "catalog.db") as connection:
        assert connection.execute("SELECT count(*) FROM channel_llm_overrides").fetchone() == (0,)


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("provider", "add", "nobody", "--server", "1"), 1, "there is no provider 'nobody'"),
        (("provider", "add", "custom", "--server", "1"), 1, "odradek endpoint add"),
        (("provider", "add", "openai"), 2, "Give --server ID or --user ID"),
        (("provider", "add", "openai", "--server", "x"), 2, "Developer Mode"),
        (("provider", "add", "openai", "--server", "1"), 1, "there is no key on stdin"),
        (("provider", "add", "openai", "--server", "1", "--key-env", "NOT_SET"), 2, "leave --key-env out"),
        (("provider", "test", "custom:2", "--server", "1"), 1, "odradek endpoint add"),
        (("model", "set", "custom:2", "x", "--server", "1"), 1, "odradek endpoint add"),
        (("model", "parameters", "custom:2", "--server", "1"), 1, "odradek endpoint add"),
        (("provider", "add", "openai", "--user", "1", "--pool"), 2, "a person's keys do not rotate"),
        (("model", "set", "openai", "gpt-5.1", "--server", "1"), 1, "openai is not set up there"),
        (("model", "set", "openai", "gpt-0", "--server", "1"), 1, "openai has no model 'gpt-0'"),
        (("model", "fallback", "gpt-5.1", "--server", "1"), 2, "Give PROVIDER=CODENAME"),
        (("endpoint", "remove", "home", "--server", "1"), 1, "there is no endpoint 'home'"),
        (
            ("endpoint", "add", "x", "--url", "http://10.0.0.1", "--model", "m", "--no-auth", "--user", "1"),
            1,
            "may not be fetched",
        ),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(
    command: Command, arguments: tuple[str, ...], code: int, complaint: str
) -> None:
    done = command(*arguments)

    assert done.returncode == code, done.stderr
    assert complaint in done.stderr


def test_without_a_secret_to_encrypt_with_nothing_starts(command: Command) -> None:
    done = command("provider", "add", "openai", "--server", "1", stdin=KEY, ODRADEK_CRYPTO_SECRET_CURRENT="2")

    assert done.returncode == 2
    assert "ODRADEK_CRYPTO_SECRET_V2 is not set" in done.stderr


def test_models_are_listed_with_what_they_can(command: Command) -> None:
    rows = json.loads(command("model", "list", "--provider", "zai", "--json").stdout)

    assert {row["codename"] for row in rows if row["is_default"]} == {"zai/glm-4.7"}
    assert all(row["supports_prefix_completion"] for row in rows)
    line = next(
        line
        for line in command("model", "list").stdout.splitlines()
        if line.startswith("vertexexpress\tgemini-2.5-pro")
    )
    assert line.split("\t")[2] == "smartest tools images structured reasoning"


@pytest.fixture
async def endpoint_server() -> AsyncIterator[tuple[str, list[str | None]]]:
    """(URL, the authorizations it saw): takes one key, at /v1/models."""
    seen: list[str | None] = []

    async def models(request: web.Request) -> web.Response:
        seen.append(request.headers.get("authorization"))
        return web.json_response({"data": []}, status=200 if seen[-1] == f"Bearer {KEY}" else 401)

    application = web.Application()
    application.router.add_get("/v1/models", models)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server
    yield f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}", seen
    await runner.cleanup()


async def test_an_endpoint_is_added_tried_and_changed(
    command: Command, endpoint_server: tuple[str, list[str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def go(*arguments: str, **more: Any) -> Done:
        return await asyncio.to_thread(command, *arguments, **more)

    url, seen = endpoint_server
    add = ("endpoint", "add", "Home", "--url", url, "--model", "m", "--server", "1")
    inside = await go(*add, stdin=KEY)
    assert (inside.returncode, inside.stdout) == (1, "")
    assert "set ODRADEK_PRIVATE_ENDPOINTS=1 here and for the provider worker" in inside.stderr
    monkeypatch.setenv("ODRADEK_PRIVATE_ENDPOINTS", "1")
    added = await go(*add, "--strict-role-alternation", stdin=KEY)
    assert added.stdout == "custom:1: endpoint home of server:1\n", added.stderr
    taken = await go("provider", "test", "custom:1", "--server", "1")
    assert (taken.returncode, taken.stdout) == (0, "custom:1, the main key: the key is taken\n")
    assert seen == [f"Bearer {KEY}"]

    changed = await go(
        *add, "--style", "anthropic", "--no-strict-role-alternation", "--prefix-completion", stdin="wrong-key"
    )
    assert "warning: supports_prefix_completion is not offered for the style anthropic" in changed.stderr
    refused = await go("provider", "test", "custom:1", "--server", "1")
    assert refused.returncode == 1
    assert "the key is refused (status 401)" in refused.stdout
    [row] = json.loads((await go("endpoint", "list", "--server", "1", "--json")).stdout)
    assert (row["strict_role_alternation"], row["supports_prefix_completion"]) == (True, False)
    assert (await go("endpoint", "remove", "home", "--server", "1")).returncode == 0


def test_a_key_that_is_no_text_is_refused_without_showing_it(command: Command) -> None:
    done = command("provider", "add", "openai", "--server", "1", stdin=KEY.encode() + b"\xff\n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: the key on stdin is no text")
