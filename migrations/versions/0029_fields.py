"""Fields: every standard question gets a name and the type text; answers name the version they were given under."""

import re
import unicodedata
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_JSON = sa.JSON().with_variant(JSONB(), "postgresql")
_AT_ONCE = 500


def upgrade() -> None:
    fields = op.create_table(
        "fields",
        sa.Column("question_id", sa.String(32), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(60), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("definition", _JSON, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name="fk_fields_project_id_projects"),
        sa.ForeignKeyConstraint(["question_id"], ["questions.id"], name="fk_fields_question_id_questions"),
        sa.PrimaryKeyConstraint("question_id", name="pk_fields"),
        sa.UniqueConstraint("project_id", "name", name="uq_fields_project_id_name"),
    )
    versions = op.create_table(
        "field_versions",
        sa.Column("question_id", sa.String(32), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("definition", _JSON, nullable=False),
        sa.Column("created_by", sa.String(32), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name="fk_field_versions_created_by_users"),
        sa.ForeignKeyConstraint(["question_id"], ["fields.question_id"], name="fk_field_versions_question_id_fields"),
        sa.PrimaryKeyConstraint("question_id", "number", name="pk_field_versions"),
    )
    op.add_column("revisions", sa.Column("field_version", sa.Integer(), nullable=True))
    _define_standard_questions(fields, versions)


def downgrade() -> None:
    with op.batch_alter_table("revisions") as batch:
        batch.drop_column("field_version")
    op.drop_table("field_versions")
    op.drop_table("fields")


def _define_standard_questions(fields: sa.Table, versions: sa.Table) -> None:
    """Give every standard question a field: text, named after the place in its project's list."""
    connection = op.get_bind()
    standard = sa.text(
        "SELECT id, project_id, text, position, created_by FROM questions WHERE standard ORDER BY project_id, position, id"
    )
    moment = datetime.now(UTC)
    rows, first = [], []
    taken: set[tuple[str, str]] = set()
    for question in connection.execute(standard).all():
        name = plain = _name(question.text) or f"field_{question.position + 1}"
        number = 2
        while (question.project_id, name) in taken:
            name, number = f"{plain}_{number}", number + 1
        taken.add((question.project_id, name))
        definition = {
            "name": name, "question": question.text, "type": "string", "guideline": "", "several": False,
            "required": False, "examples": [], "choices": [], "currency": None, "country": None, "rules": [],
            "confidence": None,
        }  # fmt: skip
        held = {"question_id": question.id, "definition": definition}
        rows.append({**held, "project_id": question.project_id, "name": name, "version": 1})
        first.append({**held, "number": 1, "created_by": question.created_by, "created_at": moment})
    for start in range(0, len(rows), _AT_ONCE):
        op.bulk_insert(fields, rows[start : start + _AT_ONCE])
        op.bulk_insert(versions, first[start : start + _AT_ONCE])


def _name(question: str) -> str:
    """Return a name made of a question's Latin words: invoice_number of "What is the invoice number?"."""
    asked = re.sub(
        r"^(what|which|who|when|where|how)('s)?\s+((is|are)\s+)?((the|this)\s+)?", "", question.lower().strip()
    )
    plain = unicodedata.normalize("NFKD", asked).encode("ascii", "ignore").decode()
    name = "_".join(re.findall(r"[a-z0-9]+", plain))[:50].strip("_")
    return name if not name or name[0].isalpha() else f"field_{name}"
