"""How models generate, as an operator sets it: from the command to the bytes of a request, and what is refused."""

import asyncio
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schemas.context import GenerationOptions
from schemas.generations import GenerationRequested
from schemas.inbox import Author
from schemas.prompts import ProviderRequest
from services.catalog.catalog import open_catalog
from services.context.building.build import build
from services.context.building.record import what_was_read
from services.context.models import CatalogModels, Route
from services.context.prompting import prompt
from services.context.scene import scene_of
from services.runtime.clock import SystemClock
from services.runtime.settings import Settings
from tests.cli.conftest import KEY, Command

SAMPLED = ("--temperature", "0.25", "--top-p", "0.9", "--frequency-penalty", "-0.5", "--max-output-tokens", "77")
NOTHING: dict[str, Any] = {
    "temperature": None,
    "top_p": None,
    "top_k": None,
    "frequency_penalty": None,
    "presence_penalty": None,
    "min_p": None,
    "max_output_tokens": None,
    "thinking_level": None,
    "disabled_parameters": [],
}


@pytest.fixture
def deepseek(command: Command) -> Command:
    """Server 1 is answered by deepseek-chat."""
    set_up(command, "--server", "1")
    return command


def set_up(command: Command, *owner: str) -> None:
    added = command("provider", "add", "deepseek", *owner, "--model", "deepseek-chat", stdin=KEY)
    assert added.returncode == 0, added.stderr


def asked(server: str | None = "1", person: str = "5", **settings: Any) -> ProviderRequest:
    """The request that a turn makes now, from the catalog of the environment."""
    return asyncio.run(ask(server, person, **settings))[1]


def options(server: str) -> GenerationOptions:
    """What the request of a turn is made with."""
    return asyncio.run(ask(server, "5"))[0].options


async def ask(server: str | None, person: str, **settings: Any) -> tuple[Route, ProviderRequest]:
    own = Settings(**settings)
    request = GenerationRequested(
        channel_id="900",
        guild_id=server,
        turn="m500",
        generation=1,
        message_id="500",
        author=Author(id=person, name="Ada"),
        content="hello",
        deadline_ms=600_000,
    )
    async with open_catalog(own) as catalog:
        route = await CatalogModels(catalog, SystemClock(), own).ask(request)
    assert route is not None
    built = build(scene_of(own, request, route.options, bot_id="1", bot_name="Odradek"), ())
    return route, prompt(request, built.context, route, what_was_read(built))


def body(*arguments: Any, **settings: Any) -> dict[str, Any]:
    return json.loads(asked(*arguments, **settings).model_dump_json())["body"]


def told(command: Command, *arguments: str) -> dict[str, Any]:
    done = command("model", "parameters", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_a_server_sets_stands_in_its_requests_and_in_nobody_else_s(deepseek: Command) -> None:
    set_up(deepseek, "--server", "2")
    set_up(deepseek, "--user", "7")
    before = asked("1").model_dump_json()
    done = deepseek("model", "parameters", "deepseek", "--server", "1", *SAMPLED, "--thinking-level", "none")
    assert done.returncode == 0, done.stderr
    assert "temperature: 0.25\n" in done.stdout

    made = body("1")
    wanted = {"temperature": 0.25, "top_p": 0.9, "frequency_penalty": -0.5, "max_tokens": 77}
    assert {name: made[name] for name in wanted} == wanted
    assert asked("2").model_dump_json() == before.replace('"guild_id":"1"', '"guild_id":"2"').replace(
        asked("1").credential.name, asked("2").credential.name
    )
    assert "temperature" not in body(None, "7")

    deepseek("model", "parameters", "deepseek", "--server", "1", "--reset", "all")
    assert asked("1").model_dump_json() == before


def test_what_a_person_sets_holds_for_their_own_model_alone(deepseek: Command) -> None:
    set_up(deepseek, "--user", "7")
    assert told(deepseek, "deepseek", "--user", "7", "--temperature", "0.5") == NOTHING | {"temperature": 0.5}
    assert told(deepseek, "deepseek", "--server", "1", "--temperature", "1.5")["temperature"] == 1.5

    assert body("1", "7")["temperature"] == 0.5
    assert body(None, "7")["temperature"] == 0.5
    assert body("1", "5")["temperature"] == 1.5


def test_a_value_that_is_set_goes_before_the_settings_and_one_that_is_disabled_is_never_sent(
    deepseek: Command,
) -> None:
    assert body("1", temperature=0.1)["temperature"] == 0.1
    told(deepseek, "deepseek", "--server", "1", "--temperature", "1")
    assert body("1", temperature=0.1)["temperature"] == 1
    assert told(deepseek, "deepseek", "--server", "1", "--disable", "temperature") == NOTHING | {
        "temperature": 1,
        "disabled_parameters": ["temperature"],
    }
    assert "temperature: 1.0 (disabled)" in deepseek("model", "parameters", "deepseek", "--server", "1").stdout
    assert "temperature" not in body("1", temperature=0.1)
    told(deepseek, "deepseek", "--server", "1", "--enable", "temperature")
    assert body("1", temperature=0.1)["temperature"] == 1


def test_a_thinking_level_reaches_the_request_in_the_provider_s_words(command: Command) -> None:
    command("provider", "add", "openrouter", "--server", "1", stdin=KEY)
    assert "reasoning" not in body("1")
    command("model", "parameters", "openrouter", "--server", "1", "--thinking-level", "low")
    assert body("1")["reasoning"] == {"effort": "low"}


def test_a_prompt_that_was_made_keeps_what_it_was_made_with(deepseek: Command) -> None:
    told(deepseek, "deepseek", "--server", "1", "--temperature", "0.5")
    made = asked("1")
    written = made.model_dump_json()
    told(deepseek, "deepseek", "--server", "1", "--temperature", "0.75")

    assert made.model_dump_json() == written
    assert (made.body["temperature"], asked("1").body["temperature"]) == (0.5, 0.75)


def test_without_a_change_it_is_shown_what_is_set_and_what_of_it_is_for_nothing(command: Command) -> None:
    command("provider", "add", "openai", "--server", "1", stdin=KEY)
    assert told(command, "openai", "--server", "1") == NOTHING

    command("model", "parameters", "openai", "--server", "1", "--min-p", "0.05", "--top-k", "0")

    lines = command("model", "parameters", "openai", "--server", "1").stdout.splitlines()
    assert lines[0] == "temperature: not set"
    assert "min_p: 0.05 (not sent: openai does not know it)" in lines
    assert lines[-1] == "disabled_parameters: none"
    assert told(command, "openai", "--server", "1", "--reset", "min_p") == NOTHING | {"top_k": 0}
    assert told(command, "openai", "--server", "1", "--reset", "all", "--top-p", "1") == NOTHING | {"top_p": 1}


def test_a_servers_stop_strings_stand_in_its_requests_whoever_s_key_it_is(deepseek: Command) -> None:
    set_up(deepseek, "--user", "7")
    before = asked("1").model_dump_json()
    done = deepseek("model", "stop-strings", "add", "###", r"\nUser:", "--server", "1")
    assert (done.returncode, done.stdout) == (0, "###\n\\nUser:\n"), done.stderr

    for person in ("5", "7"):
        made = body("1", person, stop_strings=("of the settings",))["stop"]
        assert [text for text in made if "begin" not in text] == ["###", "\nUser:"]
    assert "of the settings" in body(None, "7", stop_strings=("of the settings",))["stop"]
    assert json.loads(deepseek("model", "stop-strings", "list", "--server", "1", "--json").stdout) == ["###", "\nUser:"]

    deepseek("model", "stop-strings", "remove", "###", r"\nUser:", "--server", "1")
    assert asked("1").model_dump_json() == before
    assert deepseek("model", "stop-strings", "list", "--server", "1").stdout == "server:1 has no stop strings\n"


def test_a_servers_stop_before_its_persona_speaks_again_reaches_the_options(deepseek: Command) -> None:
    assert options("1").speaker_stop is False
    turned = deepseek("provider", "policy", "--server", "1", "--speaker-stop")
    assert "llm_stop_speaker_pattern_enabled: on\n" in turned.stdout
    assert options("1").speaker_stop is True


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("add", "", "--server", "1"), 2, "'TEXT': it is empty"),
        (("add", "a" * 201, "--server", "1"), 1, "1 to 200 characters, and not 201"),
        (("add", r"\q", "--server", "1"), 1, "Write a backslash as two"),
        (("add", *map(str, range(41)), "--server", "1"), 1, "40 stop strings at most, and these would be 41"),
        (("remove", "x", "--server", "1"), 1, "there is no stop string 'x'"),
        (("add", "x"), 2, "--server takes a Discord id"),
    ],
)
def test_a_stop_string_that_cannot_be_is_told_in_one_line(
    command: Command, arguments: tuple[str, ...], code: int, complaint: str
) -> None:
    done = command("model", "stop-strings", *arguments)

    assert done.returncode == code, done.stderr
    assert complaint in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (("--temperature", "2.5"), 1, "temperature is a number from 0 to 2, and not 2.5"),
        (("--temperature", "nan"), 1, "and not nan"),
        (("--top-k", "41"), 1, "top_k is a whole number from 0 to 40, and not 41"),
        (("--presence-penalty", "-3"), 1, "presence_penalty is a number from -2 to 2, and not -3"),
        (("--max-output-tokens", "131073"), 1, "from 1 to 131072, and not 131073"),
        (("--top-k", "1.5"), 2, "--top-k"),
        (("--thinking-level", "deep"), 2, "'deep'"),
        (("--disable", "luck"), 2, "--disable knows no parameter 'luck'"),
        (("--disable", "max_output_tokens"), 2, "--disable knows no parameter 'max_output_tokens'"),
        (("--reset", "luck"), 2, "Name one of temperature,"),
        (("--reset", "all", "--reset", "luck"), 2, "--reset knows no parameter 'luck'"),
        (("--disable", "top_p", "--enable", "top_p"), 1, "top_p is disabled and enabled at once"),
        (("--user", "7"), 2, "Give --server ID or --user ID, not both"),
    ],
)
def test_what_cannot_be_set_is_told_and_nothing_is_changed(
    deepseek: Command, arguments: tuple[str, ...], code: int, complaint: str
) -> None:
    done = deepseek("model", "parameters", "deepseek", "--server", "1", "--top-p", "0.5", *arguments)

    assert done.returncode == code, done.stderr
    assert complaint in done.stderr
    assert told(deepseek, "deepseek", "--server", "1") == NOTHING


def test_a_provider_that_is_not_set_up_has_no_parameters(deepseek: Command) -> None:
    for more in ((), ("--top-p", "0.5")):
        done = deepseek("model", "parameters", "google", "--server", "1", *more)
        assert done.returncode == 1
        assert "google is not set up there" in done.stderr


def test_two_processes_that_set_at_once_lose_no_update(deepseek: Command, tmp_path: Path) -> None:
    program = "import sys; from services.cli.main import main; print('ready', flush=True); sys.stdin.readline(); main()"
    wanted = {"temperature": 0.5, "top_p": 0.25, "min_p": 0.125, "presence_penalty": -1.0}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, "model", "parameters", "deepseek", "--server", "1", f"--{name}={value}"],
            env=os.environ | {"ODRADEK_DATABASE_URL": f"sqlite:///{tmp_path}/catalog.db"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name, value in ((name.replace("_", "-"), value) for name, value in wanted.items())
    ]
    for process in processes:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.wait(60) for process in processes] == [0] * len(processes)
    for process in processes:
        process.communicate()

    assert told(deepseek, "deepseek", "--server", "1") == NOTHING | wanted


def test_options_that_somebody_edited_badly_are_set_anew_by_the_commands(deepseek: Command, tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "catalog.db")) as database, database:
        database.execute("UPDATE saved_provider_configs SET options = '[no JSON'")
        database.execute("UPDATE server_configs SET llm_stop_strings = '7'")
    assert told(deepseek, "deepseek", "--server", "1") == NOTHING
    assert deepseek("model", "stop-strings", "list", "--server", "1").stdout == "server:1 has no stop strings\n"

    told(deepseek, "deepseek", "--server", "1", "--temperature", "0.25")
    deepseek("model", "stop-strings", "add", "###", "--server", "1")
    made = body("1")
    assert (made["temperature"], made["stop"][-1]) == (0.25, "###")
