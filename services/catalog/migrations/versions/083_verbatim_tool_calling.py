"""Verbatim tool calling for a model; a server's own switch goes on holding for all of its models."""

import sqlalchemy as sa
from alembic import op

revision = "083_verbatim_tool_calling"
down_revision = "026_model_limits"

_TABLES = ("llms", "custom_endpoints")


def upgrade() -> None:
    for table in _TABLES:
        op.add_column(
            table, sa.Column("verbatim_tool_calling", sa.Boolean(), server_default=sa.false(), nullable=False)
        )


def downgrade() -> None:
    for table in _TABLES:
        op.drop_column(table, "verbatim_tool_calling")
