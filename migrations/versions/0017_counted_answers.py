"""Answers of a project are counted by document from an index, without reading their rows."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_INDEX, _COLUMNS = "ix_annotations_standing_of", ["project_id", "status", "author_id", "question_id"]


def upgrade() -> None:
    op.drop_index(_INDEX, table_name="annotations")
    op.create_index(_INDEX, "annotations", [*_COLUMNS, "document_id"])


def downgrade() -> None:
    op.drop_index(_INDEX, table_name="annotations")
    op.create_index(_INDEX, "annotations", _COLUMNS)
