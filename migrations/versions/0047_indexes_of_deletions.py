"""Deleting a document reads what names its pages, answers and signatures, and not whole tables."""

from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

_COLUMNS = (
    ("automatic_answers", "page_id"),
    ("bucket_objects", "document_id"),
    ("outside_answers", "page_id"),
    ("predictions", "model_version_id"),
    ("predictions", "page_id"),
    ("predictions", "question_id"),
    ("reviews", "revision_id"),
    ("second_looks", "page_id"),
    ("second_looks", "revision_id"),
    ("signature_bands", "signature_id"),
    ("survey_answers", "page_id"),
)


def upgrade() -> None:
    for table, column in _COLUMNS:
        op.create_index(f"ix_{table}_{column}", table, [column])


def downgrade() -> None:
    for table, column in _COLUMNS:
        op.drop_index(f"ix_{table}_{column}", table)
