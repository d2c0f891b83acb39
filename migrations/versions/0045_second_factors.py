"""Second factors of logins: secrets, recovery codes, and logins that wait for a code."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)


def _user(table: str) -> list[sa.schema.SchemaItem]:
    key = sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=f"fk_{table}_user_id_users")
    return [sa.Column("user_id", sa.String(32), nullable=False), key]


def upgrade() -> None:
    op.create_table(
        "second_factors",
        *_user("second_factors"),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("confirmed_at", _MOMENT, nullable=True),
        sa.Column("last_step", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failed_at", _MOMENT, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("user_id", name="pk_second_factors"),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("id", sa.String(32), nullable=False),
        *_user("recovery_codes"),
        sa.Column("code_sha256", sa.String(64), nullable=False),
        sa.Column("used_at", _MOMENT, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_recovery_codes"),
        sa.UniqueConstraint("code_sha256", name="uq_recovery_codes_code_sha256"),
    )
    op.create_index("ix_recovery_codes_user_id", "recovery_codes", ["user_id"])
    op.create_table(
        "login_steps",
        sa.Column("token_sha256", sa.String(64), nullable=False),
        *_user("login_steps"),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("token_sha256", name="pk_login_steps"),
    )
    op.create_index("ix_login_steps_user_id", "login_steps", ["user_id"])
    op.add_column("login_sessions", sa.Column("second_factor", sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    op.drop_column("login_sessions", "second_factor")
    for table in ("login_steps", "recovery_codes", "second_factors"):
        op.drop_table(table)
