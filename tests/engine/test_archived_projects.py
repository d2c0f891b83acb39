"""Archived projects: no jobs, no webhooks, no retraining, and no command changes them, on both databases."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from db.tables import Document, Job, Member, Project, User, WebhookDelivery
from engine import audit
from engine.accounts.users import ensure_local_user
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.commands.lookups import acting, project_to_change
from engine.documents.ingest import ingest
from engine.errors import Archived, Conflict, NotFound
from engine.jobs import queue
from engine.lifecycle.project_bin import remove_project
from engine.projects import archiving
from engine.projects.projects import ensure_default, rename_project, summaries, visible_to
from engine.queries import is_active
from engine.webhooks import sender
from engine.workspace import Workspace
from tests.support.annotators import begin, edits
from tests.support.made_papers import bill_pdf
from tests.support.office import Office


def test_archiving_stops_the_jobs_of_a_project_and_lets_nobody_ask_for_others(workspace: Workspace) -> None:
    office = Office(workspace, bills=1)
    project = office.project.id
    waiting = queue.enqueue(workspace, "retrain", project, key="one")
    running = queue.enqueue(workspace, "survey", project)
    assert queue.lease(workspace, "worker", ["survey"]) is not None
    for _ in range(2):
        archiving.archive(workspace, project, office.rita.id)
    with workspace.database.read() as session:
        jobs = {job.id: job for job in session.scalars(select(Job))}
        assert session.scalars(select(Project.id).where(is_active(), Project.id == project)).all() == []
    assert jobs[waiting.id].status == "cancelled" and jobs[running.id].cancel_requested_at is not None
    with pytest.raises(Archived):
        queue.enqueue(workspace, "retrain", project)
    archiving.unarchive(workspace, project, office.rita.id)
    assert queue.enqueue(workspace, "retrain", project).status == "waiting"
    acts = [line.what for line in audit.entries(workspace, project) if "archived" in line.what]
    assert acts == ["unarchived the project bills", "archived the project bills"]


def test_an_edit_of_an_archived_project_is_refused_and_stored_once_it_is_back(workspace: Workspace) -> None:
    office = Office(workspace, bills=1)
    annotation = begin(workspace, office.tasks()[0].id, office.ann)
    marked = edits(workspace, office.documents[0].id, [4])
    request = RevisionRequest.model_validate({"idempotency_key": "queued-offline", "base": 0, "edits": marked})
    archiving.archive(workspace, office.project.id, None)
    with pytest.raises(Archived, match=r"^This project is archived: nothing in it can be changed\."):
        append_revision(workspace, annotation.id, request, office.ann.id)
    archiving.unarchive(workspace, office.project.id, None)
    assert append_revision(workspace, annotation.id, request, office.ann.id).revision == annotation.head + 1


def test_deliveries_of_an_archived_project_wait(workspace: Workspace) -> None:
    office = Office(workspace, bills=0, questions=())
    with workspace.database.write() as session:
        session.add(
            WebhookDelivery(
                project_id=office.project.id, url="http://127.0.0.1:9/", event="x", key="x", body="{}", forgets=False
            )
        )
    archiving.archive(workspace, office.project.id, None)
    assert sender.take_attempt(workspace) is None
    archiving.unarchive(workspace, office.project.id, None)
    assert sender.take_attempt(workspace) is not None


def test_lists_and_commands_leave_archived_projects_alone(workspace: Workspace) -> None:
    office = Office(workspace, bills=0, questions=())
    local = ensure_local_user(workspace)
    archiving.archive(workspace, office.project.id, local.id)
    assert [each.project.id for each in summaries(workspace, archived=True)] == [office.project.id]
    assert office.project.id not in [each.project.id for each in summaries(workspace)]
    assert visible_to(workspace, office.ann) == []
    with pytest.raises(Archived):
        project_to_change(workspace, office.project.name)
    with pytest.raises(Archived):
        acting(workspace, None, "project_id", office.project.id)


def test_of_two_who_rename_a_project_the_second_is_told(workspace: Workspace) -> None:
    office = Office(workspace, bills=0, questions=())
    rename_project(workspace, office.project.id, "Ann's", office.ann.id, before="bills")
    with pytest.raises(Conflict, match="Somebody renamed bills to Ann's meanwhile"):
        rename_project(workspace, office.project.id, "Ben's", office.ben.id, before="bills")
    rename_project(workspace, office.project.id, "Ann's", office.ben.id, before="bills")  # as it is already


def test_a_default_project_that_was_renamed_does_not_come_back(workspace: Workspace) -> None:
    with workspace.database.write() as session:
        ensure_default(session, workspace.settings, None)
        names = session.scalars(select(Project.name)).all()
        ensure_default(session, workspace.settings, None)
        assert session.scalars(select(Project.name)).all() == names == ["default"]
    with workspace.database.read() as session:
        project = session.scalars(select(Project.id)).one()
    rename_project(workspace, project, "Bills", None)
    with workspace.database.write() as session:
        ensure_default(session, workspace.settings, None)
        assert session.scalars(select(Project.name)).all() == ["Bills"]
        assert not session.scalars(select(Member)).all() and not session.scalars(select(User)).all()


def test_an_upload_that_ends_after_its_project_was_put_away_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    office, paper = Office(workspace, bills=0, questions=()), tmp_path / "bill.pdf"
    paper.write_bytes(bill_pdf(1))
    upload = partial(ingest, workspace, paper, name="bill.pdf", project_id=office.project.id, user_id=office.ann.id)
    put_away: Any = iter([partial(archiving.archive, workspace), partial(remove_project, workspace)])

    def after_the_first_page(_done: int, _all: int) -> None:
        next(put_away)(office.project.id, office.rita.id)

    with pytest.raises(Archived):
        upload(on_page=after_the_first_page)
    archiving.unarchive(workspace, office.project.id, office.rita.id)
    with pytest.raises(NotFound, match="This project was removed"):
        upload(on_page=after_the_first_page)
    with workspace.database.read() as session:
        assert session.scalars(select(Document.id)).all() == []
