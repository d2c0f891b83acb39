"""Quotas, and the uploaded bytes by project and person."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

_OF_DOCUMENTS = """UPDATE document_figures SET
    bytes = coalesce((SELECT byte_count FROM documents WHERE documents.id = document_figures.document_id), 0),
    uploader_id = coalesce((SELECT created_by FROM documents WHERE documents.id = document_figures.document_id), '')
    WHERE person_id = ''"""
_OF_PROJECTS = """UPDATE project_figures SET bytes = coalesce((SELECT sum(bytes) FROM document_figures
    WHERE document_figures.project_id = project_figures.project_id AND document_figures.person_id = ''), 0)
    WHERE person_id = ''"""
_OF_PEOPLE = """INSERT INTO project_figures
    (project_id, person_id, documents, pages, questions, accepted, compared, bytes)
    SELECT project_id, uploader_id, count(*), 0, 0, 0, 0, sum(bytes) FROM document_figures
    WHERE uploader_id <> '' GROUP BY project_id, uploader_id
    ON CONFLICT (project_id, person_id) DO UPDATE SET documents = excluded.documents, bytes = excluded.bytes"""


def upgrade() -> None:
    for table in ("document_figures", "project_figures"):
        op.add_column(table, sa.Column("bytes", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("document_figures", sa.Column("uploader_id", sa.String(32), nullable=False, server_default=""))
    for statement in (_OF_DOCUMENTS, _OF_PROJECTS, _OF_PEOPLE):
        op.execute(statement)
    op.create_index("ix_project_figures_person_id", "project_figures", ["person_id"])
    op.create_table(
        "quotas",
        sa.Column("subject_id", sa.String(32), nullable=False),
        sa.Column("documents", sa.Integer(), nullable=True),
        sa.Column("megabytes", sa.Integer(), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("subject_id", name="pk_quotas"),
    )


def downgrade() -> None:
    op.drop_table("quotas")
    op.drop_index("ix_project_figures_person_id", "project_figures")
    op.execute("UPDATE project_figures SET documents = 0 WHERE person_id <> ''")
    op.drop_column("document_figures", "uploader_id")
    for table in ("document_figures", "project_figures"):
        op.drop_column(table, "bytes")
