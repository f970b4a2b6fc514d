"""The two strict flags on models and custom endpoints, off, and on for the built-in models that demand them.

From "strict chat-completion compatibility". The providers are named here and not imported, since a migration must do
tomorrow what it did today.
"""

import sqlalchemy as sa
from alembic import op

revision = "025_strict_chat_compat_flags"
down_revision = "003_key_rotation"

_FLAGS = ("strict_role_alternation", "supports_prefix_completion")
_TABLES = ("llms", "custom_endpoints")


def upgrade() -> None:
    for table in _TABLES:
        for flag in _FLAGS:
            op.add_column(table, sa.Column(flag, sa.Boolean(), server_default=sa.false(), nullable=False))
    llms = sa.table(
        "llms",
        sa.column("provider", sa.String()),
        sa.column("strict_role_alternation", sa.Boolean()),
        sa.column("supports_prefix_completion", sa.Boolean()),
    )
    op.execute(llms.update().where(llms.c.provider == "anthropic").values(strict_role_alternation=True))
    op.execute(
        llms.update()
        .where(llms.c.provider.in_(("deepseek", "zai", "zaicoding")))
        .values(supports_prefix_completion=True)
    )


def downgrade() -> None:
    for table in _TABLES:
        for flag in _FLAGS:
            op.drop_column(table, flag)
