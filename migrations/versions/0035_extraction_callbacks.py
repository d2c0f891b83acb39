"""Callbacks of extractions: papers whose values somebody still waits for."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

_TABLE = "extraction_callbacks"
_MOMENT = sa.DateTime(timezone=True)
_DUE = sa.text("due_at IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        _TABLE,
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("url", sa.String(2000), nullable=False),
        sa.Column("awaited", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=True),
        sa.Column("due_at", _MOMENT, nullable=True),
        sa.Column("held_until", _MOMENT, nullable=True),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=f"fk_{_TABLE}_project_id_projects"),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name=f"fk_{_TABLE}_document_id_documents", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["person_id"], ["users.id"], name=f"fk_{_TABLE}_person_id_users"),
        sa.PrimaryKeyConstraint("id", name=f"pk_{_TABLE}"),
    )
    op.create_index(f"ix_{_TABLE}_document_id", _TABLE, ["document_id"])
    op.create_index(f"ix_{_TABLE}_project_id", _TABLE, ["project_id"])
    op.create_index(f"ix_{_TABLE}_due", _TABLE, ["due_at", "id"], sqlite_where=_DUE, postgresql_where=_DUE)
    op.execute(
        "INSERT INTO followers (name, cursor, writes, attempts) "
        f"SELECT '{_TABLE}', coalesce(max(id), 0), 0, 0 FROM changes"
    )


def downgrade() -> None:
    op.execute(f"DELETE FROM followers WHERE name = '{_TABLE}'")
    op.drop_table(_TABLE)
