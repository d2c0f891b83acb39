"""Changes that all tasks of a project follow go on in pieces; the newest survey answers are found in an index."""

import sqlalchemy as sa
from alembic import op

from db.refusals import DowngradeRefused

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

_GOES_ON = sa.text("finished_at IS NULL")


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "task_changes",
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("place", sa.String(32), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("was_there", sa.Boolean(), nullable=True),
        sa.Column("asked_by", sa.String(32), nullable=True),
        sa.Column("asked_at", moment, nullable=False),
        sa.Column("moved_at", moment, nullable=False),
        sa.Column("finished_at", moment, nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_task_changes_project_id")),
        sa.ForeignKeyConstraint(["asked_by"], ["users.id"], name=op.f("fk_task_changes_asked_by")),
        sa.PrimaryKeyConstraint("project_id", "kind", "person_id", name=op.f("pk_task_changes")),
    )
    op.create_index(
        "ix_task_changes_goes_on", "task_changes", ["moved_at"], sqlite_where=_GOES_ON, postgresql_where=_GOES_ON
    )
    op.create_index("ix_survey_answers_newest", "survey_answers", ["project_id", "model_version_id", "created_at"])
    op.drop_index("ix_survey_answers_project_id_model_version_id", table_name="survey_answers")


def downgrade() -> None:
    pending = op.get_bind().scalar(sa.text("SELECT count(*) FROM task_changes WHERE finished_at IS NULL"))
    if pending:
        raise DowngradeRefused(
            "Tasks still follow a change of questions, settings or members, which the older schema cannot hold. Keep "
            "the server or a worker running until the tab Questions no longer shows it, then downgrade again."
        )
    columns = ["project_id", "model_version_id"]
    op.create_index("ix_survey_answers_project_id_model_version_id", "survey_answers", columns)
    op.drop_index("ix_survey_answers_newest", table_name="survey_answers")
    op.drop_table("task_changes")
