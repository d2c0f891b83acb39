"""Figures are derived by followers of the changes, which keep what each document contributes."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from db.refusals import DowngradeRefused

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_FOLLOWERS = ("document_figures", "finished_work", "queue_days", "question_uses", "waiting_reviews")

_QUEUE = """INSERT INTO queue_documents (document_id, project_id, open, submitted)
SELECT d.id, d.project_id, w.open, w.submitted FROM (
    SELECT document_id, sum(open) AS open, sum(submitted) AS submitted FROM (
        SELECT document_id, 1 AS open, 0 AS submitted FROM tasks WHERE state IN ('open', 'partly', 'returned')
        UNION ALL SELECT document_id, 0, 1 FROM annotations WHERE status = 'submitted'
    ) AS waiting GROUP BY document_id
) AS w JOIN documents d ON d.id = w.document_id"""
_ASKED = """INSERT INTO asked_documents (document_id, question_id, project_id, last_asked)
SELECT document_id, question_id, max(project_id), max(id) FROM annotations
WHERE status <> 'removed' GROUP BY document_id, question_id"""
_WAITING = """INSERT INTO waiting_reviews (annotation_id, document_id, project_id, author_id, editor_id)
SELECT a.id, a.document_id, a.project_id, a.author_id, coalesce(a.edited_by, a.author_id) FROM annotations a
WHERE a.status = 'submitted' OR a.id IN (SELECT annotation_id FROM waiting_looks)"""
_COUNTS = """INSERT INTO review_counts (project_id, person_id, number)
SELECT project_id, person_id, count(*) FROM (
    SELECT project_id, '' AS person_id FROM waiting_reviews
    UNION ALL SELECT project_id, author_id FROM waiting_reviews
    UNION ALL SELECT project_id, editor_id FROM waiting_reviews WHERE editor_id <> author_id
) AS of_people GROUP BY project_id, person_id"""
_LOOKS = """INSERT INTO waiting_looks (annotation_id, project_id, author_id, editor_id)
SELECT w.annotation_id, w.project_id, w.author_id, w.editor_id FROM waiting_reviews w
JOIN annotations a ON a.id = w.annotation_id WHERE a.status <> 'submitted'"""
_LOOK_COUNTS = """INSERT INTO look_counts (project_id, person_id, number)
SELECT project_id, person_id, count(*) FROM (
    SELECT project_id, '' AS person_id FROM waiting_looks
    UNION ALL SELECT project_id, author_id FROM waiting_looks
    UNION ALL SELECT project_id, editor_id FROM waiting_looks WHERE editor_id <> author_id
) AS of_people GROUP BY project_id, person_id"""


def _reference(name: str, *target: str, **options: object) -> list[sa.schema.SchemaItem]:
    """Return a column of an id, and where it points to: table, column, and the constraint's name."""
    table, points_to = target
    key = sa.ForeignKeyConstraint([name], [f"{points_to}.id"], name=f"fk_{table}_{name}", **options)  # type: ignore[arg-type]
    return [sa.Column(name, sa.String(32), nullable=False), key]


def _documents(table: str) -> list[sa.schema.SchemaItem]:
    return _reference("document_id", table, "documents", ondelete="CASCADE")


def upgrade() -> None:
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.add_column("changes", sa.Column("documents", json, nullable=True))
    op.create_table(
        "followers",
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("cursor", sa.BigInteger(), nullable=False),
        sa.Column("writes", sa.BigInteger(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.String(500), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_followers"),
    )
    op.create_table(
        "skipped_changes",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("follower", sa.String(40), nullable=False),
        sa.Column("change_id", sa.BigInteger(), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=True),
        sa.Column("documents", json, nullable=False),
        sa.Column("error", sa.String(500), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_skipped_changes"),
    )
    op.create_table(
        "queue_documents",
        *_documents("queue_documents"),
        *_reference("project_id", "queue_documents", "projects"),
        sa.Column("open", sa.Integer(), nullable=False),
        sa.Column("submitted", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("document_id", name="pk_queue_documents"),
    )
    op.create_index("ix_queue_documents_project_id", "queue_documents", ["project_id"])
    op.create_table(
        "asked_documents",
        *_documents("asked_documents"),
        *_reference("question_id", "asked_documents", "questions"),
        *_reference("project_id", "asked_documents", "projects"),
        sa.Column("last_asked", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("document_id", "question_id", name="pk_asked_documents"),
    )
    op.create_index("ix_asked_documents_project_id", "asked_documents", ["project_id"])
    op.create_index("ix_asked_documents_question", "asked_documents", ["question_id", "last_asked"])
    op.create_table(
        "waiting_reviews",
        *_reference("annotation_id", "waiting_reviews", "annotations", ondelete="CASCADE"),
        *_reference("document_id", "waiting_reviews", "documents"),
        *_reference("project_id", "waiting_reviews", "projects"),
        *_reference("author_id", "waiting_reviews", "users"),
        *_reference("editor_id", "waiting_reviews", "users"),
        sa.PrimaryKeyConstraint("annotation_id", name="pk_waiting_reviews"),
    )
    op.create_index("ix_waiting_reviews_document_id", "waiting_reviews", ["document_id"])
    op.create_index("ix_waiting_reviews_project_id", "waiting_reviews", ["project_id"])
    op.create_table(
        "review_counts",
        *_reference("project_id", "review_counts", "projects"),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "person_id", name="pk_review_counts"),
    )
    for statement in (_QUEUE, _ASKED, _WAITING, _COUNTS):
        op.execute(statement)
    # Figures were stored with each change until now: followers begin behind the newest.
    begin = op.get_bind().scalar(sa.text("SELECT coalesce(max(id), 0) FROM changes"))
    followers = sa.table("followers", *(sa.column(name) for name in ("name", "cursor", "writes", "attempts")))
    rows = [{"name": name, "cursor": begin, "writes": 0, "attempts": 0} for name in _FOLLOWERS]
    op.bulk_insert(followers, rows)
    op.drop_table("look_counts")
    op.drop_table("waiting_looks")


def downgrade() -> None:
    unread = "SELECT count(*) FROM changes WHERE documents IS NOT NULL AND id > (SELECT min(cursor) FROM followers)"
    if op.get_bind().scalar(sa.text(unread)):
        raise DowngradeRefused("Figures still follow changes. Run `glossator status`, then downgrade again.")
    op.create_table(
        "waiting_looks",
        *_reference("annotation_id", "waiting_looks", "annotations", ondelete="CASCADE"),
        *_reference("project_id", "waiting_looks", "projects"),
        *_reference("author_id", "waiting_looks", "users"),
        *_reference("editor_id", "waiting_looks", "users"),
        sa.PrimaryKeyConstraint("annotation_id", name="pk_waiting_looks"),
    )
    op.create_index("ix_waiting_looks_project_id", "waiting_looks", ["project_id"])
    op.create_table(
        "look_counts",
        *_reference("project_id", "look_counts", "projects"),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "person_id", name="pk_look_counts"),
    )
    op.execute(_LOOKS)
    op.execute(_LOOK_COUNTS)
    for table in ("review_counts", "waiting_reviews", "asked_documents", "queue_documents", "skipped_changes"):
        op.drop_table(table)
    op.drop_table("followers")
    op.drop_column("changes", "documents")
