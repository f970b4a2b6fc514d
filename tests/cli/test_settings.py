"""Every setting explained, and no secret shown."""

import json
from typing import Any

import pytest

from services.cli.environment import Read, load_settings, read_settings, unknown_variables, variables
from services.cli.settings_table import MASK, rows
from services.runtime.errors import ConfigurationError
from services.runtime.settings import Settings

SECRET = "sk-very-secret"


def test_every_setting_has_a_meaning_and_a_variable(make_settings: Any) -> None:
    found = rows(Read(make_settings(), {}), {})

    assert len(found) == len(Settings.model_fields)
    assert all(row.meaning and row.variables for row in found)
    assert {row.source for row in found} == {"default"}


def test_a_secret_is_never_shown(odradek: Any) -> None:
    secrets = {
        "ODRADEK_DISCORD_TOKEN": SECRET,
        "OPENAI_API_KEY": SECRET,
        "ODRADEK_SASL_PASSWORD": SECRET,
        "ODRADEK_DATABASE_URL": f"postgresql://me:{SECRET}@db.example/odradek",
        "ODRADEK_CRYPTO_SECRET_V3": SECRET * 3,
    }
    url = {"ODRADEK_PROVIDER_URL": f"https://me:{SECRET}@provider.example/v1"}

    for arguments in (["settings"], ["settings", "--json"]):
        done = odradek(*arguments, **secrets, **url)

        assert done.code == 0
        assert SECRET not in done.out + done.err
        assert MASK in done.out
        assert f"https://{MASK}@provider.example/v1" in done.out


def test_a_value_says_where_it_comes_from(odradek: Any) -> None:
    found = {row["variables"][-1]: row for row in json.loads(odradek("settings", "--json", ODRADEK_PREFIX="x-").out)}

    assert (found["ODRADEK_PREFIX"]["value"], found["ODRADEK_PREFIX"]["source"]) == ("x-", "environment")
    assert (found["ODRADEK_HTTP_PORT"]["value"], found["ODRADEK_HTTP_PORT"]["source"]) == ("0", "default")
    assert found["ODRADEK_DISCORD_TOKEN"]["value"] == "-"
    assert found["OPENAI_API_KEY"]["variables"] == ["ODRADEK_OPENAI_API_KEY", "OPENAI_API_KEY"]


@pytest.mark.parametrize(
    ("variable", "value", "field"),
    [
        ("ODRADEK_TEMPERATURE", "9", "temperature"),
        ("ODRADEK_DIALECT", "x", "dialect"),
        ("ODRADEK_DISCORD_SHARDS", "3/2", "discord_shards"),
        ("ODRADEK_EXCLUSIVE_INSTANCE", "1", "exclusive_instance"),
        ("ODRADEK_MEDIA_MAX_MB", "0", "media_max_mb"),
        ("MAX_MEDIA_SIZE_MB", "900", "media_max_mb"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_and_its_default_stands_for_it(
    make_settings: Any, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, field: str
) -> None:
    monkeypatch.setenv(variable, value)
    monkeypatch.setenv("ODRADEK_PREFIX", "kept-")
    read = read_settings()

    assert list(read.problems) == [field]
    assert variable in read.problems[field][0]
    assert getattr(read.settings, field) == Settings.model_fields[field].default
    assert read.settings.prefix == "kept-"


def test_settings_are_all_shown_where_one_is_wrong(odradek: Any) -> None:
    wrong = {"ODRADEK_TEMPERATURE": "9", "ODRADEK_PREFIX": "x-"}
    told, listed = odradek("settings", **wrong), odradek("settings", "--json", **wrong)

    assert (told.code, listed.code, told.err) == (2, 2, "")
    assert "WRONG: ODRADEK_TEMPERATURE: Input should be less than or equal to 2, but it is '9'" in told.out
    found = {row["variables"][0]: row for row in json.loads(listed.out)}
    assert found["ODRADEK_TEMPERATURE"]["problem"]
    assert (found["ODRADEK_PREFIX"]["value"], found["ODRADEK_PREFIX"]["problem"]) == ("x-", "")


def test_the_default_of_the_database_is_shown_and_its_url_never(make_settings: Any) -> None:
    settings = make_settings(database_url=f"postgresql://me:{SECRET}@db/x")
    [unset] = [row for row in rows(Read(settings, {}), {}) if row.variables == ("ODRADEK_DATABASE_URL",)]
    environment = {"ODRADEK_DATABASE_URL": "x"}
    [given] = [row for row in rows(Read(settings, {}), environment) if row.variables == ("ODRADEK_DATABASE_URL",)]

    assert (unset.value, unset.default) == ("sqlite:///odradek.db", "sqlite:///odradek.db")
    assert (given.value, given.default) == (MASK, "sqlite:///odradek.db")


def test_the_secrets_of_the_catalog_have_a_variable_a_version(odradek: Any) -> None:
    done = odradek("settings", "--json", ODRADEK_CRYPTO_SECRET_V12="x" * 32)
    [row] = [row for row in json.loads(done.out) if "ODRADEK_CRYPTO_SECRET_V1" in row["variables"]]

    assert (row["value"], row["source"]) == (MASK, "environment")
    assert unknown_variables({"ODRADEK_CRYPTO_SECRET_V12": "x"}) == {}
    assert "ODRADEK_CRYPTO_SECRET_VX" in unknown_variables({"ODRADEK_CRYPTO_SECRET_VX": "x"})


def test_a_misspelt_variable_is_told_with_what_was_meant(odradek: Any) -> None:
    assert "ODRADEK_KAFAK is no setting; is ODRADEK_KAFKA meant?" in odradek("settings", ODRADEK_KAFAK="x:1").out
    assert unknown_variables({"ODRADEK_TEST_KAFKA": "jvm", "odradek_kafka": "x:1", "HOME": "/"}) == {}


def test_an_option_goes_before_the_environment(make_settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODRADEK_KAFKA", "there:1")

    assert load_settings(kafka="here:2").kafka == "here:2"
    assert load_settings(kafka=None).kafka == "there:1"


def test_a_wrong_option_is_named_as_its_variable(make_settings: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"ODRADEK_PREFIX: .*'a b'"):
        load_settings(prefix="a b")


def test_a_dotenv_file_is_not_read(odradek: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("ODRADEK_PREFIX=from-file-\n")
    monkeypatch.chdir(tmp_path)

    assert "from-file-" not in odradek("settings").out


def test_the_variables_of_a_provider_key_are_its_own_and_the_providers() -> None:
    assert variables("anthropic_api_key") == ("ODRADEK_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY")
    assert variables("kafka") == ("ODRADEK_KAFKA",)
