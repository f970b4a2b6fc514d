"""Every setting of every process: environment variables with the prefix ODRADEK_, read once at start.

Provider keys also answer to the names that their providers use. `odradek settings` prints this file's descriptions.
"""

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from schemas.chunks import Dialect
from schemas.inbox import Locale

CRYPTO_SECRET = re.compile(r"ODRADEK_CRYPTO_SECRET_V([1-9][0-9]{0,5})")
"""The variables that hold the secrets of the catalog, by version."""


class Settings(BaseSettings):
    """All settings; a process reads those that concern it."""

    model_config = SettingsConfigDict(env_prefix="ODRADEK_", frozen=True, extra="ignore", populate_by_name=True)

    # -- the log ---------------------------------------------------------------------------------------------------
    kafka: str = Field("127.0.0.1:9092", description="bootstrap address of the Kafka cluster, HOST:PORT[,HOST:PORT...]")
    broker: Literal["kafka", "embedded"] = Field(
        "kafka", description="which broker answers there; sets waits and timeouts"
    )
    prefix: str = Field(
        "",
        pattern=r"^[A-Za-z0-9._-]{0,100}$",
        description="prefix of all topic and group names, so that bots share a cluster",
    )
    replication_factor: Annotated[int, Field(ge=1, le=32767)] = Field(
        1, description="replication factor of topics that `odradek topics create` makes; 3 on a cluster"
    )
    topics_file: Path | None = Field(None, description="another topics.yaml than the one that ships with the code")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        "PLAINTEXT", description="how to talk to the brokers"
    )
    tls_ca_file: Path | None = Field(None, description="CA certificates for TLS to the brokers; the system's if unset")
    tls_cert_file: Path | None = Field(None, description="client certificate for TLS to the brokers")
    tls_key_file: Path | None = Field(None, description="key of the client certificate")
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field("PLAIN", description="SASL mechanism")
    sasl_username: str | None = Field(None, description="SASL user")
    sasl_password: SecretStr | None = Field(None, description="SASL password")

    # -- the process -----------------------------------------------------------------------------------------------
    instance: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9._-]{1,100}$",
        description="the name of this process, e.g. provider-0; with ODRADEK_EXCLUSIVE_INSTANCE a slot that it holds alone; "
        "a random one if unset",
    )
    exclusive_instance: bool = Field(
        False,
        description="somebody (supervisor, StatefulSet) guarantees that one process at a time has this instance: "
        "static membership, so a quick restart moves no partition",
    )
    http_host: str = Field("127.0.0.1", description="address of /livez, /readyz and /metrics")
    http_port: Annotated[int, Field(ge=0, le=65535)] = Field(
        0, description="their port; 0 picks a free one and logs it"
    )
    log_format: Literal["auto", "json", "console"] = Field(
        "auto", description="auto: readable in a terminal, else JSON lines"
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="the least level that is logged"
    )
    grace_s: Annotated[float, Field(ge=0)] = Field(
        120.0, description="how long streams may go on after SIGTERM, seconds"
    )
    max_unprocessed: Annotated[int, Field(ge=1)] = Field(
        2_000, description="records read and not yet processed a partition, beyond which it is paused"
    )

    # -- media -----------------------------------------------------------------------------------------------------
    environment: Literal["production", "development"] = Field(
        "production",
        description="development lets media be on this machine, and shows keyframes of GIFs",
    )
    media_max_mb: Annotated[int, Field(ge=1, le=50)] = Field(
        8,
        validation_alias=AliasChoices("ODRADEK_MEDIA_MAX_MB", "MAX_MEDIA_SIZE_MB"),
        description="the largest picture that is fetched, MiB",
    )
    video_max_mb: Annotated[int, Field(ge=1, le=48)] = Field(
        20,
        validation_alias=AliasChoices("ODRADEK_VIDEO_MAX_MB", "VIDEO_CONTEXT_MAX_INLINE_MB"),
        description="the largest video that a model is shown, MiB",
    )
    blobs: str = Field(
        "",
        pattern=r"^(|[^:]+|s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9._/-]*)?)$",
        description="where media wait for the provider worker: a folder, or s3://BUCKET/PREFIX; workers on several machines "
        "need the same one. A folder among this machine's temporary files if unset",
    )
    blob_days: Annotated[float, Field(gt=0)] = Field(
        7.0, description="how long a folder keeps a blob that is not used again; the log keeps prompts for 7 days"
    )
    blob_max_mb: Annotated[int, Field(ge=100)] = Field(
        10_000, description="how much a blobs' folder may hold, megabytes; the oldest go first"
    )

    # -- Discord ---------------------------------------------------------------------------------------------------
    discord_token: SecretStr | None = Field(None, description="the bot's token")
    discord_api: str = Field("https://discord.com/api/v10", description="base URL of Discord's REST API")
    discord_gateway: str | None = Field(None, description="another gateway websocket than Discord's, wss://...")
    discord_shards: Annotated[str, Field(pattern=r"^[0-9]+/[1-9][0-9]*$")] = Field(
        "0/1", description="which shard this gateway process is, and of how many: 0/2 and 1/2 for two"
    )
    rules_version: Annotated[int, Field(ge=1)] = Field(
        4,
        description="the rules of new turns, by default the newest; while a cluster is updated keep the version before, "
        "until every orchestrator and normalizer has the new code",
    )
    locale: Locale = Field("en", description="the language of notices about errors")
    discord_history: Annotated[int, Field(ge=1, le=100)] = Field(40, description="messages of history that a turn sees")

    # -- the catalog -----------------------------------------------------------------------------------------------
    database_url: SecretStr = Field(
        SecretStr("sqlite:///odradek.db"),
        description="the catalog's database: sqlite:///PATH, or postgresql://USER:PASSWORD@HOST:PORT/NAME where several "
        "machines share it; sqlite:///odradek.db if unset",
    )
    crypto_secrets: dict[Annotated[int, Field(ge=1)], SecretStr] = Field(
        default={},
        description="what the catalog's keys are encrypted with, 32 characters or more; ODRADEK_CRYPTO_SECRET_V2, _V3 and "
        "so on come after it, and a version stays set as long as a key is encrypted with it",
    )
    crypto_secret_current: Annotated[int, Field(ge=1)] | None = Field(
        None, description="the version of the secret that encrypts; the highest one that is set if unset"
    )

    # -- the model, until a catalog says otherwise -----------------------------------------------------------------
    dialect: Dialect = Field("openai-chat", description="the wire language of the provider")
    model: str = Field("sandbox-echo", description="the model to ask")
    provider_url: str | None = Field(None, description="base URL of the provider; the dialect's own provider if unset")
    openai_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("ODRADEK_OPENAI_API_KEY", "OPENAI_API_KEY"),
        description="key for dialect openai-chat",
    )
    anthropic_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("ODRADEK_ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY"),
        description="key for dialect anthropic",
    )
    google_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("ODRADEK_GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
        description="key for dialect google, of the Gemini API or of Vertex AI in express mode",
    )
    vertex: SecretStr | None = Field(
        None, description="PROJECT::LOCATION of Vertex AI, called with Google's application default credentials"
    )
    system_prompt: str = Field(
        "You are Odradek, a helpful companion in a Discord channel. Answer briefly and plainly.",
        description="the system text of every turn",
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = Field(
        None, description="sampling temperature; the model's own if unset"
    )
    max_tokens: Annotated[int, Field(ge=1)] = Field(4096, description="the longest reply, in tokens")
    stop_strings: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], NoDecode] = Field(
        (),
        max_length=40,
        description="stop strings, separated by commas, 40 of 200 characters at most; \\n is a newline",
    )
    max_streams: Annotated[int, Field(ge=1)] = Field(
        500, description="streams that one provider process holds at once; one guild gets at most four fifths of them"
    )

    private_endpoints: bool = Field(
        False,
        description="whether custom endpoints may lie in the operator's network; that of ODRADEK_PROVIDER_URL always may",
    )
    provider_proxy: SecretStr | None = Field(
        None,
        description="proxy of all provider calls, http://[USER:PASSWORD@]HOST:PORT; HTTPS_PROXY and NO_PROXY if unset",
    )
    provider_ca_file: Path | None = Field(
        None, description="CA certificates of providers, in PEM, beside those that everybody trusts"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - not read
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - not read
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What a command gives, then the environment; the numbered secrets of the catalog come from there too."""
        return init_settings, _CryptoSecrets(settings_cls), env_settings

    @field_validator("stop_strings", mode="before")
    @classmethod
    def _split_stop_strings(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.replace("\\n", "\n") for part in value.split(",") if part)
        return value

    @field_validator("discord_shards")
    @classmethod
    def _existing_shard(cls, value: str) -> str:
        shard, count = value.split("/")
        if int(shard) >= int(count):
            raise ValueError(f"there is no shard {shard} of {count}; they count from 0")
        return value

    @field_validator("exclusive_instance")
    @classmethod
    def _exclusive_needs_a_name(cls, value: bool, info: ValidationInfo) -> bool:
        if value and info.data.get("instance", "") is None:
            raise ValueError("it needs ODRADEK_INSTANCE: a random name leaves a member behind")
        return value

    @property
    def shard(self) -> tuple[int, int]:
        """(shard id, shard count)."""
        shard, count = self.discord_shards.split("/")
        return int(shard), int(count)


class _CryptoSecrets(PydanticBaseSettingsSource):
    """The secrets of the catalog by their versions: variables whose names are not known beforehand."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        found = {int(match[1]): value for name, value in os.environ.items() if (match := CRYPTO_SECRET.fullmatch(name))}
        return found, field_name, True

    def __call__(self) -> dict[str, Any]:
        name = "crypto_secrets"
        return {name: self.get_field_value(self.settings_cls.model_fields[name], name)[0]}
