"""Pages have the fields of their file's form, with their places and values."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "form_widgets",
        sa.Column("page_id", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(10), nullable=False),
        sa.Column("x0", sa.Integer(), nullable=False),
        sa.Column("y0", sa.Integer(), nullable=False),
        sa.Column("x1", sa.Integer(), nullable=False),
        sa.Column("y1", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("ticked", sa.Boolean(), nullable=True),
        sa.Column("on_state", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON().with_variant(JSONB(), "postgresql"), nullable=False),
        sa.Column("read_only", sa.Boolean(), nullable=False),
        sa.Column("printed", sa.Text(), nullable=False),
        sa.Column("asked", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "kind in ('text', 'checkbox', 'radio', 'choice', 'list', 'signature')", name="ck_form_widgets_kind"
        ),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name="fk_form_widgets_page_id_pages"),
        sa.PrimaryKeyConstraint("page_id", "number", name="pk_form_widgets"),
    )


def downgrade() -> None:
    op.drop_table("form_widgets")
