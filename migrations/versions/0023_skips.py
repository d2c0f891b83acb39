"""Tasks that people skipped with a reason wait for a reviewer."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_UNDECIDED = sa.text("verdict IS NULL")
_REASONS = "reason in ('unreadable', 'not_sure', 'wrong_document', 'other')"
_VERDICTS = "verdict in ('returned', 'dismissed', 'withdrawn')"


def upgrade() -> None:
    op.create_table(
        "skips",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("task_id", sa.String(32), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("reason", sa.String(20), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("verdict", sa.String(10), nullable=True),
        sa.Column("remark", sa.Text(), nullable=False),
        sa.Column("decided_by", sa.String(32), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_skips_task_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_skips_project_id")),
        sa.ForeignKeyConstraint(["person_id"], ["users.id"], name=op.f("fk_skips_person_id")),
        sa.ForeignKeyConstraint(["decided_by"], ["users.id"], name=op.f("fk_skips_decided_by")),
        sa.CheckConstraint(_REASONS, name=op.f("ck_skips_reason")),
        sa.CheckConstraint(_VERDICTS, name=op.f("ck_skips_verdict")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_skips")),
    )
    op.create_index("ix_skips_project_id_id", "skips", ["project_id", "id"])
    op.create_index("ix_skips_task_id", "skips", ["task_id"])
    partial = {"sqlite_where": _UNDECIDED, "postgresql_where": _UNDECIDED}
    op.create_index("ix_skips_undecided", "skips", ["project_id", "id"], **partial)


def downgrade() -> None:
    op.drop_table("skips")
