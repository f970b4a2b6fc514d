"""What Alembic runs: the migrations, on the connection and in the transaction that it is given."""

from alembic import context
from sqlalchemy import Connection

from services.catalog.tables import Table

connection: Connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Table.metadata, transactional_ddl=True, compare_type=True)
with context.begin_transaction():
    context.run_migrations()
