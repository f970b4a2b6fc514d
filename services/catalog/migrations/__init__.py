"""The catalog's schema, step by step, for Alembic. `services.catalog.migrating` runs them.

The strict flags are 025, as "strict chat-completion compatibility" numbers them; what was there before them counts from
001. A migration that has been released is never edited.
"""
