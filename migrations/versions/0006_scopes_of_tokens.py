"""What tokens may do, and when they were used last. Tokens of before keep all rights of their person."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("login_sessions") as sessions:
        sessions.add_column(sa.Column("scope", sa.String(length=20), nullable=True))
        sessions.add_column(sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True))
        sessions.create_check_constraint(op.f("ck_login_sessions_scope"), "scope in ('read', 'annotate', 'admin')")
    op.execute("update login_sessions set scope = 'admin' where client like 'token: %'")
    op.create_index("ix_login_attempts_created_at", "login_attempts", ["created_at"])


def downgrade() -> None:
    op.drop_index("ix_login_attempts_created_at", table_name="login_attempts")
    # A version that knows no scopes would give such a token all rights of its person.
    op.execute(
        "update login_sessions set revoked_at = created_at where scope in ('read', 'annotate') and revoked_at is null"
    )
    with op.batch_alter_table("login_sessions") as sessions:
        sessions.drop_constraint(op.f("ck_login_sessions_scope"), type_="check")
        sessions.drop_column("last_used_at")
        sessions.drop_column("scope")
