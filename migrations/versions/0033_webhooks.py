"""Webhooks: addresses that hear of events, their secrets, and the messages to them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)
_WAITING = sa.text("state = 'waiting'")
_HELD = sa.text("held_until IS NOT NULL")
_DELIVERIES = "webhook_deliveries"


def _project(table: str) -> list[sa.schema.SchemaItem]:
    key = sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=f"fk_{table}_project_id_projects")
    return [sa.Column("project_id", sa.String(32), nullable=False), key]


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(32), nullable=False),
        *_project("webhooks"),
        sa.Column("url", sa.String(2000), nullable=False),
        sa.Column("events", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("enabled", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("off_reason", sa.String(300), nullable=False),
        sa.Column("failing_since", _MOMENT, nullable=True),
        sa.Column("created_by", sa.String(32), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name="fk_webhooks_created_by_users"),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    op.create_index("ix_webhooks_newest", "webhooks", ["project_id", "created_at", "id"])
    op.create_table(
        "webhook_secrets",
        sa.Column("id", sa.String(32), nullable=False),
        *_project("webhook_secrets"),
        sa.Column("webhook_id", sa.String(32), nullable=True),
        sa.Column("secret", sa.String(80), nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_secrets"),
    )
    op.create_index("ix_webhook_secrets_of", "webhook_secrets", ["project_id", "webhook_id"])
    op.create_table(
        _DELIVERIES,
        sa.Column("id", sa.String(32), nullable=False),
        *_project(_DELIVERIES),
        sa.Column("webhook_id", sa.String(32), nullable=True),
        sa.Column("url", sa.String(2000), nullable=True),
        sa.Column("event", sa.String(40), nullable=False),
        sa.Column("key", sa.String(80), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("forgets", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", _MOMENT, nullable=False),
        sa.Column("held_until", _MOMENT, nullable=True),
        sa.Column("code", sa.Integer(), nullable=True),
        sa.Column("error", sa.String(300), nullable=False),
        sa.Column("tried_at", _MOMENT, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.CheckConstraint("state in ('waiting', 'sent', 'failed')", name="ck_webhook_deliveries_state"),
        sa.UniqueConstraint("webhook_id", "key", name="uq_webhook_deliveries_webhook_id_key"),
        sa.PrimaryKeyConstraint("id", name="pk_webhook_deliveries"),
    )
    for name, columns, where in (
        ("due", ["next_at", "id"], _WAITING),
        ("held", ["held_until"], _HELD),
        ("newest", ["project_id", "id"], None),
        ("state", ["project_id", "state", "id"], None),
        ("webhook", ["webhook_id", "state", "id"], None),
    ):
        op.create_index(f"ix_{_DELIVERIES}_{name}", _DELIVERIES, columns, sqlite_where=where, postgresql_where=where)
    # Events begin now: what happened before was nobody's to hear.
    op.execute(
        "INSERT INTO followers (name, cursor, writes, attempts) "
        "SELECT 'webhooks', coalesce(max(id), 0), 0, 0 FROM changes"
    )


def downgrade() -> None:
    op.execute("DELETE FROM followers WHERE name = 'webhooks'")
    for table in (_DELIVERIES, "webhook_secrets", "webhooks"):
        op.drop_table(table)
