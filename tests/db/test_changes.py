"""Changes that units of work publish: from rows, from statements on many rows, and nothing from what was undone."""

import pytest
from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError

from db import changes
from db.base import now
from db.changes import MOST_SUBJECTS, Event
from db.tables import Change, Document, Job, LoginSession, Project, Question, Run, RunMetric, Snapshot, Task, User
from engine.workspace import Workspace
from tests.support.factories import bill, make_document
from tests.support.published_events import published_events
from tests.support.survey_rows import make_version


@pytest.fixture
def document(workspace: Workspace, project: Project) -> Document:
    return make_document(workspace, project.id, [bill(1), bill(2)])


def test_rows_tell_once_for_each_subject_in_their_own_commit(workspace: Workspace, project: Project) -> None:
    with published_events(workspace) as events:
        document = make_document(workspace, project.id, [bill(1), bill(2)])
    assert events == [Event(project.id, "documents", document.id)]
    with published_events(workspace) as events, workspace.database.write() as session:
        session.get_one(Document, document.id).name = "renamed.png"
        session.add(Question(project_id=project.id, text="What?"))
        session.flush()
        session.get_one(Project, project.id).name = "renamed"
        session.get_one(Document, document.id).title = "A title"
    assert sorted(events) == [
        (project.id, "documents", document.id, None, None),
        (project.id, "projects", None, None, None),
        (project.id, "questions", None, None, None),
    ]


def test_what_was_undone_tells_nothing(workspace: Workspace, project: Project) -> None:
    with published_events(workspace) as events:
        with pytest.raises(RuntimeError), workspace.database.write() as session:
            session.add(Question(project_id=project.id, text="What?"))
            session.flush()
            raise RuntimeError
        with workspace.database.write() as session:
            session.add(Job(kind="a", key="taken"))
        with workspace.database.write() as session, pytest.raises(IntegrityError), session.begin_nested():
            session.add(Job(kind="a", key="taken", project_id=project.id))
    assert events == []


def test_setting_what_is_set_tells_nothing(workspace: Workspace, document: Document) -> None:
    with published_events(workspace) as events, workspace.database.write() as session:
        session.get_one(Document, document.id).name = document.name
    assert events == []


def test_heartbeats_and_private_matters_tell_nothing(workspace: Workspace, project: Project) -> None:
    with workspace.database.write() as session:
        user = User(name="ann")
        session.add_all([user, job := Job(kind="a", project_id=project.id)])
        session.flush()
        session.add(login := LoginSession(token_sha256="0" * 64, user_id=user.id, expires_at=now()))
    with published_events(workspace) as events, workspace.database.write() as session:
        session.get_one(Job, job.id).lease_until = session.get_one(Job, job.id).heartbeat_at = now()
        session.get_one(User, user.id).preferences = {"theme": "dark"}
        session.get_one(LoginSession, login.token_sha256).last_used_at = now()
    assert events == []
    with published_events(workspace) as events, workspace.database.write() as session:
        session.get_one(Job, job.id).message = "Halfway."
        session.get_one(LoginSession, login.token_sha256).revoked_at = now()
    assert set(events) == {
        Event(project.id, "jobs", job.id),
        Event(None, "users", user.id),
    }


def test_a_reading_job_tells_of_its_document_too(workspace: Workspace, project: Project, document: Document) -> None:
    with published_events(workspace) as events, workspace.database.write() as session:
        session.add(job := Job(kind="read", project_id=project.id, payload={"document_id": document.id}))
    assert events == [Event(project.id, "jobs", job.id), Event(project.id, "documents", document.id)]


def test_points_of_a_run_tell_once_a_second(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = make_version(workspace, None)
    with workspace.database.write() as session:
        session.add_all([job := Job(kind="retrain"), snapshot := Snapshot(project_id=project.id, sha256="0" * 64)])
        session.flush()
        session.add(
            run := Run(
                project_id=project.id,
                job_id=job.id,
                snapshot_id=snapshot.id,
                parent_id=version.id,
                seed=0,
                code_version="test",
            )
        )
    moment = 1000.0
    monkeypatch.setattr("db.changes.time.monotonic", lambda: moment)
    with published_events(workspace) as events:
        for step in range(20):
            moment += 0.1
            with workspace.database.write() as session:
                session.merge(RunMetric(run_id=run.id, step=step, values={"loss": 0.5}))
    assert events == [Event(project.id, "runs", run.id)] * 2


def test_many_subjects_become_one_change_without_a_subject(workspace: Workspace, project: Project) -> None:
    with published_events(workspace) as events, workspace.database.write() as session:
        for number in range(MOST_SUBJECTS + 1):
            session.add(Job(kind="a", project_id=project.id, key=f"{number}"))
    assert events == [Event(project.id, "jobs")]


def test_a_statement_of_which_nothing_is_told_is_reported(
    workspace: Workspace, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[list[str]] = []
    monkeypatch.setattr(changes, "report_unpublished", reported.append)
    renamed = update(Project).values(description="new")
    with workspace.database.write() as session:
        session.execute(renamed)
        changes.publish(session, "projects", project.id)
        session.execute(update(Task).values(closed_at=None))  # there is none
    assert reported == []
    with workspace.database.write() as session:
        session.execute(renamed)
    assert reported == [["projects"]]


def test_a_reading_session_tells_nothing(workspace: Workspace, project: Project) -> None:
    with workspace.database.read() as session:
        changes.publish(session, "projects", project.id)
        session.add(Question(project_id=project.id, text="What?"))
        session.flush()
        assert session.scalar(select(Change.id).where(Change.topic == "questions")) is None
