"""People as providers of single sign-on know them, and what their sessions need."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "identities",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("issuer", sa.String(255), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("user_id", sa.String(32), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("used_at", _MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_identities_user_id_users"),
        sa.UniqueConstraint("issuer", "subject", name="uq_identities_issuer_subject"),
        sa.PrimaryKeyConstraint("id", name="pk_identities"),
    )
    op.create_index("ix_identities_user_id", "identities", ["user_id"])
    op.add_column("login_sessions", sa.Column("id_token", sa.Text(), nullable=True))
    op.add_column("login_sessions", sa.Column("proxy_user", sa.String(255), nullable=True))


def downgrade() -> None:
    op.drop_column("login_sessions", "proxy_user")
    op.drop_column("login_sessions", "id_token")
    op.drop_table("identities")
