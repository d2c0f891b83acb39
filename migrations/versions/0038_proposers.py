"""Models of others that a project asks, their versions, and the versions by which proposals came about."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

_MOMENT = sa.DateTime(timezone=True)
_PROPOSED = ("predictions", "outside_answers", "finished_masks")


def _reference(column: str, table: str, owner: str, **options: str) -> list[sa.schema.SchemaItem]:
    key = sa.ForeignKeyConstraint([column], [f"{table}.id"], name=f"fk_{owner}_{column}_{table}", **options)
    return [sa.Column(column, sa.String(32), nullable=False), key]


def upgrade() -> None:
    op.create_table(
        "proposers",
        *_reference("project_id", "projects", "proposers"),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("url", sa.String(2000), nullable=False),
        sa.Column("model", sa.String(100), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("api_key", sa.String(1000), nullable=False),
        sa.Column("alone", sa.Boolean(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("automatic_since", _MOMENT, nullable=True),
        *_reference("changed_by", "users", "proposers"),
        sa.Column("changed_at", _MOMENT, nullable=False),
        sa.CheckConstraint("kind in ('openai', 'http')", name="ck_proposers_kind"),
        sa.PrimaryKeyConstraint("project_id", name="pk_proposers"),
    )
    op.create_table(
        "outside_models",
        sa.Column("id", sa.String(32), nullable=False),
        *_reference("project_id", "projects", "outside_models"),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("version", sa.String(100), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        *(
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("requests", "tokens_in", "tokens_out", "milliseconds")
        ),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.UniqueConstraint("project_id", "name", "version", name="uq_outside_models_project_id_name_version"),
        sa.PrimaryKeyConstraint("id", name="pk_outside_models"),
    )
    op.create_index("ix_outside_models_newest", "outside_models", ["project_id", "created_at", "id"])
    op.create_table(
        "outside_readings",
        *_reference("document_id", "documents", "outside_readings", ondelete="CASCADE"),
        sa.Column("asked_sha256", sa.String(64), nullable=False),
        sa.Column("proposed", sa.Integer(), nullable=False),
        sa.Column("not_found", sa.Integer(), nullable=False),
        sa.Column("failure", sa.String(300), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("document_id", name="pk_outside_readings"),
    )
    for table in _PROPOSED:
        op.add_column(table, sa.Column("outside_model_id", sa.String(32), nullable=True))
    op.create_index("ix_finished_masks_outside", "finished_masks", ["project_id", "outside_model_id", "seconds"])


def downgrade() -> None:
    op.drop_index("ix_finished_masks_outside", "finished_masks")
    for table in _PROPOSED:
        op.drop_column(table, "outside_model_id")
    for table in ("outside_readings", "outside_models", "proposers"):
        op.drop_table(table)
