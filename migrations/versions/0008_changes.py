"""Changes that open screens follow: what a unit of work changed, kept for an hour."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "changes",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.String(length=32), nullable=True),
        sa.Column("topic", sa.String(length=20), nullable=False),
        sa.Column("subject_id", sa.String(length=32), nullable=True),
        sa.Column("question_id", sa.String(length=32), nullable=True),
        sa.Column("author_id", sa.String(length=32), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_changes")),
    )


def downgrade() -> None:
    op.drop_table("changes")
