"""Revisions are found by the proposal that they build on."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

_BUILT_ON = sa.text("prediction_id IS NOT NULL")


def upgrade() -> None:
    op.create_index(
        "ix_revisions_prediction_id",
        "revisions",
        ["prediction_id"],
        sqlite_where=_BUILT_ON,
        postgresql_where=_BUILT_ON,
    )


def downgrade() -> None:
    op.drop_index("ix_revisions_prediction_id", "revisions")
