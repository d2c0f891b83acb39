"""The scope of tokens that may extract values and do nothing else."""

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def _allow(*scopes: str) -> None:
    listed = ", ".join(f"'{scope}'" for scope in scopes)
    with op.batch_alter_table("login_sessions") as sessions:
        sessions.drop_constraint(op.f("ck_login_sessions_scope"), type_="check")
        sessions.create_check_constraint(op.f("ck_login_sessions_scope"), f"scope in ({listed})")


def upgrade() -> None:
    _allow("read", "extract", "annotate", "admin")


def downgrade() -> None:
    # A version that does not know the scope would refuse such a token at each request; nothing wider stands for it.
    op.execute("update login_sessions set revoked_at = created_at where scope = 'extract' and revoked_at is null")
    op.execute("update login_sessions set scope = 'read' where scope = 'extract'")
    _allow("read", "annotate", "admin")
