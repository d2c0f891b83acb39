"""Counting the logins that are valid reads those, and not the ended ones of months."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

_NAME, _TABLE = "ix_login_sessions_standing", "login_sessions"
_STANDING = sa.text("revoked_at IS NULL")


def upgrade() -> None:
    op.create_index(_NAME, _TABLE, ["expires_at"], sqlite_where=_STANDING, postgresql_where=_STANDING)


def downgrade() -> None:
    op.drop_index(_NAME, _TABLE)
