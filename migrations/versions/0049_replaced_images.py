"""Images that pages had before they were turned are known, so that they stay as long as the page and go with it."""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "replaced_images",
        sa.Column("page_id", sa.String(32), nullable=False),
        sa.Column("image_sha256", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_replaced_images_page_id_pages"),
        sa.PrimaryKeyConstraint("page_id", "image_sha256", name="pk_replaced_images"),
    )
    op.create_index("ix_replaced_images_image_sha256", "replaced_images", ["image_sha256"])


def downgrade() -> None:
    op.drop_table("replaced_images")
