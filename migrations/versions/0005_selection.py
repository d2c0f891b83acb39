"""What comes next and why, what the model says unasked, second looks, stages and automatic answers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")
ID = sa.String(length=32)
MOMENT = sa.DateTime(timezone=True)


def _refers(table: str, column: str, to: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [to], name=op.f(f"fk_{table}_{column}"))


def upgrade() -> None:
    op.create_table(
        "survey_answers",
        sa.Column("document_id", ID, nullable=False),
        sa.Column("question_id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("model_version_id", ID, nullable=False),
        sa.Column("page_id", ID, nullable=False),
        sa.Column("words_version", sa.Integer(), nullable=False),
        sa.Column("answer", JSON, nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("answered", sa.Double(), nullable=False),
        sa.Column("disagreement", sa.Double(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("uncertainty", sa.Double(), nullable=False),
        sa.Column("milliseconds", sa.Double(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        _refers("survey_answers", "document_id", "documents.id"),
        _refers("survey_answers", "question_id", "questions.id"),
        _refers("survey_answers", "project_id", "projects.id"),
        _refers("survey_answers", "model_version_id", "model_versions.id"),
        _refers("survey_answers", "page_id", "pages.id"),
        sa.PrimaryKeyConstraint("document_id", "question_id", name=op.f("pk_survey_answers")),
    )
    op.create_index(
        "ix_survey_answers_project_id_model_version_id", "survey_answers", ["project_id", "model_version_id"]
    )
    op.create_table(
        "document_signatures",
        sa.Column("document_id", ID, nullable=False),
        sa.Column("model_version_id", ID, nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        _refers("document_signatures", "document_id", "documents.id"),
        _refers("document_signatures", "model_version_id", "model_versions.id"),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_document_signatures")),
    )
    op.create_table(
        "second_looks",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("annotation_id", ID, nullable=False),
        sa.Column("revision_id", ID, nullable=False),
        sa.Column("model_version_id", ID, nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("page_id", ID, nullable=False),
        sa.Column("answer", JSON, nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("answered", sa.Double(), nullable=False),
        sa.Column("iou", sa.Double(), nullable=False),
        sa.Column("verdict", sa.String(length=20), nullable=True),
        sa.Column("decided_by", ID, nullable=True),
        sa.Column("decided_at", MOMENT, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.CheckConstraint("kind in ('elsewhere', 'here', 'not_here')", name=op.f("ck_second_looks_kind")),
        sa.CheckConstraint("verdict in ('kept', 'mended', 'returned')", name=op.f("ck_second_looks_verdict")),
        _refers("second_looks", "project_id", "projects.id"),
        _refers("second_looks", "annotation_id", "annotations.id"),
        _refers("second_looks", "revision_id", "revisions.id"),
        _refers("second_looks", "model_version_id", "model_versions.id"),
        _refers("second_looks", "page_id", "pages.id"),
        _refers("second_looks", "decided_by", "users.id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_second_looks")),
        sa.UniqueConstraint(
            "annotation_id", "model_version_id", name=op.f("uq_second_looks_annotation_id_model_version_id")
        ),
    )
    op.create_index("ix_second_looks_project_id_verdict", "second_looks", ["project_id", "verdict"])
    op.create_table(
        "stage_changes",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("stage", sa.String(length=20), nullable=False),
        sa.Column("model_version_id", ID, nullable=True),
        sa.Column("figures", JSON, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("changed_by", ID, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.CheckConstraint("stage in ('assisted', 'semi_automatic', 'automatic')", name=op.f("ck_stage_changes_stage")),
        _refers("stage_changes", "project_id", "projects.id"),
        _refers("stage_changes", "model_version_id", "model_versions.id"),
        _refers("stage_changes", "changed_by", "users.id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_stage_changes")),
        sa.UniqueConstraint("project_id", "sequence", name=op.f("uq_stage_changes_project_id_sequence")),
    )
    op.create_table(
        "automatic_answers",
        sa.Column("id", ID, nullable=False),
        sa.Column("project_id", ID, nullable=False),
        sa.Column("task_id", ID, nullable=False),
        sa.Column("model_version_id", ID, nullable=False),
        sa.Column("page_id", ID, nullable=False),
        sa.Column("answer", JSON, nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("answered", sa.Double(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("threshold", sa.Double(), nullable=False),
        sa.Column("audit", sa.Boolean(), nullable=False),
        sa.Column("verdict", sa.String(length=20), nullable=True),
        sa.Column("checked_by", ID, nullable=True),
        sa.Column("checked_at", MOMENT, nullable=True),
        sa.Column("withdrawn_at", MOMENT, nullable=True),
        sa.Column("withdrawn_by", ID, nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.CheckConstraint("verdict in ('right', 'wrong')", name=op.f("ck_automatic_answers_verdict")),
        _refers("automatic_answers", "project_id", "projects.id"),
        _refers("automatic_answers", "task_id", "tasks.id"),
        _refers("automatic_answers", "model_version_id", "model_versions.id"),
        _refers("automatic_answers", "page_id", "pages.id"),
        _refers("automatic_answers", "checked_by", "users.id"),
        _refers("automatic_answers", "withdrawn_by", "users.id"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_automatic_answers")),
    )
    op.create_index("ix_automatic_answers_task_id", "automatic_answers", ["task_id"])
    op.create_index("ix_automatic_answers_project_id_withdrawn_at", "automatic_answers", ["project_id", "withdrawn_at"])
    with op.batch_alter_table("tasks") as tasks:
        tasks.add_column(sa.Column("priority", sa.Integer(), nullable=False, server_default="1000000000"))
        tasks.add_column(sa.Column("chosen_by", sa.String(length=10), nullable=True))
        tasks.create_check_constraint(op.f("ck_tasks_chosen_by"), "chosen_by in ('model', 'random', 'age', 'hand')")
    op.create_index("ix_tasks_project_id_priority_document_id", "tasks", ["project_id", "priority", "document_id"])


def downgrade() -> None:
    op.drop_index("ix_automatic_answers_project_id_withdrawn_at", table_name="automatic_answers")
    op.drop_index("ix_automatic_answers_task_id", table_name="automatic_answers")
    op.drop_table("automatic_answers")
    op.drop_index("ix_tasks_project_id_priority_document_id", table_name="tasks")
    with op.batch_alter_table("tasks") as tasks:
        tasks.drop_constraint(op.f("ck_tasks_chosen_by"), type_="check")
        tasks.drop_column("chosen_by")
        tasks.drop_column("priority")
    op.drop_table("stage_changes")
    op.drop_index("ix_second_looks_project_id_verdict", table_name="second_looks")
    op.drop_table("second_looks")
    op.drop_table("document_signatures")
    op.drop_index("ix_survey_answers_project_id_model_version_id", table_name="survey_answers")
    op.drop_table("survey_answers")
