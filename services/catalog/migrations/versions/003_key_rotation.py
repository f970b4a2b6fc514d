"""A server's pool of keys for a provider."""

import sqlalchemy as sa
from alembic import op

revision = "003_key_rotation"
down_revision = "002_configurations"


def upgrade() -> None:
    op.create_table(
        "api_key_rotation",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("server_id", sa.String(20), nullable=False),
        sa.Column("provider", sa.String(80), nullable=False),
        sa.Column("is_main", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("api_key", sa.LargeBinary()),
        sa.Column("key_version", sa.Integer()),
        sa.Column("enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("usage_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("error_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_error", sa.String(20)),
        sa.Column("last_error_ms", sa.BigInteger()),
        sa.CheckConstraint("is_main = (api_key IS NULL)", name="main_has_no_key"),
        sa.CheckConstraint("(api_key IS NULL) = (key_version IS NULL)", name="key_has_version"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_api_key_rotation_server_id_provider", "api_key_rotation", ["server_id", "provider"])
    op.create_index(
        "uq_api_key_rotation_main",
        "api_key_rotation",
        ["server_id", "provider"],
        unique=True,
        sqlite_where=sa.text("is_main"),
        postgresql_where=sa.text("is_main"),
    )


def downgrade() -> None:
    op.drop_table("api_key_rotation")
