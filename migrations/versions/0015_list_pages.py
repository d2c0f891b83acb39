"""Lists come in pages: the indexes that they follow, and the uses of questions, kept with them."""

import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

LONGEST = 512
AT_ONCE = 1000  # questions

_LISTED = "(kind <> 'read' OR status NOT IN ('done', 'cancelled'))"
_NEW: dict[str, tuple[str, list[str], str | None]] = {
    "ix_tasks_project_id_document_id": ("tasks", ["project_id", "document_id"], None),
    "ix_annotations_question_id_id": ("annotations", ["question_id", "id"], None),
    "ix_annotations_unfinished": (
        "annotations",
        ["project_id", "author_id", "id"],
        "status IN ('draft', 'rejected')",
    ),
    "ix_questions_used": ("questions", ["project_id", "documents", "last_asked", "id"], None),
    "ix_questions_project_id_text_key_id": ("questions", ["project_id", "text_key", "id"], None),
    "ix_jobs_newest": ("jobs", ["project_id", "kind", "created_at", "id"], None),
    "ix_jobs_ended": ("jobs", ["project_id", "kind", "status", "finished_at"], None),
    "ix_jobs_of": ("jobs", ["project_id", "created_at", "id"], _LISTED),
    "ix_jobs_listed": ("jobs", ["created_at", "id"], _LISTED),
    "ix_snapshots_newest": ("snapshots", ["project_id", "created_at", "id"], None),
    "ix_firings_project_id_id": ("firings", ["project_id", "id"], None),
    "ix_runs_project_id_id": ("runs", ["project_id", "id"], None),
    "ix_audit_entries_of": ("audit_entries", ["project_id", "created_at", "id"], None),
    "ix_audit_entries_created_at_id": ("audit_entries", ["created_at", "id"], None),
    "ix_invitations_newest": ("invitations", ["project_id", "created_at", "id"], None),
    "ix_login_sessions_newest": ("login_sessions", ["user_id", "created_at", "token_sha256"], None),
    "ix_second_looks_open": ("second_looks", ["project_id", "id"], "verdict IS NULL"),
    "ix_second_looks_decided": ("second_looks", ["project_id", "id"], "verdict IS NOT NULL"),
    "ix_automatic_answers_project_id_id": ("automatic_answers", ["project_id", "id"], None),
}
# Each is the beginning of a new one.
_OLD = {
    "ix_annotations_question_id": ("annotations", ["question_id"]),
    "ix_jobs_project_id": ("jobs", ["project_id"]),
    "ix_runs_project_id": ("runs", ["project_id"]),
    "ix_audit_entries_project_id_created_at": ("audit_entries", ["project_id", "created_at"]),
    "ix_invitations_project_id": ("invitations", ["project_id"]),
    "ix_login_sessions_user_id": ("login_sessions", ["user_id"]),
}
_questions = sa.table("questions", sa.column("id"), sa.column("text"), sa.column("text_key"))
_USES = """UPDATE questions SET
    documents = (SELECT count(DISTINCT a.document_id) FROM annotations a
        WHERE a.question_id = questions.id AND a.status <> 'removed'),
    last_asked = coalesce((SELECT max(a.id) FROM annotations a
        WHERE a.question_id = questions.id AND a.status <> 'removed'), '')
WHERE id >= :first AND id <= :last"""


def upgrade() -> None:
    op.add_column("questions", sa.Column("text_key", sa.String(LONGEST), nullable=False, server_default=""))
    op.add_column("questions", sa.Column("documents", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("questions", sa.Column("last_asked", sa.String(32), nullable=False, server_default=""))
    _fill()
    for name, (table, columns, where) in _NEW.items():
        chosen = {} if where is None else {"sqlite_where": sa.text(where), "postgresql_where": sa.text(where)}
        op.create_index(name, table, columns, **chosen)
    op.create_index(
        "ix_questions_standard",
        "questions",
        ["project_id", "position", "id"],
        sqlite_where=sa.text("standard = 1"),
        postgresql_where=sa.text("standard"),
    )
    for name, (table, _) in _OLD.items():
        op.drop_index(name, table_name=table)


def downgrade() -> None:
    op.drop_index("ix_questions_standard", table_name="questions")
    for name, (table, columns) in _OLD.items():
        op.create_index(name, table, columns)
    for name, (table, _, _) in _NEW.items():
        op.drop_index(name, table_name=table)
    with op.batch_alter_table("questions") as questions:
        for column in ("last_asked", "documents", "text_key"):
            questions.drop_column(column)


def _fill() -> None:
    """Fill keys and uses of the questions that are there, some at a time."""
    last = ""
    update = _questions.update().where(_questions.c.id == sa.bindparam("key_of"))
    while True:
        some = sa.select(_questions.c.id, _questions.c.text).where(_questions.c.id > last)
        rows = op.get_bind().execute(some.order_by(_questions.c.id).limit(AT_ONCE)).all()
        if not rows:
            return
        keys = [{"key_of": question_id, "text_key": _key(text)} for question_id, text in rows]
        op.get_bind().execute(update, keys)
        last = rows[-1].id
        op.get_bind().execute(sa.text(_USES), {"first": rows[0].id, "last": last})


def _key(text: str) -> str:
    """Return the key as this version makes it: db.tables.documents may change later, and this may not."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())[:LONGEST]
