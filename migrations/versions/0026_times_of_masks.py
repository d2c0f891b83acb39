"""Finished masks are counted by their times, for days of any time zone."""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_finished_masks_at", "finished_masks", ["project_id", "at", "person_id"])


def downgrade() -> None:
    op.drop_index("ix_finished_masks_at", "finished_masks")
