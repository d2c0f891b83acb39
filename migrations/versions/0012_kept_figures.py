"""Figures are kept as the work happens: finished masks and documents, and the depth of the queue by day."""

import datetime

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

AT_ONCE = 2000  # answers

_COLUMNS = "annotation_id, project_id, document_id, question_id, version_id, person_id, at, day, seconds, unchanged"
_MASKS = """INSERT INTO finished_masks ({columns})
SELECT last.annotation_id, a.project_id, a.document_id, a.question_id,
    coalesce(named.model_version_id, (SELECT p.model_version_id FROM predictions p
        WHERE p.annotation_id = opened.annotation_id AND p.created_at <= opened.created_at
        ORDER BY p.created_at DESC, p.id DESC LIMIT 1)),
    last.author_id, last.created_at, {day},
    (SELECT sum(w.seconds) FROM revisions w WHERE w.annotation_id = first.annotation_id AND w.number <= first.number),
    last.number = 1 AND NOT {changes} AND NOT EXISTS (SELECT 1 FROM reviews r
        WHERE r.annotation_id = opened.annotation_id AND r.verdict IN ('rejected', 'fixed'))
FROM (SELECT r.annotation_id, min(r.number) AS number FROM revisions r JOIN annotations a ON a.id = r.annotation_id
    WHERE r.action IN ('accept', 'submit') AND a.status <> 'removed' AND a.id > :first AND a.id <= :last
    GROUP BY r.annotation_id) AS first
JOIN annotations a ON a.id = first.annotation_id
JOIN revisions last ON last.annotation_id = first.annotation_id AND last.number = first.number
JOIN revisions opened ON opened.annotation_id = first.annotation_id AND opened.number = 1
LEFT JOIN predictions named ON named.id = opened.prediction_id"""
_COUNTS = """INSERT INTO mask_counts (project_id, day, person_id, version_id, masks, timed, unchanged)
SELECT project_id, day, person_id, coalesce(version_id, ''), count(*), count(*) FILTER (WHERE seconds > 0),
    count(*) FILTER (WHERE unchanged) FROM finished_masks GROUP BY project_id, day, person_id, version_id"""
_DOCUMENTS = """INSERT INTO finished_documents (document_id, project_id, chosen_by, pages, corrections)
SELECT document_id, project_id, min(chosen_by),
    (SELECT count(*) FROM pages WHERE pages.document_id = one.document_id), count(*) - sum(unchanged)
FROM (SELECT t.document_id, t.project_id, t.chosen_by, (SELECT min(CAST(m.unchanged AS integer)) FROM finished_masks m
        WHERE m.document_id = t.document_id AND m.question_id = t.question_id) AS unchanged
    FROM tasks t WHERE t.closed_at IS NULL) AS one
GROUP BY document_id, project_id
HAVING count(*) = count(unchanged) AND count(*) = count(chosen_by) AND min(chosen_by) = max(chosen_by)
    AND min(chosen_by) IN ('model', 'random')"""
_OPENED = "SELECT project_id, {day} AS day, count(*) AS open, 0 AS submitted FROM tasks GROUP BY 1, 2"
_ENDED = """SELECT project_id, {day} AS day, -count(*) AS open, 0 AS submitted
FROM (SELECT project_id, CASE WHEN min(at) < opened THEN opened ELSE min(at) END AS at FROM (
    SELECT t.id, t.project_id, t.created_at AS opened, o.at FROM (
        SELECT document_id, question_id, at,
            row_number() OVER (PARTITION BY document_id, question_id ORDER BY at) AS place
        FROM (SELECT a.document_id, a.question_id, min(r.created_at) AS at
            FROM annotations a JOIN revisions r ON r.annotation_id = a.id
            WHERE a.status IN ('submitted', 'accepted', 'fixed') AND r.status IN ('submitted', 'accepted', 'fixed')
            GROUP BY a.id, a.document_id, a.question_id) AS finished) AS o
        JOIN tasks t ON t.document_id = o.document_id AND t.question_id = o.question_id AND o.place = t.wanted
    UNION ALL SELECT t.id, t.project_id, t.created_at, s.created_at FROM automatic_answers s
        JOIN tasks t ON t.id = s.task_id WHERE s.withdrawn_at IS NULL AND s.verdict IS NULL AND s.audit = {false}
    UNION ALL SELECT id, project_id, created_at, closed_at FROM tasks WHERE closed_at IS NOT NULL) AS ends
    GROUP BY id, project_id, opened) AS ended GROUP BY 1, 2"""
_REVIEWED = """SELECT project_id, {day} AS day, 0 AS open,
    count(*) FILTER (WHERE status = 'submitted' AND before <> 'submitted')
    - count(*) FILTER (WHERE status <> 'submitted' AND before = 'submitted') AS submitted
FROM (SELECT a.project_id, r.created_at AS at, r.status,
        coalesce(lag(r.status) OVER (PARTITION BY r.annotation_id ORDER BY r.number), '') AS before
    FROM revisions r JOIN annotations a ON a.id = r.annotation_id WHERE a.status <> 'removed') AS steps GROUP BY 1, 2"""
_ADD = "INSERT INTO queue_days (project_id, day, open, submitted) "
_DAYS = (
    "SELECT project_id, day, sum(open), sum(submitted) FROM ({opened} UNION ALL {ended} UNION ALL {reviewed}) AS moved"
)
_APART = """SELECT p.id,
    (SELECT coalesce(sum(number), 0) FROM task_counts c
        WHERE c.project_id = p.id AND c.state IN ('open', 'partly', 'returned'))
    - (SELECT coalesce(sum(open), 0) FROM queue_days d WHERE d.project_id = p.id) AS open,
    (SELECT count(*) FROM annotations a WHERE a.project_id = p.id AND a.status = 'submitted')
    - (SELECT coalesce(sum(submitted), 0) FROM queue_days d WHERE d.project_id = p.id) AS submitted
FROM projects p"""


def upgrade() -> None:
    _create()
    postgresql = op.get_bind().dialect.name == "postgresql"
    day = "date(timezone('UTC', {at}))" if postgresql else "date({at})"
    edited = (
        """jsonb_path_exists(last.edits, '$[*] ? (@.op != "prompts")')"""
        if postgresql
        else "EXISTS (SELECT 1 FROM json_each(last.edits) e WHERE json_extract(e.value, '$.op') <> 'prompts')"
    )
    _in_pieces(_MASKS.format(columns=_COLUMNS, day=day.format(at="last.created_at"), changes=edited))
    op.execute(_COUNTS)
    op.execute(_DOCUMENTS)
    days = _DAYS.format(
        opened=_OPENED.format(day=day.format(at="created_at")),
        ended=_ENDED.format(day=day.format(at="at"), false="false" if postgresql else "0"),
        reviewed=_REVIEWED.format(day=day.format(at="at")),
    )
    op.execute(f"{_ADD}{days} GROUP BY project_id, day")
    _settle()


def downgrade() -> None:
    for table in ("queue_days", "finished_documents", "mask_counts", "finished_masks"):
        op.drop_table(table)


def _create() -> None:
    op.create_table(
        "finished_masks",
        sa.Column("annotation_id", sa.String(32), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("question_id", sa.String(32), nullable=False),
        sa.Column("version_id", sa.String(32), nullable=True),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("seconds", sa.Double(), nullable=False),
        sa.Column("unchanged", sa.Boolean(), nullable=False),
        *_references(
            "finished_masks",
            annotation_id="annotations",
            project_id="projects",
            document_id="documents",
            question_id="questions",
            version_id="model_versions",
            person_id="users",
        ),
        sa.PrimaryKeyConstraint("annotation_id", name=op.f("pk_finished_masks")),
    )
    op.create_index("ix_finished_masks_question", "finished_masks", ["document_id", "question_id"])
    op.create_index("ix_finished_masks_person", "finished_masks", ["project_id", "person_id", "seconds", "day"])
    op.create_index("ix_finished_masks_version", "finished_masks", ["project_id", "version_id", "seconds"])
    op.create_table(
        "mask_counts",
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("person_id", sa.String(32), nullable=False),
        sa.Column("version_id", sa.String(32), nullable=False),
        sa.Column("masks", sa.Integer(), nullable=False),
        sa.Column("timed", sa.Integer(), nullable=False),
        sa.Column("unchanged", sa.Integer(), nullable=False),
        *_references("mask_counts", project_id="projects", person_id="users"),
        sa.PrimaryKeyConstraint("project_id", "day", "person_id", "version_id", name=op.f("pk_mask_counts")),
    )
    op.create_table(
        "finished_documents",
        sa.Column("document_id", sa.String(32), nullable=False),
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("chosen_by", sa.String(10), nullable=False),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("corrections", sa.Integer(), nullable=False),
        *_references("finished_documents", document_id="documents", project_id="projects"),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_finished_documents")),
    )
    op.create_index(
        "ix_finished_documents_of", "finished_documents", ["project_id", "chosen_by", "pages", "corrections"]
    )
    op.create_table(
        "queue_days",
        sa.Column("project_id", sa.String(32), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("open", sa.Integer(), nullable=False),
        sa.Column("submitted", sa.Integer(), nullable=False),
        *_references("queue_days", project_id="projects"),
        sa.PrimaryKeyConstraint("project_id", "day", name=op.f("pk_queue_days")),
    )


def _references(table: str, **columns: str) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint([column], [f"{of}.id"], name=op.f(f"fk_{table}_{column}"))
        for column, of in columns.items()
    ]


def _in_pieces(statement: str) -> None:
    """Run a statement over the answers, some at a time."""
    first, annotations = "", sa.table("annotations", sa.column("id"))
    while True:
        some = sa.select(annotations.c.id).where(annotations.c.id > first).order_by(annotations.c.id).limit(AT_ONCE)
        ids = op.get_bind().scalars(some).all()
        if not ids:
            return
        op.get_bind().execute(sa.text(statement), {"first": first, "last": ids[-1]})
        first = ids[-1]


def _settle() -> None:
    """Count today what waits beyond the sum of the days: answers without a revision, say."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    for project, waiting, submitted in op.get_bind().execute(sa.text(_APART)).all():
        if waiting or submitted:
            op.get_bind().execute(
                sa.text(
                    f"{_ADD}VALUES (:project, CAST(:day AS {'date' if _is_postgresql() else 'text'}), :open, :submitted) "
                    "ON CONFLICT (project_id, day) DO UPDATE SET open = queue_days.open + excluded.open, "
                    "submitted = queue_days.submitted + excluded.submitted"
                ),
                {"project": project, "day": today, "open": int(waiting), "submitted": int(submitted)},
            )


def _is_postgresql() -> bool:
    return bool(op.get_bind().dialect.name == "postgresql")
