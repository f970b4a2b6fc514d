"""A server's stop strings, and whether a persona that would speak for itself again is stopped; none, and no, at first."""

import sqlalchemy as sa
from alembic import op

revision = "086_stop_strings"
down_revision = "085_personal_server_fallback"


def upgrade() -> None:
    op.add_column(
        "server_configs", sa.Column("llm_stop_strings", sa.JSON(), server_default=sa.text("'[]'"), nullable=False)
    )
    op.add_column(
        "server_configs",
        sa.Column("llm_stop_speaker_pattern_enabled", sa.Boolean(), server_default=sa.false(), nullable=False),
    )


def downgrade() -> None:
    for column in ("llm_stop_speaker_pattern_enabled", "llm_stop_strings"):
        op.drop_column("server_configs", column)
