"""Invitations, attempts to log in, tasks, mended words; and members: who could see a project until now goes on seeing it."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

JSON = sa.JSON().with_variant(postgresql.JSONB(), "postgresql")


def upgrade() -> None:
    op.create_table(
        "login_attempts",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("address", sa.String(length=60), nullable=False),
        sa.Column("succeeded", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_login_attempts")),
    )
    op.create_index("ix_login_attempts_address_created_at", "login_attempts", ["address", "created_at"], unique=False)
    op.create_index("ix_login_attempts_name_created_at", "login_attempts", ["name", "created_at"], unique=False)
    op.create_table(
        "invitations",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("token_sha256", sa.String(length=64), nullable=False),
        sa.Column("project_id", sa.String(length=32), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("created_by", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("used_by", sa.String(length=32), nullable=True),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("role in ('admin', 'reviewer', 'annotator')", name=op.f("ck_invitations_role")),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=op.f("fk_invitations_created_by")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_invitations_project_id")),
        sa.ForeignKeyConstraint(["used_by"], ["users.id"], name=op.f("fk_invitations_used_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("token_sha256", name=op.f("uq_invitations_token_sha256")),
    )
    op.create_index(op.f("ix_invitations_project_id"), "invitations", ["project_id"], unique=False)
    op.create_table(
        "word_edits",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("page_id", sa.String(length=32), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("author_id", sa.String(length=32), nullable=False),
        sa.Column("idempotency_key", sa.String(length=64), nullable=False),
        sa.Column("edits", JSON, nullable=False),
        sa.Column("before", JSON, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=op.f("fk_word_edits_author_id")),
        sa.ForeignKeyConstraint(["page_id"], ["pages.id"], name=op.f("fk_word_edits_page_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_word_edits")),
        sa.UniqueConstraint("page_id", "idempotency_key", name=op.f("uq_word_edits_page_id_idempotency_key")),
        sa.UniqueConstraint("page_id", "version", name=op.f("uq_word_edits_page_id_version")),
    )
    op.create_table(
        "tasks",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("project_id", sa.String(length=32), nullable=False),
        sa.Column("document_id", sa.String(length=32), nullable=False),
        sa.Column("question_id", sa.String(length=32), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("gold_revision_id", sa.String(length=32), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name=op.f("fk_tasks_document_id")),
        sa.ForeignKeyConstraint(["gold_revision_id"], ["revisions.id"], name=op.f("fk_tasks_gold_revision_id")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_tasks_project_id")),
        sa.ForeignKeyConstraint(["question_id"], ["questions.id"], name=op.f("fk_tasks_question_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
        sa.UniqueConstraint("document_id", "question_id", name=op.f("uq_tasks_document_id_question_id")),
    )
    op.create_index("ix_tasks_project_id_id", "tasks", ["project_id", "id"], unique=False)
    op.create_index(op.f("ix_tasks_question_id"), "tasks", ["question_id"], unique=False)
    op.add_column("login_sessions", sa.Column("client", sa.String(length=200), nullable=False, server_default=""))
    op.add_column("login_sessions", sa.Column("address", sa.String(length=60), nullable=False, server_default=""))
    op.add_column("pages", sa.Column("words_version", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("questions", sa.Column("position", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("reviews", sa.Column("seconds", sa.Double(), nullable=False, server_default="0"))
    op.add_column("users", sa.Column("preferences", JSON, nullable=False, server_default="{}"))
    # Until now every user saw every project. Only admins do from here on, so everybody else becomes a member.
    op.execute(
        "INSERT INTO members (project_id, user_id, role, created_at) "
        "SELECT projects.id, users.id, users.role, projects.created_at FROM projects CROSS JOIN users "
        "WHERE users.role <> 'admin' AND NOT EXISTS "
        "(SELECT 1 FROM members WHERE members.project_id = projects.id AND members.user_id = users.id)"
    )


def downgrade() -> None:
    op.drop_column("users", "preferences")
    op.drop_column("reviews", "seconds")
    op.drop_column("questions", "position")
    op.drop_column("pages", "words_version")
    op.drop_column("login_sessions", "address")
    op.drop_column("login_sessions", "client")
    op.drop_index(op.f("ix_tasks_question_id"), table_name="tasks")
    op.drop_index("ix_tasks_project_id_id", table_name="tasks")
    op.drop_table("tasks")
    op.drop_table("word_edits")
    op.drop_index(op.f("ix_invitations_project_id"), table_name="invitations")
    op.drop_table("invitations")
    op.drop_index("ix_login_attempts_name_created_at", table_name="login_attempts")
    op.drop_index("ix_login_attempts_address_created_at", table_name="login_attempts")
    op.drop_table("login_attempts")
