"""States of tasks are kept with them, with their numbers by project, so that the queue reads them from indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

AT_ONCE = 5000
_EDITED = sa.text("status = 'submitted' AND edited_by IS NOT NULL")
_SUBMITTED = sa.text("status = 'submitted'")
_GOLD = sa.text("gold_revision_id IS NOT NULL")

_ANSWERS = """(SELECT count(*) FROM annotations WHERE annotations.document_id = tasks.document_id
    AND annotations.question_id = tasks.question_id AND annotations.status IN ({statuses}){which})"""
_COUNTED = "UPDATE tasks SET answered = {answered} WHERE id > :first AND id <= :last".format(
    answered=_ANSWERS.format(statuses="'submitted', 'accepted', 'fixed'", which="")
)
_RESERVED = _ANSWERS.format(
    statuses="'rejected'",
    which=""" AND EXISTS (SELECT 1 FROM users WHERE users.id = annotations.author_id
    AND users.disabled_at IS NULL AND (users.role = 'admin' OR EXISTS (SELECT 1 FROM members
    WHERE members.user_id = users.id AND members.project_id = annotations.project_id)))""",
)
_STATES = """UPDATE tasks SET state = CASE
    WHEN closed_at IS NOT NULL THEN 'closed'
    WHEN answered < wanted AND EXISTS (SELECT 1 FROM automatic_answers WHERE automatic_answers.task_id = tasks.id
        AND withdrawn_at IS NULL AND verdict IS NULL AND audit = {false}) THEN 'automatic'
    WHEN answered < wanted AND answered + {reserved} >= wanted THEN 'returned'
    WHEN answered < wanted AND answered > 0 THEN 'partly'
    WHEN answered < wanted THEN 'open'
    WHEN {accepted} < wanted THEN 'submitted'
    ELSE 'done' END
    WHERE id > :first AND id <= :last"""
_EDITORS = """UPDATE annotations SET edited_by = (SELECT revisions.author_id FROM revisions
    WHERE revisions.annotation_id = annotations.id AND revisions.number = annotations.head
    AND revisions.author_id <> annotations.author_id)
    WHERE id > :first AND id <= :last"""


def upgrade() -> None:
    op.add_column("annotations", sa.Column("edited_by", sa.String(32), nullable=True))
    op.add_column("tasks", sa.Column("answered", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("tasks", sa.Column("state", sa.String(10), nullable=False, server_default=""))
    op.create_table(
        "task_counts",
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_task_counts_project_id")),
        sa.PrimaryKeyConstraint("project_id", "state", name=op.f("pk_task_counts")),
    )
    op.create_table(
        "part_answers",
        sa.Column("task_id", sa.String(32), nullable=False),
        sa.Column("author_id", sa.String(32), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_part_answers_task_id")),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_part_answers_author_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_part_answers_project_id")),
        sa.PrimaryKeyConstraint("task_id", "author_id", name=op.f("pk_part_answers")),
    )
    op.create_index("ix_part_answers_of", "part_answers", ["project_id", "author_id", "task_id"])
    accepted = _ANSWERS.format(statuses="'accepted', 'fixed'", which="")
    false = "false" if op.get_bind().dialect.name == "postgresql" else "0"
    _in_pieces("annotations", _EDITORS)
    _in_pieces("tasks", _COUNTED)
    _in_pieces("tasks", _STATES.format(accepted=accepted, reserved=_RESERVED, false=false))
    op.execute(
        "INSERT INTO part_answers (task_id, author_id, project_id) "
        "SELECT tasks.id, annotations.author_id, tasks.project_id FROM tasks JOIN annotations "
        "ON annotations.document_id = tasks.document_id AND annotations.question_id = tasks.question_id "
        "WHERE tasks.state = 'partly' AND annotations.status IN ('submitted', 'accepted', 'fixed')"
    )
    op.execute(
        "INSERT INTO task_counts (project_id, state, number) "
        "SELECT project_id, state, count(*) FROM tasks GROUP BY project_id, state"
    )
    op.drop_index("ix_annotations_project_id_status", table_name="annotations")
    op.create_index("ix_annotations_standing_of", "annotations", ["project_id", "status", "author_id", "question_id"])
    op.create_index(
        "ix_annotations_edited_by",
        "annotations",
        ["project_id", "edited_by"],
        sqlite_where=_EDITED,
        postgresql_where=_EDITED,
    )
    submitted = {"sqlite_where": _SUBMITTED, "postgresql_where": _SUBMITTED}
    op.create_index("ix_annotations_submitted", "annotations", ["project_id", "id"], **submitted)
    op.drop_index("ix_tasks_project_id_priority_document_id", table_name="tasks")
    op.create_index("ix_tasks_queue", "tasks", ["project_id", "state", "priority", "document_id"])
    gold = ["project_id", "gold_revision_id"]
    op.create_index("ix_tasks_gold", "tasks", gold, sqlite_where=_GOLD, postgresql_where=_GOLD)


def downgrade() -> None:
    for name in ("ix_tasks_gold", "ix_tasks_queue"):
        op.drop_index(name, table_name="tasks")
    op.create_index("ix_tasks_project_id_priority_document_id", "tasks", ["project_id", "priority", "document_id"])
    op.drop_index("ix_annotations_submitted", table_name="annotations")
    op.drop_index("ix_annotations_edited_by", table_name="annotations")
    op.drop_index("ix_annotations_standing_of", table_name="annotations")
    op.create_index("ix_annotations_project_id_status", "annotations", ["project_id", "status"])
    op.drop_table("task_counts")
    op.drop_table("part_answers")
    for name in ("state", "answered"):
        op.drop_column("tasks", name)
    op.drop_column("annotations", "edited_by")


def _in_pieces(table: str, statement: str) -> None:
    """Run a statement on a table's rows by ranges of their ids, so that no single one runs for minutes."""
    bind, first = op.get_bind(), ""
    ids = sa.text(f"SELECT id FROM {table} WHERE id > :first ORDER BY id LIMIT 1 OFFSET {AT_ONCE - 1}")
    while True:
        last = bind.execute(ids, {"first": first}).scalar()
        if last is None:
            bind.execute(sa.text(statement.replace(" AND id <= :last", "")), {"first": first})
            return
        bind.execute(sa.text(statement), {"first": first, "last": last})
        first = last
