"""Reading a long document is a job: half-read documents of before get one; jobs are found by what they were asked as."""

import sqlalchemy as sa
from alembic import op

from db.base import now
from db.ids import new_id

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_READING = "reading:"  # followed by a document's id: subject of the lease of a reader, whose holder counts the pages

_documents = sa.table("documents", sa.column("id"), sa.column("project_id"), sa.column("name"))
_leases = sa.table(
    "leases",
    sa.column("subject"),
    sa.column("holder"),
    *(sa.column(name, sa.DateTime(timezone=True)) for name in ("acquired_at", "heartbeat_at", "expires_at")),
)
_jobs = sa.table(
    "jobs",
    *(sa.column(name) for name in ("id", "project_id", "kind", "key", "asked_as", "status", "message", "failure")),
    *(sa.column(name, sa.JSON()) for name in ("payload", "result")),
    *(sa.column(name) for name in ("progress", "attempts", "max_attempts")),
    *(sa.column(name, sa.DateTime(timezone=True)) for name in ("run_after", "created_at")),
)


def upgrade() -> None:
    op.create_index("ix_jobs_asked_as", "jobs", ["asked_as"])
    left = op.get_bind().execute(
        sa.select(_documents, _leases.c.holder).join(_leases, _leases.c.subject == _READING + _documents.c.id)
    )
    for document in left.all():
        key = f"read:{document.id}"
        op.get_bind().execute(
            _jobs.insert().values(
                id=new_id(),
                project_id=document.project_id,
                kind="read",
                key=key,
                asked_as=key,
                status="waiting",
                message="",
                failure="",
                payload={
                    "document_id": document.id,
                    "name": document.name,
                    "pages": int(document.holder),
                    "winds_up": True,
                },
                result={},
                progress=0.0,
                attempts=0,
                max_attempts=1_000_000,
                run_after=now(),
                created_at=now(),
            )
        )
    op.execute(_leases.delete().where(_leases.c.subject.like(f"{_READING}%")))


def downgrade() -> None:
    left = op.get_bind().execute(
        sa.select(_jobs.c.payload).where(_jobs.c.kind == "read", _jobs.c.status.in_(("waiting", "running")))
    )
    for job in left.all():
        op.get_bind().execute(
            _leases.insert().values(
                subject=_READING + job.payload["document_id"],
                holder=str(job.payload["pages"]),
                acquired_at=now(),
                heartbeat_at=now(),
                expires_at=now(),
            )
        )
    # Ended ones stay: they tell which documents were cut off. The version before does no exports as jobs.
    op.execute(_jobs.delete().where(_jobs.c.kind == "read", _jobs.c.status.in_(("waiting", "running"))))
    op.execute(
        _jobs.update()
        .where(_jobs.c.kind == "export", _jobs.c.status.in_(("waiting", "running")))
        .values(status="cancelled")
    )
    op.drop_index("ix_jobs_asked_as", "jobs")
