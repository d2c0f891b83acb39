"""Tasks whose answers are compared get an index: what they hide from a person is counted without reading all tasks."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

_COMPARED = sa.text("closed_at IS NULL AND (wanted > 1 OR gold_revision_id IS NOT NULL)")


def upgrade() -> None:
    columns = ["project_id", "document_id", "question_id"]
    op.create_index("ix_tasks_compared", "tasks", columns, sqlite_where=_COMPARED, postgresql_where=_COMPARED)


def downgrade() -> None:
    op.drop_index("ix_tasks_compared", table_name="tasks")
