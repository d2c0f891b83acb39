"""Files and page images are found by their SHA-256."""

from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_documents_sha256", "documents", ["sha256"])
    op.create_index("ix_pages_image_sha256", "pages", ["image_sha256"])


def downgrade() -> None:
    op.drop_index("ix_pages_image_sha256", "pages")
    op.drop_index("ix_documents_sha256", "documents")
