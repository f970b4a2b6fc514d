"""Models and custom endpoints."""

import sqlalchemy as sa
from alembic import op

revision = "001_models_and_endpoints"
down_revision = None

_LLM_FLAGS = (
    "is_default",
    "is_smartest",
    "is_reasoning",
    "is_scoped_registration",
    "is_deprecated",
    "is_free",
    "is_uncensored",
    "has_tools",
    "sees_images",
    "sees_videos",
    "sees_youtube",
    "supports_structured_output",
)
_ENDPOINT_FLAGS = ("has_tools", "sees_images", "sees_videos", "supports_structured_output")


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), server_default=sa.false(), nullable=False)


def upgrade() -> None:
    op.create_table(
        "custom_endpoints",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("server_id", sa.String(20)),
        sa.Column("user_id", sa.String(20)),
        sa.Column("label", sa.String(40), nullable=False),
        sa.Column("capability", sa.String(20), server_default="text", nullable=False),
        sa.Column("api_style", sa.String(40), nullable=False),
        sa.Column("endpoint_url", sa.String(2000), nullable=False),
        sa.Column("model_name", sa.String(200), nullable=False),
        sa.Column("display_name", sa.String(200), server_default="", nullable=False),
        sa.Column("num_ctx", sa.Integer()),
        sa.Column("requires_auth", sa.Boolean(), server_default=sa.true(), nullable=False),
        *(_flag(name) for name in _ENDPOINT_FLAGS),
        sa.CheckConstraint("(server_id IS NULL) <> (user_id IS NULL)", name="one_owner"),
        sa.CheckConstraint("num_ctx IS NULL OR num_ctx >= 512", name="num_ctx"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("server_id", "label", "capability"),
        sa.UniqueConstraint("user_id", "label", "capability"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "llms",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("provider", sa.String(80), nullable=False),
        sa.Column("codename", sa.String(200), nullable=False),
        sa.Column("custom_endpoint_id", sa.Integer()),
        *(_flag(name) for name in _LLM_FLAGS),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["custom_endpoint_id"], ["custom_endpoints.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("provider", "codename"),
        sa.UniqueConstraint("custom_endpoint_id"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    op.drop_table("llms")
    op.drop_table("custom_endpoints")
