"""Documents are listed in pages and searched by name: a key of the name, and the indexes that lists follow."""

import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

LONGEST = 512
AT_ONCE = 1000  # documents

_documents = sa.table("documents", sa.column("id"), sa.column("name"), sa.column("name_key"))


def upgrade() -> None:
    op.add_column("documents", sa.Column("name_key", sa.String(LONGEST), nullable=False, server_default=""))
    _fill()
    op.create_index("ix_documents_project_id_id", "documents", ["project_id", "id"])
    op.create_index("ix_documents_project_id_name_key_id", "documents", ["project_id", "name_key", "id"])


def downgrade() -> None:
    op.drop_index("ix_documents_project_id_name_key_id", table_name="documents")
    op.drop_index("ix_documents_project_id_id", table_name="documents")
    with op.batch_alter_table("documents") as documents:
        documents.drop_column("name_key")


def _fill() -> None:
    """Fill the keys of the documents that are there, some at a time."""
    last = ""
    update = _documents.update().where(_documents.c.id == sa.bindparam("key_of"))
    while True:
        some = sa.select(_documents.c.id, _documents.c.name).where(_documents.c.id > last)
        rows = op.get_bind().execute(some.order_by(_documents.c.id).limit(AT_ONCE)).all()
        if not rows:
            return
        keys = [{"key_of": document_id, "name_key": _key(name)} for document_id, name in rows]
        op.get_bind().execute(update, keys)
        last = rows[-1].id


def _key(name: str) -> str:
    """Return the key as this version makes it: db.tables.documents may change later, and this may not."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())[:LONGEST]
