"""Whether a server's models answer where a person's own have all failed: yes, unless it is switched off."""

import sqlalchemy as sa
from alembic import op

revision = "085_personal_server_fallback"
down_revision = "083_verbatim_tool_calling"


def upgrade() -> None:
    op.add_column(
        "server_configs",
        sa.Column("personal_server_fallback_enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
    )


def downgrade() -> None:
    op.drop_column("server_configs", "personal_server_fallback_enabled")
