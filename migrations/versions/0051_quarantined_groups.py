"""Documents in quarantine are found without reading all groups of a project."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

_QUARANTINED = sa.text("quarantined_at IS NOT NULL")


def upgrade() -> None:
    op.create_index(
        "ix_document_groups_quarantined",
        "document_groups",
        ["project_id"],
        sqlite_where=_QUARANTINED,
        postgresql_where=_QUARANTINED,
    )


def downgrade() -> None:
    op.drop_index("ix_document_groups_quarantined", "document_groups")
