"""Labels that wait for a reviewer are kept with their numbers, so that the queue does not read all label reviews."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_WAITING = """INSERT INTO waiting_looks (annotation_id, project_id, author_id, editor_id)
SELECT DISTINCT a.id, a.project_id, a.author_id, r.author_id FROM second_looks s
JOIN annotations a ON a.id = s.annotation_id
JOIN revisions r ON r.annotation_id = a.id AND r.number = a.head
WHERE a.status <> 'removed' AND s.verdict IS NULL AND s.revision_id = r.id AND r.status IN ('accepted', 'fixed')"""
_COUNTS = """INSERT INTO look_counts (project_id, person_id, number)
SELECT project_id, person_id, count(*) FROM (
    SELECT project_id, '' AS person_id FROM waiting_looks
    UNION ALL SELECT project_id, author_id FROM waiting_looks
    UNION ALL SELECT project_id, editor_id FROM waiting_looks WHERE editor_id <> author_id
) AS each_one GROUP BY project_id, person_id"""


def upgrade() -> None:
    op.create_table(
        "waiting_looks",
        sa.Column("annotation_id", sa.String(32), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("author_id", sa.String(32), nullable=False),
        sa.Column("editor_id", sa.String(32), nullable=False),
        sa.ForeignKeyConstraint(
            ["annotation_id"], ["annotations.id"], name=op.f("fk_waiting_looks_annotation_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_waiting_looks_project_id")),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_waiting_looks_author_id")),
        sa.ForeignKeyConstraint(["editor_id"], ["users.id"], name=op.f("fk_waiting_looks_editor_id")),
        sa.PrimaryKeyConstraint("annotation_id", name=op.f("pk_waiting_looks")),
    )
    op.create_index(op.f("ix_waiting_looks_project_id"), "waiting_looks", ["project_id"])
    op.create_table(
        "look_counts",
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_look_counts_project_id")),
        sa.PrimaryKeyConstraint("project_id", "person_id", name=op.f("pk_look_counts")),
    )
    op.execute(_WAITING)
    op.execute(_COUNTS)


def downgrade() -> None:
    op.drop_table("look_counts")
    op.drop_table("waiting_looks")
