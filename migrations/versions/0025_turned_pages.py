"""A page says who turned it by hand: OCR does not turn it any more."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("pages") as pages:
        pages.add_column(sa.Column("turned_by", sa.String(32), nullable=True))
        pages.create_foreign_key("fk_pages_turned_by_users", "users", ["turned_by"], ["id"])


def downgrade() -> None:
    with op.batch_alter_table("pages") as pages:
        pages.drop_constraint("fk_pages_turned_by_users", type_="foreignkey")
        pages.drop_column("turned_by")
