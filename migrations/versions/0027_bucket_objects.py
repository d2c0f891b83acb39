"""Objects of buckets as they were taken in last, so that only what is new is read."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "bucket_objects",
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("place", sa.String(64), nullable=False),
        sa.Column("mark", sa.String(200), nullable=False),
        sa.Column("outcome", sa.String(10), nullable=False),
        sa.Column("document_id", sa.String(32), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("outcome in ('document', 'refused')", name=op.f("ck_bucket_objects_outcome")),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name="fk_bucket_objects_document_id_documents"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_bucket_objects_project_id_projects"),
        sa.PrimaryKeyConstraint("project_id", "place", name="pk_bucket_objects"),
    )


def downgrade() -> None:
    op.drop_table("bucket_objects")
