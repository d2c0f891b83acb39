"""Pages say that OCR read what their layer lacks; labels whose words are gone are reviewed without a model."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_SOURCES, _KINDS = "'layer', 'ocr', 'given', 'none'", "'elsewhere', 'here', 'not_here'"
_REFERRING = ("words", "word_edits", "predictions", "second_looks", "survey_answers", "pages")
_WAITING = """INSERT INTO waiting_looks (annotation_id, project_id, author_id, editor_id)
SELECT DISTINCT a.id, a.project_id, a.author_id, r.author_id FROM second_looks s
JOIN annotations a ON a.id = s.annotation_id
JOIN revisions r ON r.annotation_id = a.id AND r.number = a.head
WHERE a.status <> 'removed' AND s.verdict IS NULL AND s.revision_id = r.id AND r.status IN ('accepted', 'fixed')"""
_COUNTS = """INSERT INTO look_counts (project_id, person_id, number)
SELECT project_id, person_id, count(*) FROM (
    SELECT project_id, '' AS person_id FROM waiting_looks
    UNION ALL SELECT project_id, author_id FROM waiting_looks
    UNION ALL SELECT project_id, editor_id FROM waiting_looks WHERE editor_id <> author_id
) AS each_one GROUP BY project_id, person_id"""

_pages = sa.table("pages", sa.column("text_source"))
_looks = sa.table("second_looks", sa.column("kind"))


def upgrade() -> None:
    with op.batch_alter_table("pages") as pages:
        pages.drop_constraint(op.f("ck_pages_text_source"), type_="check")
        pages.create_check_constraint(op.f("ck_pages_text_source"), f"text_source in ({_SOURCES}, 'layer+ocr')")
    with op.batch_alter_table("second_looks") as looks:
        looks.drop_constraint(op.f("ck_second_looks_kind"), type_="check")
        looks.create_check_constraint(op.f("ck_second_looks_kind"), f"kind in ({_KINDS}, 'words')")
        looks.alter_column("model_version_id", existing_type=sa.String(32), nullable=True)
    _check_references()


def downgrade() -> None:
    # The version before knows neither: OCR read such pages in part, and a review needs a model.
    op.execute(_pages.update().where(_pages.c.text_source == "layer+ocr").values(text_source="ocr"))
    op.execute(_looks.delete().where(_looks.c.kind == "words"))
    for statement in ("DELETE FROM look_counts", "DELETE FROM waiting_looks", _WAITING, _COUNTS):
        op.execute(statement)  # labels that waited for such a review alone wait no more
    with op.batch_alter_table("second_looks") as looks:
        looks.drop_constraint(op.f("ck_second_looks_kind"), type_="check")
        looks.create_check_constraint(op.f("ck_second_looks_kind"), f"kind in ({_KINDS})")
        looks.alter_column("model_version_id", existing_type=sa.String(32), nullable=False)
    with op.batch_alter_table("pages") as pages:
        pages.drop_constraint(op.f("ck_pages_text_source"), type_="check")
        pages.create_check_constraint(op.f("ck_pages_text_source"), f"text_source in ({_SOURCES})")
    _check_references()


def _check_references() -> None:
    """Check the references that SQLite did not look at while the tables were replaced (db.migrate)."""
    if op.get_bind().dialect.name != "sqlite":
        return
    for table in _REFERRING:
        broken = op.get_bind().exec_driver_sql(f"PRAGMA foreign_key_check({table})").first()
        if broken is not None:
            raise RuntimeError(f"A row of {table} refers to a row of {broken[2]} that does not exist.")
