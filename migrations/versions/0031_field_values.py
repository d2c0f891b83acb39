"""The table of values: a row a document and field; servers derive the rows of present documents in the background."""

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

_JSON = sa.JSON().with_variant(JSONB(), "postgresql")


def _document(table: str) -> list[sa.schema.SchemaItem]:
    key = sa.ForeignKeyConstraint(
        ["document_id"], ["documents.id"], name=f"fk_{table}_document_id_documents", ondelete="CASCADE"
    )
    return [sa.Column("document_id", sa.String(32), nullable=False), key, *_project(table)]


def _project(table: str) -> list[sa.schema.SchemaItem]:
    key = sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=f"fk_{table}_project_id_projects")
    return [sa.Column("project_id", sa.String(32), nullable=False), key]


def upgrade() -> None:
    op.create_table(
        "field_values",
        *_document("field_values"),
        sa.Column("question_id", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(["question_id"], ["questions.id"], name="fk_field_values_question_id_questions"),
        sa.Column("annotation_id", sa.String(32), nullable=True),
        sa.Column("page_id", sa.String(32), nullable=True),
        sa.Column("status", sa.String(10), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("printed", sa.String(300), nullable=False),
        sa.Column("text", sa.String(300), nullable=False),
        sa.Column("shown", sa.String(300), nullable=False),
        sa.Column("content", _JSON, nullable=False),
        sa.Column("sort_key", sa.String(80), nullable=False),
        sa.Column("changed", sa.Boolean(), nullable=False),
        sa.Column("broken", sa.Boolean(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("validated_by", sa.String(10), nullable=False),
        sa.PrimaryKeyConstraint("document_id", "question_id", name="pk_field_values"),
    )
    op.create_index("ix_field_values_sorted", "field_values", ["question_id", "sort_key", "document_id"])
    op.create_table(
        "value_flags",
        *_document("value_flags"),
        sa.Column("question_id", sa.String(32), nullable=False),
        sa.Column("flag", sa.String(10), nullable=False),
        sa.PrimaryKeyConstraint("document_id", "question_id", "flag", name="pk_value_flags"),
    )
    op.create_index("ix_value_flags_found", "value_flags", ["project_id", "question_id", "flag", "document_id"])
    op.create_table(
        "value_counts",
        *_project("value_counts"),
        sa.Column("question_id", sa.String(32), nullable=False),
        sa.Column("flag", sa.String(10), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "question_id", "flag", name="pk_value_counts"),
    )
    op.create_table(
        "broken_rules",
        *_document("broken_rules"),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sentences", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("document_id", name="pk_broken_rules"),
    )
    connection = op.get_bind()
    begin = connection.scalar(sa.text("SELECT coalesce(max(id), 0) FROM changes"))
    followers = sa.table("followers", *(sa.column(name) for name in ("name", "cursor", "writes", "attempts")))
    op.bulk_insert(followers, [{"name": "field_values", "cursor": begin, "writes": 0, "attempts": 0}])
    _ask_for_values(connection)


def downgrade() -> None:
    op.execute("DELETE FROM task_changes WHERE kind = 'values'")
    op.execute("DELETE FROM followers WHERE name = 'field_values'")
    for table in ("broken_rules", "value_counts", "value_flags", "field_values"):
        op.drop_table(table)


def _ask_for_values(connection: sa.Connection) -> None:
    """Let each project with fields and documents go through its documents, as after a change of its conventions."""
    counted = sa.text(
        "SELECT project_id, count(*) AS total FROM documents WHERE project_id IN "
        "(SELECT project_id FROM fields WHERE name IS NOT NULL) GROUP BY project_id ORDER BY project_id"
    )
    moment = datetime.now(UTC)
    rows = [
        {
            "project_id": row.project_id, "kind": "values", "person_id": "", "number": 1, "place": "", "done": 0,
            "total": row.total, "asked_at": moment, "moved_at": moment - timedelta(minutes=1),
        }
        for row in connection.execute(counted).all()
    ]  # fmt: skip
    moments = {name: sa.DateTime(timezone=True) for name in ("asked_at", "moved_at")}
    columns = (
        "project_id", "kind", "person_id", "number", "place", "done", "total", "asked_at", "moved_at",
    )  # fmt: skip
    if rows:
        changes = sa.table("task_changes", *(sa.column(name, moments.get(name)) for name in columns))
        op.bulk_insert(changes, rows)
