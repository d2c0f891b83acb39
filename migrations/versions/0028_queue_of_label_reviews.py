"""Index of the queue of label reviews: thousands may wait, and each step of a reviewer reads the first."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_OPEN = sa.text("verdict IS NULL")


def upgrade() -> None:
    op.create_index(
        "ix_second_looks_queue",
        "second_looks",
        ["project_id", "iou", "created_at", "id"],
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )


def downgrade() -> None:
    op.drop_index("ix_second_looks_queue", "second_looks")
