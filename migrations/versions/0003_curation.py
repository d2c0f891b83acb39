"""Signatures of pages, by which near-duplicates are known. Documents that are there get theirs from `glossator documents sign`."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "page_signatures",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("page_id", sa.String(length=32), nullable=False),
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.Column("group_id", sa.String(length=32), nullable=False),
        sa.Column("picture", sa.String(length=64), nullable=False),
        sa.Column("words", JSON, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["document_groups.id"], name=op.f("fk_page_signatures_group_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_page_signatures")),
        sa.UniqueConstraint("page_id", name=op.f("uq_page_signatures_page_id")),
    )
    op.create_index(op.f("ix_page_signatures_document_id"), "page_signatures", ["document_id"], unique=False)
    op.create_index(op.f("ix_page_signatures_group_id"), "page_signatures", ["group_id"], unique=False)
    op.create_table(
        "signature_bands",
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("signature_id", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["signature_id"], ["page_signatures.id"], name=op.f("fk_signature_bands_signature_id")),
        sa.PrimaryKeyConstraint("key", "signature_id", name=op.f("pk_signature_bands")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("signature_bands")
    op.drop_index(op.f("ix_page_signatures_group_id"), table_name="page_signatures")
    op.drop_index(op.f("ix_page_signatures_document_id"), table_name="page_signatures")
    op.drop_table("page_signatures")
