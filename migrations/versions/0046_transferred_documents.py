"""Documents are moved and copied between projects."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "transferred_documents",
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("origin_id", sa.String(32), nullable=False),
        sa.Column("batch", sa.String(32), nullable=False),
        sa.Column("moved", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name="fk_transferred_documents_document_id_documents", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("document_id", name="pk_transferred_documents"),
    )
    op.create_index("ix_transferred_documents_origin_id", "transferred_documents", ["origin_id"])
    op.create_index("ix_transferred_documents_batch", "transferred_documents", ["batch", "origin_id"])


def downgrade() -> None:
    op.drop_table("transferred_documents")
