"""Questions go to the bin with their answers."""

import sqlalchemy as sa
from alembic import op

from db.refusals import DowngradeRefused

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

_INDEX = "ix_annotations_removed_with_question"


def upgrade() -> None:
    op.create_table(
        "removed_questions",
        sa.Column("question_id", sa.String(32), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("standard", sa.Boolean(), nullable=False),
        sa.Column("removed_by", sa.String(32), nullable=True),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("erasing", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.ForeignKeyConstraint(["question_id"], ["questions.id"], name="fk_removed_questions_question_id_questions"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_removed_questions_project_id_projects"),
        sa.ForeignKeyConstraint(["removed_by"], ["users.id"], name="fk_removed_questions_removed_by_users"),
        sa.PrimaryKeyConstraint("question_id", name="pk_removed_questions"),
    )
    op.create_index("ix_removed_questions_newest", "removed_questions", ["project_id", "removed_at", "question_id"])
    # A plain column: SQLite would copy the table for more, and lose its triggers.
    op.add_column(
        "annotations", sa.Column("removed_with_question", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_index(
        _INDEX,
        "annotations",
        ["document_id"],
        sqlite_where=sa.text("removed_with_question = 1"),
        postgresql_where=sa.text("removed_with_question"),
    )


def downgrade() -> None:
    if op.get_bind().scalar(sa.text("SELECT count(*) FROM removed_questions")):
        raise DowngradeRefused("Questions lie in the bin. Restore them or delete them for good first.")
    op.drop_index(_INDEX, "annotations")
    op.drop_column("annotations", "removed_with_question")
    op.drop_table("removed_questions")
