"""Firings of triggers; what a job was asked for as and why it failed; since when a project's clock stands."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "firings",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("project_id", sa.String(length=32), nullable=False),
        sa.Column("trigger", sa.String(length=20), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.String(length=20), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("job_id", sa.String(length=32), nullable=True),
        sa.Column("scheduler", sa.String(length=120), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("trigger in ('clock', 'count', 'age')", name=op.f("ck_firings_trigger")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_firings_job_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_firings_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_firings")),
        sa.UniqueConstraint("project_id", "trigger", "due_at", name=op.f("uq_firings_project_id_trigger_due_at")),
    )
    op.add_column("jobs", sa.Column("asked_as", sa.String(length=120), nullable=True))
    op.add_column("jobs", sa.Column("failure", sa.Text(), nullable=False, server_default=""))
    op.add_column("projects", sa.Column("clock_since", sa.DateTime(timezone=True), nullable=True))
    op.execute("UPDATE jobs SET asked_as = 'retrain:' || project_id WHERE kind = 'retrain'")


def downgrade() -> None:
    op.drop_column("projects", "clock_since")
    op.drop_column("jobs", "failure")
    op.drop_column("jobs", "asked_as")
    op.drop_table("firings")
