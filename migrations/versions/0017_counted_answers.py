"""Answers of a project, and automatic ones, are counted from an index, without reading their rows.

The index of answers that somebody else has edited gets the status: SQLite takes the index with most columns that are
given, and would take the larger one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_INDEX, _COLUMNS = "ix_annotations_standing_of", ["project_id", "status", "author_id", "question_id"]
_AUTOMATIC = "automatic_answers"
_BEFORE, _IN_FORCE = "ix_automatic_answers_project_id_withdrawn_at", "ix_automatic_answers_in_force"
_BY_EDITOR, _EDITED = "ix_annotations_edited_by", sa.text("status = 'submitted' AND edited_by IS NOT NULL")


def upgrade() -> None:
    _again([*_COLUMNS, "document_id"], ["project_id", "status", "edited_by"])
    op.drop_index(_BEFORE, table_name=_AUTOMATIC)
    op.create_index(_IN_FORCE, _AUTOMATIC, ["project_id", "withdrawn_at", "verdict"])


def downgrade() -> None:
    op.drop_index(_IN_FORCE, table_name=_AUTOMATIC)
    op.create_index(_BEFORE, _AUTOMATIC, ["project_id", "withdrawn_at"])
    _again(_COLUMNS, ["project_id", "edited_by"])


def _again(standing_of: list[str], edited_by: list[str]) -> None:
    op.drop_index(_INDEX, table_name="annotations")
    op.create_index(_INDEX, "annotations", standing_of)
    op.drop_index(_BY_EDITOR, table_name="annotations")
    op.create_index(_BY_EDITOR, "annotations", edited_by, sqlite_where=_EDITED, postgresql_where=_EDITED)
