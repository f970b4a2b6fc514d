"""`odradek context`: a file becomes a native request, and what is wrong with a file is told by its place."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from inline_snapshot import snapshot
from typer.testing import CliRunner

from services.cli.failures import explain
from services.cli.main import app
from tests.cli.conftest import KEY, Command, Odradek

TALK: dict[str, Any] = {
    "items": [
        {"role": "system", "parts": [{"type": "text", "text": "Be brief."}]},
        {"role": "model", "parts": [{"type": "text", "text": "I am here."}]},
        {"role": "user", "parts": [{"type": "text", "text": "Ada: and?"}]},
    ],
    "options": {"temperature": 0.5, "prefill": "Well"},
}
IMAGE = {"type": "image", "mime_type": "image/png", "blob": {"key": "ab" * 32, "size": 9}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "context.json"
    path.write_text(json.dumps(TALK))
    return path


def rendered(*arguments: str, given: Any = TALK) -> dict[str, Any]:
    """What the command prints, in this process."""
    done = CliRunner().invoke(app, ["context", "render", *arguments, "-"], input=json.dumps(given))
    assert done.exit_code == 0, done.exception
    return json.loads(done.stdout)


def refused(*arguments: str, given: str | None = None) -> str:
    """What the command says where it refuses; 2 is its exit code."""
    done = CliRunner().invoke(
        app, ["context", "render", *arguments, "-"], input=json.dumps(TALK) if given is None else given
    )
    assert done.exception is not None
    failure = explain(done.exception)
    assert failure is not None
    assert failure.exit_code == 2
    assert done.stdout == ""
    return failure.text


def test_a_file_becomes_the_request_of_a_provider(odradek: Odradek, file: Path) -> None:
    done = odradek("context", "render", "--provider", "deepseek", "--model", "deepseek-chat", str(file))
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == snapshot(
        {
            "provider": "deepseek",
            "dialect": "openai-chat",
            "model": "deepseek-chat",
            "method": "POST",
            "url": "https://api.deepseek.com/beta/chat/completions",
            "headers": {"accept": "text/event-stream", "authorization": "Bearer ********"},
            "body": {
                "model": "deepseek-chat",
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "assistant", "content": "I am here."},
                    {"role": "user", "content": "Ada: and?"},
                    {"role": "assistant", "content": "Well", "prefix": True},
                ],
                "stream": True,
                "stream_options": {"include_usage": True},
                "max_tokens": 4096,
                "temperature": 0.5,
                "stop": ["<｜begin▁of▁sentence｜>"],
            },
            "warnings": [],
            "mandatory": ["messages", "model", "stream"],
            "added": ["stream_options", "max_tokens"],
            "skipped_images": [],
        }
    )


def test_a_dialect_alone_means_its_own_provider_and_a_model_that_speaks_it() -> None:
    chat, responses = rendered("--dialect", "openai-chat"), rendered("--dialect", "openai-responses")
    assert (chat["provider"], chat["model"], chat["url"]) == snapshot(
        ("openai", "gpt-4.1", "https://api.openai.com/v1/chat/completions")
    )
    assert (responses["provider"], responses["model"], responses["url"]) == snapshot(
        ("openai", "gpt-5-mini", "https://api.openai.com/v1/responses")
    )


def test_aliases_of_providers_are_known() -> None:
    assert rendered("--provider", "or", "--model", "x/y")["url"] == "https://openrouter.ai/api/v1/chat/completions"


def test_options_stand_for_what_is_known_of_a_model() -> None:
    custom = ("--provider", "custom", "--model", "m", "--base-url", "http://localhost:1")
    plain = rendered(*custom)
    assert [message["role"] for message in plain["body"]["messages"]] == ["system", "assistant", "user", "assistant"]
    strict = rendered(*custom, "--strict-role-alternation", "--prefix-completion", "--num-ctx", "9000")
    assert [message["role"] for message in strict["body"]["messages"]] == [
        "system", "user", "assistant", "user", "assistant",
    ]  # fmt: skip
    assert strict["body"]["messages"][-1]["prefix"] is True
    assert strict["body"]["options"] == {"num_ctx": 9000}
    assert rendered(*custom, "--max-output-tokens", "100")["body"]["max_tokens"] == 100
    router = ("--provider", "openrouter", "--model", "m", "--supported-parameters", "stop, max_tokens")
    assert "temperature" not in rendered(*router)["body"]


def test_capabilities_decide_what_is_shown() -> None:
    given = {
        "items": [{"role": "user", "parts": [{"type": "text", "text": "see"}, IMAGE]}],
        "tools": [{"name": "look"}],
    }
    custom = ("--provider", "custom", "--model", "m", "--base-url", "http://localhost:1")
    seen = rendered(*custom, given=given)
    assert seen["body"]["messages"][0]["content"][1]["image_url"]["url"] == {
        "blob": "ab" * 32,
        "size": 9,
        "prefix": "data:image/png;base64,",
    }
    assert seen["body"]["tools"][0]["function"]["name"] == "look"
    blind = rendered(*custom, "--capabilities", "none", given=given)
    assert "tools" not in blind["body"]
    assert [warning["place"] for warning in blind["warnings"]] == ["items[0].parts[1]", "tools"]


def test_no_secret_is_shown() -> None:
    url = "https://user:hunter2@proxy.example/v1?api_key=hunter2&version=3"
    made = rendered("--provider", "custom", "--model", "m", "--base-url", url)
    assert "hunter2" not in json.dumps(made)
    assert made["url"] == "https://********@proxy.example/v1/chat/completions?api_key=********&version=3"
    assert made["headers"]["authorization"] == "Bearer ********"


def test_letters_of_any_language_stay_readable() -> None:
    given = json.dumps({"items": [{"role": "user", "parts": [{"type": "text", "text": "日本語 🧵"}]}]})
    assert "日本語 🧵" in CliRunner().invoke(app, ["context", "render", "-"], input=given).stdout


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"items": [', "line 1 column 11"),
        ("[]", "the file"),
        ("{}", "items: Field required"),
        ('{"items": [{"role": "user", "parts": [{"type": "text"}]}]}', "items[0].parts[0].text: Field required"),
        ('{"items": [{"role": "bot", "parts": []}]}', "items[0].role: Input should be 'system', 'user' or 'model'"),
        ('{"items": [], "options": {"top_p": 2}}', "options.top_p"),
        ('{"items": [{"role": "user", "parts": [{"type": "song"}]}]}', "items[0].parts[0]"),
        ('{"items": [], "function_history": [{"calls": []}]}', "function_history[0].calls"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_by_its_place(content: str, told: str) -> None:
    text = refused(given=content)
    assert told in text
    assert "odradek context schema" in text


def test_a_key_that_has_no_effect_is_warned_of() -> None:
    given = json.dumps({"items": [{"role": "user", "parts": [], "rolle": "user"}]})
    done = CliRunner().invoke(app, ["context", "render", "-"], input=given)
    assert (done.exit_code, done.stderr) == (0, "warning: items[0].rolle is unknown and has no effect\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--dialect", "klingon"), "--dialect is 'klingon'"),
        (("--provider", "nobody"), "--provider is 'nobody'"),
        (("--capabilities", "tools,taste"), "--capabilities is 'taste'"),
        (("--provider", "deepseek", "--dialect", "openai-responses"), "does not speak"),
        (("--provider", "custom", "--model", "m"), "needs a base URL"),
        (("--provider", "custom", "--model", "m", "--base-url", "localhost"), "must begin with https:// or http://"),
        (("--provider", "custom", "--model", "m", "--base-url", "http://h", "--context-window", "4"), "has room for"),
    ],
)
def test_wrong_usage_is_told(arguments: tuple[str, ...], told: str) -> None:
    assert told in refused(*arguments)


def test_a_file_that_is_not_there_is_told(odradek: Odradek) -> None:
    done = odradek("context", "render", "/nowhere/context.json")
    assert done.code == 2
    assert "cannot read /nowhere/context.json" in done.err


def test_the_schema_is_that_of_the_file() -> None:
    schema = json.loads(CliRunner().invoke(app, ["context", "schema"]).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(TALK, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"items": [{"role": "bot", "parts": []}]}, schema)


@pytest.mark.parametrize("url", ["http://[::1", "http://ex\u2100mple/"])
def test_an_address_that_cannot_be_read_is_refused(url: str) -> None:
    assert "--base-url" in refused("--provider", "custom", "--model", "m", "--base-url", url)


def test_a_number_that_json_cannot_say_is_refused() -> None:
    call = {"id": "c", "name": "t", "args": {"x": float("inf")}}
    given = {**TALK, "function_history": [{"calls": [call], "results": []}]}
    assert "args: Value error, it holds a number that JSON cannot write" in refused(
        "--dialect", "google", given=json.dumps(given)
    )


def test_a_file_with_many_unknown_names_gets_few_short_warnings() -> None:
    given = {**TALK, **{f"{number}{'k' * 10_000}": 1 for number in range(50)}}
    done = CliRunner().invoke(app, ["context", "render", "-"], input=json.dumps(given))
    assert done.exit_code == 0
    assert done.stderr.endswith("warning: and 40 more\n")
    assert len(done.stderr) < 6_000


def test_what_is_said_of_a_long_wrong_value_is_short() -> None:
    part = {"type": "e" * 100_000}
    assert len(refused(given=json.dumps({"items": [{"role": "user", "parts": [part]}]}))) < 3_000


def test_an_endpoint_of_the_catalog_is_rendered_as_it_is_stored_without_its_key(command: Command, file: Path) -> None:
    add = ("endpoint", "add", "home", "--url", "https://8.8.8.8/v1", "--model", "llama", "--num-ctx", "4096")
    command(*add, "--server", "1", "--strict-role-alternation", stdin=KEY)
    command("endpoint", "add", "open", "--url", "https://8.8.8.8/v1", "--model", "m", "--no-auth", "--user", "2")
    shown = command("context", "render", "--provider", "custom:1", str(file))
    assert shown.returncode == 0, shown.stderr
    made = json.loads(shown.stdout)
    assert (made["provider"], made["url"]) == ("custom:1", "https://8.8.8.8/v1/chat/completions")
    assert made["headers"]["authorization"] == "Bearer ********"
    assert (made["body"]["model"], [one["role"] for one in made["body"]["messages"]][:2]) == (
        "llama",
        ["system", "user"],
    )
    keyless = json.loads(command("context", "render", "--provider", "custom:2", str(file)).stdout)
    assert "authorization" not in keyless["headers"]


def test_an_endpoint_that_the_catalog_has_not_and_a_catalog_that_is_not_there_are_told(
    command: Command, file: Path, tmp_path: Path
) -> None:
    render = ("context", "render", "--provider", "custom:7", str(file))
    missing = command(*render)
    assert (missing.returncode, "Run `odradek catalog upgrade`" in missing.stderr) == (2, True)
    assert not list(tmp_path.rglob("*.db*"))
    command("catalog", "upgrade")
    absent = command(*render)
    assert (absent.returncode, absent.stdout) == (1, "")
    assert absent.stderr.startswith("error: the catalog has no endpoint custom:7\n")
    both = command(*render, "--model", "m")
    assert (both.returncode, "Leave out --dialect, --model" in both.stderr) == (2, True)
    nowhere = command("context", "render", "--provider", "custom", "--model", "custom:7", str(file))
    assert (nowhere.returncode, "--provider custom:N" in nowhere.stderr) == (2, True)
