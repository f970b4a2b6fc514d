"""What servers and people have chosen: configurations, saved providers, overrides, fallbacks."""

import sqlalchemy as sa
from alembic import op

revision = "002_configurations"
down_revision = "001_models_and_endpoints"


def _flag(name: str, default: sa.False_ | sa.True_) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), server_default=default, nullable=False)


def _saved(owner: str) -> tuple[sa.Column[str] | sa.Column[bytes] | sa.Column[int], ...]:
    return (
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column(owner, sa.String(20), nullable=False),
        sa.Column("provider", sa.String(80), nullable=False),
        sa.Column("api_key", sa.LargeBinary()),
        sa.Column("key_version", sa.Integer()),
    )


def upgrade() -> None:
    op.create_table(
        "server_configs",
        sa.Column("server_id", sa.String(20), nullable=False),
        sa.Column("llm_id", sa.Integer()),
        _flag("user_byok_mode", sa.false()),
        _flag("model_randomizer_enabled", sa.false()),
        _flag("tool_use_enabled", sa.true()),
        _flag("verbatim_tool_calling", sa.false()),
        sa.ForeignKeyConstraint(["llm_id"], ["llms.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("server_id"),
    )
    op.create_table(
        "saved_provider_configs",
        *_saved("server_id"),
        sa.Column("options", sa.JSON(), server_default=sa.text("'{}'"), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("server_id", "provider"),
    )
    op.create_table(
        "user_saved_provider_configs",
        *_saved("user_id"),
        sa.Column("llm_id", sa.Integer()),
        sa.Column("options", sa.JSON(), server_default=sa.text("'{}'"), nullable=False),
        sa.ForeignKeyConstraint(["llm_id"], ["llms.id"], ondelete="SET NULL"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("user_id", "provider"),
    )
    op.create_table(
        "user_capabilities",
        sa.Column("user_id", sa.String(20), nullable=False),
        sa.Column("capability", sa.String(20), nullable=False),
        sa.Column("config_id", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(["config_id"], ["user_saved_provider_configs.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", "capability"),
    )
    op.create_table(
        "channel_llm_overrides",
        sa.Column("server_id", sa.String(20), nullable=False),
        sa.Column("channel_id", sa.String(20), nullable=False),
        sa.Column("llm_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["llm_id"], ["llms.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("server_id", "channel_id"),
    )
    op.create_table(
        "persona_llm_overrides",
        sa.Column("server_id", sa.String(20), nullable=False),
        sa.Column("persona_id", sa.String(64), nullable=False),
        sa.Column("llm_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["llm_id"], ["llms.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("server_id", "persona_id"),
    )
    op.create_table(
        "fallback_references",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server_id", sa.String(20)),
        sa.Column("user_id", sa.String(20)),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("llm_id", sa.Integer()),
        sa.Column("custom_endpoint_id", sa.Integer()),
        sa.CheckConstraint("(server_id IS NULL) <> (user_id IS NULL)", name="one_owner"),
        sa.CheckConstraint("(llm_id IS NULL) <> (custom_endpoint_id IS NULL)", name="one_target"),
        sa.CheckConstraint("slot BETWEEN 1 AND 5", name="slot"),
        sa.ForeignKeyConstraint(["llm_id"], ["llms.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["custom_endpoint_id"], ["custom_endpoints.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("server_id", "slot"),
        sa.UniqueConstraint("user_id", "slot"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    for table in (
        "fallback_references",
        "persona_llm_overrides",
        "channel_llm_overrides",
        "user_capabilities",
        "user_saved_provider_configs",
        "saved_provider_configs",
        "server_configs",
    ):
        op.drop_table(table)
