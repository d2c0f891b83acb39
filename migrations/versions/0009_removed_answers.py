"""Answers can be removed and restored: one more status, and one standing answer of a person to a question."""

import sqlalchemy as sa
from alembic import op

from db.ids import new_id

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_BEFORE = "'draft', 'submitted', 'accepted', 'rejected', 'fixed'"
_STANDING = sa.text("status <> 'removed'")
_KEY = ("document_id", "question_id", "author_id")
_REFERRING = ("revisions", "reviews", "predictions", "second_looks", "annotations")

_annotations = sa.table("annotations", *(sa.column(name) for name in ("id", "project_id", "status", "head", *_KEY)))
_revisions = sa.table("revisions", *(sa.column(name) for name in ("annotation_id", "number", "status")))
_questions = sa.table(
    "questions",
    *(sa.column(name) for name in ("id", "project_id", "text", "standard", "position", "created_by")),
    sa.column("created_at", sa.DateTime(timezone=True)),
)


def upgrade() -> None:
    with op.batch_alter_table("annotations") as annotations:
        annotations.drop_constraint(op.f("ck_annotations_status"), type_="check")
        annotations.create_check_constraint(op.f("ck_annotations_status"), f"status in ({_BEFORE}, 'removed')")
        annotations.drop_constraint(op.f("uq_annotations_document_id_question_id_author_id"), type_="unique")
    op.create_index(
        "uq_annotations_standing",
        "annotations",
        _KEY,
        unique=True,
        sqlite_where=_STANDING,
        postgresql_where=_STANDING,
    )
    op.create_index("ix_annotations_document_id_question_id", "annotations", ["document_id", "question_id"])
    _check_references()


def downgrade() -> None:
    _ask_apart()
    head = (
        sa.select(_revisions.c.status)
        .where(_revisions.c.annotation_id == _annotations.c.id, _revisions.c.number == _annotations.c.head)
        .scalar_subquery()
    )
    # The version before knows no removal: the answers come back.
    op.execute(
        _annotations.update().where(_annotations.c.status == "removed").values(status=sa.func.coalesce(head, "draft"))
    )
    op.drop_index("ix_annotations_document_id_question_id", table_name="annotations")
    op.drop_index("uq_annotations_standing", table_name="annotations")
    with op.batch_alter_table("annotations") as annotations:
        annotations.drop_constraint(op.f("ck_annotations_status"), type_="check")
        annotations.create_check_constraint(op.f("ck_annotations_status"), f"status in ({_BEFORE})")
        annotations.create_unique_constraint(op.f("uq_annotations_document_id_question_id_author_id"), _KEY)
    _check_references()


def _ask_apart() -> None:
    """Give each removed answer that has a successor a question of its own: no two answers of a person to one."""
    other = _annotations.alias()
    follows = (other.c.status != "removed") | (other.c.id > _annotations.c.id)
    same = [other.c[name] == _annotations.c[name] for name in _KEY]
    left = op.get_bind().execute(
        sa.select(_annotations.c.id, _questions)
        .join(_questions, _questions.c.id == _annotations.c.question_id)
        .where(_annotations.c.status == "removed", sa.exists().where(*same, follows))
    )
    for annotation_id, *question in left.all():
        asked = dict(zip(_questions.c.keys(), question, strict=True))
        text = f"{asked['text'][:940]} (removed answer {annotation_id})"
        asked |= {"id": new_id(), "text": text, "standard": False}
        op.get_bind().execute(_questions.insert().values(**asked))
        op.execute(_annotations.update().where(_annotations.c.id == annotation_id).values(question_id=asked["id"]))


def _check_references() -> None:
    """Check the references that SQLite did not look at while the table was replaced (db.migrate)."""
    if op.get_bind().dialect.name != "sqlite":
        return
    for table in _REFERRING:
        broken = op.get_bind().exec_driver_sql(f"PRAGMA foreign_key_check({table})").first()
        if broken is not None:
            raise RuntimeError(f"A row of {table} refers to a row of {broken[2]} that does not exist.")
