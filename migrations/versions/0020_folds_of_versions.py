"""A version keeps the weights of its folds, by which it is judged on documents that the weights in use learned from."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    json = sa.JSON().with_variant(JSONB(), "postgresql")
    op.add_column("model_versions", sa.Column("fold_sha256s", json, nullable=False, server_default="[]"))


def downgrade() -> None:
    op.drop_column("model_versions", "fold_sha256s")
