"""Tasks that a person left unanswered come behind the others for that person."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "left_tasks",
        sa.Column("task_id", sa.String(32), nullable=False),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("left_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_left_tasks_task_id")),
        sa.ForeignKeyConstraint(["person_id"], ["users.id"], name=op.f("fk_left_tasks_person_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_left_tasks_project_id")),
        sa.PrimaryKeyConstraint("task_id", "person_id", name=op.f("pk_left_tasks")),
    )
    op.create_index("ix_left_tasks_of", "left_tasks", ["project_id", "person_id", "left_at"])


def downgrade() -> None:
    op.drop_table("left_tasks")
