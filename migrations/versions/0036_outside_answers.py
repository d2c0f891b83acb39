"""Answers of models of others, which wait for people; a prediction may be of such a model."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

_TABLE = "outside_answers"
_REFERRING = ("predictions", "revisions")


def _reference(column: str, table: str) -> list[sa.schema.SchemaItem]:
    key = sa.ForeignKeyConstraint([column], [f"{table}.id"], name=f"fk_{_TABLE}_{column}_{table}")
    return [sa.Column(column, sa.String(32), nullable=False), key]


def upgrade() -> None:
    op.create_table(
        _TABLE,
        *_reference("document_id", "documents"),
        *_reference("question_id", "questions"),
        sa.Column("model", sa.String(100), nullable=False),
        *_reference("page_id", "pages"),
        sa.Column("words_version", sa.Integer(), nullable=False),
        sa.Column("answer", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("document_id", "question_id", "model", name=f"pk_{_TABLE}"),
    )
    _allow_no_version(nullable=True)


def downgrade() -> None:
    of_others = "SELECT id FROM predictions WHERE model_version_id IS NULL"
    op.execute(f"UPDATE revisions SET prediction_id = NULL WHERE prediction_id IN ({of_others})")
    op.execute("DELETE FROM predictions WHERE model_version_id IS NULL")
    _allow_no_version(nullable=False)
    op.drop_table(_TABLE)


def _allow_no_version(*, nullable: bool) -> None:
    with op.batch_alter_table("predictions") as predictions:
        predictions.alter_column("model_version_id", existing_type=sa.String(32), nullable=nullable)
    if op.get_bind().dialect.name != "sqlite":
        return
    for table in _REFERRING:  # SQLite did not look at them while the table was replaced (db.migrate)
        broken = op.get_bind().exec_driver_sql(f"PRAGMA foreign_key_check({table})").first()
        if broken is not None:
            raise RuntimeError(f"A row of {table} refers to a row of {broken[2]} that does not exist.")
