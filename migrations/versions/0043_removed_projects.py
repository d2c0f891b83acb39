"""Removed projects lie in the bin of the installation."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "removed_projects",
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("removed_by", sa.String(32), nullable=True),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("erasing", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_removed_projects_project_id_projects"),
        sa.ForeignKeyConstraint(["removed_by"], ["users.id"], name="fk_removed_projects_removed_by_users"),
        sa.PrimaryKeyConstraint("project_id", name="pk_removed_projects"),
    )
    op.create_index("ix_removed_projects_newest", "removed_projects", ["removed_at", "project_id"])


def downgrade() -> None:
    if op.get_bind().scalar(sa.text("SELECT count(*) FROM removed_projects")):
        raise RuntimeError("Projects lie in the bin. Restore or delete them first.")
    op.drop_table("removed_projects")
