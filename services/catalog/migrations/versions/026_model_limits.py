"""A model's own dialect, its limits in tokens, and the parameters that it takes."""

import sqlalchemy as sa
from alembic import op

revision = "026_model_limits"
down_revision = "025_strict_chat_compat_flags"


def upgrade() -> None:
    op.add_column("llms", sa.Column("dialect", sa.String(20)))
    op.add_column("llms", sa.Column("context_window", sa.Integer()))
    op.add_column("llms", sa.Column("max_output_tokens", sa.Integer()))
    op.add_column("llms", sa.Column("supported_parameters", sa.JSON(none_as_null=True)))


def downgrade() -> None:
    for column in ("supported_parameters", "max_output_tokens", "context_window", "dialect"):
        op.drop_column("llms", column)
