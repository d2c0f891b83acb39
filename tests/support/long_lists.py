"""A project with some rows of every list that comes in pages, to which further rows can be added."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from db.base import now
from db.ids import new_id
from db.tables import (
    AutomaticAnswer,
    Job,
    LabelReview,
    LoginSession,
    Member,
    ModelVersion,
    Question,
    Review,
    Revision,
    Run,
    Snapshot,
    Task,
)
from engine import audit
from engine.accounts import invitations, members, sessions, users
from engine.accounts.users import ensure_local_user
from engine.answer_table import parse_request, table_page
from engine.datasets.snapshot_views import snapshot_lines
from engine.fields.project_fields import project_fields
from engine.jobs import job_list, queue
from engine.lifecycle import bin as lifecycle
from engine.lifecycle import project_bin, question_bin
from engine.models import registry
from engine.paging import Page
from engine.projects import projects
from engine.selection import auto_accept, label_review
from engine.tasks.asked_questions import asked_questions
from engine.tasks.opening.open_tasks import open_missing
from engine.tasks.review.verdicts import reviews_of, revisions_of
from engine.tasks.skips import list_skips, skip
from engine.tasks.standard_questions import replace_standard_questions
from engine.tasks.tasks import list_tasks
from engine.training.retraining.views import run_lines
from engine.webhooks import deliveries, messages, webhooks
from engine.workspace import Workspace
from tests.support.accounts import make_user
from tests.support.factories import BILL_QUESTIONS, accept, bill, make_document, make_project, pages_of

Fetch = Callable[[int, str | None], Page[Any]]


class LongLists:
    """The project, and how each list grows and is fetched."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace, self.local = workspace, ensure_local_user(workspace)
        self.project = make_project(workspace).id
        replace_standard_questions(workspace, self.project, list(BILL_QUESTIONS), self.local.id)
        self.numbers = iter(range(1, 10_000))
        self.document = make_document(workspace, self.project, [bill(0)])
        self.open_tasks(self.document.id)
        self.page = pages_of(workspace, self.document.id)[0].id
        self.answer = accept(workspace, self.document, next(iter(BILL_QUESTIONS)), [1])
        with workspace.database.write() as session:
            version = ModelVersion(number=0, checkpoint_sha256="0" * 64, code_version="1")
            session.add(version)
        self.version = version.id
        self.said = {"model_version_id": version.id, "page_id": self.page, "answer": {}, "score": 0.9, "answered": 0.9}
        project = self.project
        self.table = parse_request(project_fields(workspace, project))  # a route reads the few fields before the page
        self.lists: dict[str, tuple[Callable[[], object], Fetch]] = {
            "skips": (self.more_skips, lambda limit, at: list_skips(workspace, project, limit=limit, cursor=at)),
            "tasks": (self.more_tasks, lambda limit, at: list_tasks(workspace, project, limit=limit, cursor=at)),
            "jobs": (
                self.more_jobs,
                lambda limit, at: job_list.list_jobs(workspace, project, limit=limit, cursor=at, without_read=True),
            ),
            "jobs of all": (
                self.more_jobs,
                lambda limit, at: job_list.list_jobs(workspace, limit=limit, cursor=at, without_read=True),
            ),
            "audit trail": (
                self.more_entries,
                lambda limit, at: audit.entries(workspace, project, limit=limit, cursor=at),
            ),
            "audit trail of all": (
                self.more_entries,
                lambda limit, at: audit.entries(workspace, limit=limit, cursor=at),
            ),
            "runs": (self.more_runs, lambda limit, at: run_lines(workspace, project, limit=limit, cursor=at)),
            "models": (
                self.more_models,
                lambda limit, at: registry.versions(workspace, project, limit=limit, cursor=at),
            ),
            "snapshots": (
                self.more_snapshots,
                lambda limit, at: snapshot_lines(workspace, project, limit=limit, cursor=at),
            ),
            "automatic answers": (
                self.more_automatic,
                lambda limit, at: auto_accept.lines(workspace, project, limit, at),
            ),
            "label review": (self.more_looks, lambda limit, at: label_review.lines(workspace, project, limit, at)),
            "revisions": (
                self.more_revisions,
                lambda limit, at: revisions_of(workspace, self.answer.id, limit=limit, cursor=at),
            ),
            "newest revisions": (
                self.more_revisions,
                lambda limit, at: revisions_of(workspace, self.answer.id, limit=limit, cursor=at, newest_first=True),
            ),
            "reviews": (
                self.more_reviews,
                lambda limit, at: reviews_of(workspace, self.answer.id, limit=limit, cursor=at),
            ),
            "questions": (
                self.more_questions,
                lambda limit, at: asked_questions(workspace, project, limit=limit, cursor=at),
            ),
            "questions by text": (
                self.more_questions,
                lambda limit, at: asked_questions(workspace, project, sort="text", limit=limit, cursor=at),
            ),
            "values": (
                lambda: make_document(workspace, project, [bill(next(self.numbers))]),
                lambda limit, at: table_page(workspace, project, self.table, limit=limit, cursor=at)[0],
            ),
            "projects": (
                lambda: make_project(workspace, f"project {next(self.numbers)}"),
                lambda limit, at: projects.summaries(workspace, limit=limit, cursor=at),
            ),
            "members": (
                self.more_members,
                lambda limit, at: members.members(workspace, project, limit=limit, cursor=at),
            ),
            "users": (self.more_members, lambda limit, at: users.users(workspace, limit=limit, cursor=at)),
            "invitations": (
                self.more_invitations,
                lambda limit, at: invitations.invitations(workspace, project, limit=limit, cursor=at),
            ),
            "bin": (
                self.more_removed,
                lambda limit, at: lifecycle.list_bin(workspace, project, limit=limit, cursor=at),
            ),
            "removed questions": (
                self.more_removed_questions,
                lambda limit, at: question_bin.list_removed_questions(workspace, project, limit=limit, cursor=at),
            ),
            "removed projects": (
                self.more_removed_projects,
                lambda limit, at: project_bin.list_removed_projects(workspace, limit=limit, cursor=at),
            ),
            "webhooks": (
                self.more_webhooks,
                lambda limit, at: webhooks.list_webhooks(workspace, project, limit=limit, cursor=at),
            ),
            "deliveries": (
                self.more_deliveries,
                lambda limit, at: deliveries.list_deliveries(workspace, project, limit=limit, cursor=at),
            ),
            "sessions": (
                self.more_sessions,
                lambda limit, at: sessions.sessions(workspace, self.local.id, limit=limit, cursor=at),
            ),
        }

    def add(self, *rows: Any) -> None:
        with self.workspace.database.write() as session:
            for row in rows:
                session.add(row)
                session.flush()

    def more_tasks(self) -> None:
        self.open_tasks(make_document(self.workspace, self.project, [bill(next(self.numbers))]).id)

    def more_skips(self) -> None:
        for task in list_tasks(self.workspace, self.project, limit=3):
            skip(self.workspace, task.id, make_user(self.workspace).id, "not_sure")

    def open_tasks(self, document_id: str) -> None:
        with self.workspace.database.write() as session:
            open_missing(session, self.project, document_id)

    def more_jobs(self) -> Job:
        return queue.enqueue(self.workspace, "survey", self.project)

    def more_entries(self) -> None:
        audit.note(self.workspace, None, "members.leave", str(next(self.numbers)), self.project)

    def more_snapshots(self) -> Snapshot:
        snapshot = Snapshot(project_id=self.project, sha256=f"{next(self.numbers):064}")
        self.add(snapshot)
        return snapshot

    def more_models(self) -> None:
        number = next(self.numbers)
        self.add(
            ModelVersion(project_id=self.project, number=number, checkpoint_sha256=f"{number:064}", code_version="1")
        )

    def more_runs(self) -> None:
        snapshot, job = self.more_snapshots(), self.more_jobs()
        self.add(
            Run(
                project_id=self.project,
                job_id=job.id,
                snapshot_id=snapshot.id,
                parent_id=self.version,
                seed=1,
                code_version="1",
            )
        )

    def more_automatic(self) -> None:
        with self.workspace.database.read() as session:
            task = session.scalars(select(Task.id).where(Task.document_id == self.document.id)).first()
        given = {**self.said, "confidence": 0.9, "threshold": 0.8, "withdrawn_at": now()}
        self.add(AutomaticAnswer(project_id=self.project, task_id=task, **given))

    def more_looks(self) -> None:
        """One that waits and one that is decided."""
        document = make_document(self.workspace, self.project, [bill(next(self.numbers))])
        for verdict in (None, "kept"):
            answer = accept(self.workspace, document, f"Question {next(self.numbers)}?", [1])
            with self.workspace.database.read() as session:
                revision = session.scalars(select(Revision.id).where(Revision.annotation_id == answer.id)).one()
            given = {**self.said, "kind": "here", "iou": 0.1, "verdict": verdict}
            self.add(LabelReview(project_id=self.project, annotation_id=answer.id, revision_id=revision, **given))

    def more_revisions(self) -> None:
        number = next(self.numbers) + 1
        self.add(
            Revision(
                annotation_id=self.answer.id,
                number=number,
                base=number - 1,
                author_id=self.local.id,
                action="edit",
                status="accepted",
                state={},
                idempotency_key=new_id(),
            )
        )

    def more_reviews(self) -> None:
        with self.workspace.database.read() as session:
            judged = session.scalars(select(Revision.id).where(Revision.annotation_id == self.answer.id)).first()
        self.add(
            Review(
                annotation_id=self.answer.id, revision_id=judged, reviewer_id=self.local.id, verdict="accepted",
                reason=str(next(self.numbers)),
            )
        )  # fmt: skip

    def more_questions(self) -> None:
        accept(self.workspace, self.document, f"Question {next(self.numbers)}?", [1])

    def more_members(self) -> None:
        self.add(Member(project_id=self.project, user_id=make_user(self.workspace).id, role="annotator"))

    def more_invitations(self) -> None:
        invitations.invite(self.workspace, self.project, "annotator", 7, by=self.local)

    def more_sessions(self) -> None:
        digest = f"{next(self.numbers):016}".ljust(64, "0")
        self.add(LoginSession(token_sha256=digest, user_id=self.local.id, expires_at=now() + timedelta(days=1)))

    def more_removed(self) -> None:
        document = make_document(self.workspace, self.project, [bill(next(self.numbers))])
        lifecycle.remove(self.workspace, self.project, [document.id], self.local.id)

    def more_removed_questions(self) -> None:
        question = Question(project_id=self.project, text=f"Which number is {next(self.numbers)}?")
        self.add(question)
        question_bin.remove_questions(self.workspace, self.project, [question.id], self.local.id)

    def more_removed_projects(self) -> None:
        project = make_project(self.workspace, f"removed {next(self.numbers)}")
        project_bin.remove_project(self.workspace, project.id, self.local.id)

    def more_webhooks(self) -> None:
        url = f"https://webhooks.invalid/{next(self.numbers)}"
        webhooks.create_webhook(self.workspace, self.project, url, ["document.ready"], by=self.local)

    def more_deliveries(self) -> None:
        if not webhooks.callback_secret(self.workspace, self.project).exists:
            webhooks.rotate_callback_secret(self.workspace, self.project, by=self.local)
        messages.send_once(self.workspace, self.project, "https://webhooks.invalid/", "extraction.done", {})
