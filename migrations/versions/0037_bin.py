"""Removed documents lie in a bin: a hidden project of their project's own. Rows follow the project of their document."""

import sqlalchemy as sa
from alembic import op

from db.refusals import DowngradeRefused

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

# Table -> the column by which a new row finds its document, and the document's id by that column.
_OF_DOCUMENT = "NEW.document_id"
_OF_TASK = "(SELECT document_id FROM tasks WHERE id = NEW.task_id)"
_OF_ANSWER = "(SELECT document_id FROM annotations WHERE id = NEW.annotation_id)"
_FOLLOWING = {
    "annotations": _OF_DOCUMENT,
    "tasks": _OF_DOCUMENT,
    "survey_answers": _OF_DOCUMENT,
    "automatic_answers": _OF_TASK,
    "skips": _OF_TASK,
    "left_tasks": _OF_TASK,
    "part_answers": _OF_TASK,
    "second_looks": _OF_ANSWER,
}


def upgrade() -> None:
    with op.batch_alter_table("projects") as projects:
        projects.add_column(sa.Column("bin_of", sa.String(32), nullable=True))
        projects.create_foreign_key("fk_projects_bin_of_projects", "projects", ["bin_of"], ["id"])
        projects.create_index("ix_projects_bin_of", ["bin_of"])
    op.create_table(
        "removed_documents",
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("removed_by", sa.String(32), nullable=True),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("erasing", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.ForeignKeyConstraint(
            ["document_id"], ["documents.id"], name="fk_removed_documents_document_id_documents", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_removed_documents_project_id_projects"),
        sa.ForeignKeyConstraint(["removed_by"], ["users.id"], name="fk_removed_documents_removed_by_users"),
        sa.PrimaryKeyConstraint("document_id", name="pk_removed_documents"),
    )
    op.create_index("ix_removed_documents_newest", "removed_documents", ["project_id", "removed_at", "document_id"])
    op.create_index("ix_removed_documents_removed_at", "removed_documents", ["removed_at"])
    op.create_index("ix_audit_entries_subject", "audit_entries", ["subject"])
    if op.get_bind().dialect.name == "sqlite":
        for table, document in _FOLLOWING.items():
            project = f"(SELECT project_id FROM documents WHERE id = {document})"
            op.execute(
                f"CREATE TRIGGER {table}_follow_document AFTER INSERT ON {table} WHEN NEW.project_id <> {project} "
                f"BEGIN UPDATE {table} SET project_id = {project} WHERE rowid = NEW.rowid; END"
            )
        return
    for table, document in _FOLLOWING.items():
        # The lock waits for a removal that goes on, and then sees where the document is.
        op.execute(
            f"CREATE FUNCTION {table}_follow_document() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"SELECT project_id INTO NEW.project_id FROM documents WHERE id = {document} FOR KEY SHARE; "
            "RETURN NEW; END $$"
        )
        op.execute(
            f"CREATE TRIGGER {table}_follow_document BEFORE INSERT ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {table}_follow_document()"
        )


def downgrade() -> None:
    postgresql = op.get_bind().dialect.name == "postgresql"
    if op.get_bind().scalar(sa.text("SELECT count(*) FROM removed_documents")):
        raise DowngradeRefused("Documents lie in the bin. Restore them or empty the bin first.")
    for table in _FOLLOWING:
        op.execute(f"DROP TRIGGER {table}_follow_document" + (f" ON {table}" if postgresql else ""))
        if postgresql:
            op.execute(f"DROP FUNCTION {table}_follow_document()")
    op.drop_index("ix_audit_entries_subject", "audit_entries")
    op.drop_table("removed_documents")
    for table in ("task_counts", "project_figures", "mask_counts", "queue_days", "value_counts", "review_counts"):
        op.execute(f"DELETE FROM {table} WHERE project_id IN (SELECT id FROM projects WHERE bin_of IS NOT NULL)")
    op.execute("DELETE FROM projects WHERE bin_of IS NOT NULL")
    with op.batch_alter_table("projects") as projects:
        projects.drop_index("ix_projects_bin_of")
        projects.drop_constraint("fk_projects_bin_of_projects", type_="foreignkey")
        projects.drop_column("bin_of")
