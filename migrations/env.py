"""Alembic's entry: runs migrations on the connection that db.migrate hands over."""

from alembic import context

import db.tables  # noqa: F401  (fills Base.metadata)
from db.base import Base

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit("Migrations run through `glossator db upgrade`, which knows the database.")

context.configure(connection=connection, target_metadata=Base.metadata, compare_type=True, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
