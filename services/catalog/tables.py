"""The catalog's tables as they are now; the migrations make them, and a test holds both against each other."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
ONE_OWNER = "(server_id IS NULL) <> (user_id IS NULL)"
_Flag = Mapped[bool]


def _off() -> Mapped[bool]:
    return mapped_column(Boolean, default=False, server_default=false())


def _on() -> Mapped[bool]:
    return mapped_column(Boolean, default=True, server_default=true())


class Table(DeclarativeBase):
    """Base of all tables. Discord's ids are texts; times are ms since 1970."""

    metadata = MetaData(naming_convention=NAMING)


class Llm(Table):
    """A model of a provider. `provider` is a name of PROVIDERS, or `custom:` and the id of a custom endpoint.

    `is_scoped_registration`: made by a user, not by the seeds. `dialect` None is the provider's. Token counts and
    `supported_parameters` are null where nobody knows.
    """

    __tablename__ = "llms"
    __table_args__ = (UniqueConstraint("provider", "codename"), {"sqlite_autoincrement": True})

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    provider: Mapped[str] = mapped_column(String(80))
    codename: Mapped[str] = mapped_column(String(200))
    custom_endpoint_id: Mapped[int | None] = mapped_column(
        ForeignKey("custom_endpoints.id", ondelete="CASCADE"), unique=True
    )
    is_default: _Flag = _off()
    is_smartest: _Flag = _off()
    is_reasoning: _Flag = _off()
    is_scoped_registration: _Flag = _off()
    is_deprecated: _Flag = _off()
    is_free: _Flag = _off()
    is_uncensored: _Flag = _off()
    has_tools: _Flag = _off()
    sees_images: _Flag = _off()
    sees_videos: _Flag = _off()
    sees_youtube: _Flag = _off()
    supports_structured_output: _Flag = _off()
    strict_role_alternation: _Flag = _off()
    supports_prefix_completion: _Flag = _off()
    verbatim_tool_calling: _Flag = _off()
    description: Mapped[str] = mapped_column(Text, default="", server_default="")
    dialect: Mapped[str | None] = mapped_column(String(20))
    context_window: Mapped[int | None] = mapped_column(Integer)
    max_output_tokens: Mapped[int | None] = mapped_column(Integer)
    supported_parameters: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))


class CustomEndpoint(Table):
    """A server that somebody brings, with one model. It belongs to a Discord server or to a person, never to both."""

    __tablename__ = "custom_endpoints"
    __table_args__ = (
        UniqueConstraint("server_id", "label", "capability"),
        UniqueConstraint("user_id", "label", "capability"),
        CheckConstraint(ONE_OWNER, name="one_owner"),
        CheckConstraint("num_ctx IS NULL OR num_ctx >= 512", name="num_ctx"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    server_id: Mapped[str | None] = mapped_column(String(20))
    user_id: Mapped[str | None] = mapped_column(String(20))
    label: Mapped[str] = mapped_column(String(40))
    capability: Mapped[str] = mapped_column(String(20), default="text", server_default="text")
    api_style: Mapped[str] = mapped_column(String(40))
    endpoint_url: Mapped[str] = mapped_column(String(2000))
    model_name: Mapped[str] = mapped_column(String(200))
    display_name: Mapped[str] = mapped_column(String(200), default="", server_default="")
    num_ctx: Mapped[int | None] = mapped_column(Integer)
    requires_auth: _Flag = _on()
    has_tools: _Flag = _off()
    sees_images: _Flag = _off()
    sees_videos: _Flag = _off()
    supports_structured_output: _Flag = _off()
    strict_role_alternation: _Flag = _off()
    supports_prefix_completion: _Flag = _off()
    verbatim_tool_calling: _Flag = _off()


class ServerConfig(Table):
    """What a Discord server has chosen. `llm_id` is its model; all else holds for every model that answers there."""

    __tablename__ = "server_configs"

    server_id: Mapped[str] = mapped_column(String(20), primary_key=True)
    llm_id: Mapped[int | None] = mapped_column(ForeignKey("llms.id", ondelete="SET NULL"))
    user_byok_mode: _Flag = _off()
    personal_server_fallback_enabled: _Flag = _on()
    model_randomizer_enabled: _Flag = _off()
    tool_use_enabled: _Flag = _on()
    verbatim_tool_calling: _Flag = _off()
    llm_stop_strings: Mapped[list[str]] = mapped_column(JSON, default=list, server_default=text("'[]'"))
    llm_stop_speaker_pattern_enabled: _Flag = _off()


SWITCHES = {
    "user_byok_mode": False,
    "personal_server_fallback_enabled": True,
    "model_randomizer_enabled": False,
    "tool_use_enabled": True,
    "verbatim_tool_calling": False,
    "llm_stop_speaker_pattern_enabled": False,
}
"""A server's switches as they are until somebody turns one."""


class SavedProviderConfig(Table):
    """A provider that a server has set up: its key, sealed, and what it asks of the provider's models.

    `provider` is as in `llms`. No key: a custom endpoint that wants none. `options` holds the fields of
    GenerationOptions that are set.
    """

    __tablename__ = "saved_provider_configs"
    __table_args__ = (UniqueConstraint("server_id", "provider"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    server_id: Mapped[str] = mapped_column(String(20))
    provider: Mapped[str] = mapped_column(String(80))
    api_key: Mapped[bytes | None] = mapped_column(LargeBinary)
    key_version: Mapped[int | None] = mapped_column(Integer)
    options: Mapped[dict[str, object]] = mapped_column(JSON, default=dict, server_default=text("'{}'"))


class UserSavedProviderConfig(Table):
    """The same of a person, with the model that they chose at this provider."""

    __tablename__ = "user_saved_provider_configs"
    __table_args__ = (UniqueConstraint("user_id", "provider"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(20))
    provider: Mapped[str] = mapped_column(String(80))
    api_key: Mapped[bytes | None] = mapped_column(LargeBinary)
    key_version: Mapped[int | None] = mapped_column(Integer)
    llm_id: Mapped[int | None] = mapped_column(ForeignKey("llms.id", ondelete="SET NULL"))
    options: Mapped[dict[str, object]] = mapped_column(JSON, default=dict, server_default=text("'{}'"))


class UserCapability(Table):
    """Which of a person's providers serves a capability: one at most, which the primary key holds."""

    __tablename__ = "user_capabilities"

    user_id: Mapped[str] = mapped_column(String(20), primary_key=True)
    capability: Mapped[str] = mapped_column(String(20), primary_key=True)
    config_id: Mapped[str] = mapped_column(ForeignKey("user_saved_provider_configs.id", ondelete="CASCADE"))


class RotationKey(Table):
    """One key of a server's pool for a provider, what it has been used for, and its last error.

    The row with `is_main` stands for the key in `saved_provider_configs` and has none of its own; there is one at most.
    """

    __tablename__ = "api_key_rotation"
    __table_args__ = (
        CheckConstraint("is_main = (api_key IS NULL)", name="main_has_no_key"),
        CheckConstraint("(api_key IS NULL) = (key_version IS NULL)", name="key_has_version"),
        Index(
            "uq_api_key_rotation_main",
            "server_id",
            "provider",
            unique=True,
            sqlite_where=text("is_main"),
            postgresql_where=text("is_main"),
        ),
        Index("ix_api_key_rotation_server_id_provider", "server_id", "provider"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    server_id: Mapped[str] = mapped_column(String(20))
    provider: Mapped[str] = mapped_column(String(80))
    is_main: _Flag = _off()
    api_key: Mapped[bytes | None] = mapped_column(LargeBinary)
    key_version: Mapped[int | None] = mapped_column(Integer)
    enabled: _Flag = _on()
    usage_count: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    error_count: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    last_error: Mapped[str | None] = mapped_column(String(20))
    last_error_ms: Mapped[int | None] = mapped_column(BigInteger)


class ChannelOverride(Table):
    """The model of a channel, instead of its server's."""

    __tablename__ = "channel_llm_overrides"

    server_id: Mapped[str] = mapped_column(String(20), primary_key=True)
    channel_id: Mapped[str] = mapped_column(String(20), primary_key=True)
    llm_id: Mapped[int] = mapped_column(ForeignKey("llms.id", ondelete="CASCADE"))


class PersonaOverride(Table):
    """The model of a persona, instead of its channel's."""

    __tablename__ = "persona_llm_overrides"

    server_id: Mapped[str] = mapped_column(String(20), primary_key=True)
    persona_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    llm_id: Mapped[int] = mapped_column(ForeignKey("llms.id", ondelete="CASCADE"))


class FallbackReference(Table):
    """One slot of the chain that is tried after the chosen model: a model or a custom endpoint, never both."""

    __tablename__ = "fallback_references"
    __table_args__ = (
        UniqueConstraint("server_id", "slot"),
        UniqueConstraint("user_id", "slot"),
        CheckConstraint(ONE_OWNER, name="one_owner"),
        CheckConstraint("(llm_id IS NULL) <> (custom_endpoint_id IS NULL)", name="one_target"),
        CheckConstraint("slot BETWEEN 1 AND 5", name="slot"),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    server_id: Mapped[str | None] = mapped_column(String(20))
    user_id: Mapped[str | None] = mapped_column(String(20))
    slot: Mapped[int] = mapped_column(Integer)
    llm_id: Mapped[int | None] = mapped_column(ForeignKey("llms.id", ondelete="CASCADE"))
    custom_endpoint_id: Mapped[int | None] = mapped_column(ForeignKey("custom_endpoints.id", ondelete="CASCADE"))
