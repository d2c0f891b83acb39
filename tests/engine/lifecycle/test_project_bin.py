"""Projects go to the bin and come back whole, and are deleted for good without a trace, on both databases."""

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import inspect, select, text, update

from db.base import Base, now
from db.changes import Event
from db.tables import (
    Annotation,
    Document,
    Job,
    Lease,
    ModelVersion,
    Prediction,
    Project,
    Question,
    Quota,
    RemovedProject,
    Run,
    User,
    WebhookDelivery,
)
from engine import audit
from engine.accounts import invitations, permissions
from engine.accounts.visibility import PROJECT_IN_BIN
from engine.datasets import snapshots
from engine.documents.lists.thumbnails import Thumbnail
from engine.errors import Conflict, NotFound
from engine.jobs import queue
from engine.lifecycle import bin as documents_bin
from engine.lifecycle import erasing, project_erasing
from engine.lifecycle.archive_rows import belongs
from engine.lifecycle.project_bin import (
    list_removed_projects,
    mark_project,
    remove_project,
    removed_project_named,
    restore_project,
)
from engine.lifecycle.project_erasing import erase_marked_projects
from engine.projects.projects import create_project, project_named, summaries
from engine.training.retraining.cleanup import clean_up, run_folder
from engine.workspace import Workspace
from tests.support.accounts import make_user
from tests.support.annotators import answer, judge, save
from tests.support.factories import accept, bill, line, make_document, make_project, pages_of
from tests.support.left_behind import columns_with, files_with
from tests.support.office import NUMBER, TOTAL, Office
from tests.support.published_events import published_events
from tests.support.survey_rows import make_version
from tests.support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("figures_at_once")

PROJECT, DOCUMENT, WORD, QUESTION = "Numbat papers", "Zebrafink.png", "Quokkaworth", "Which ocelot?"
SIGNS = (PROJECT, DOCUMENT, WORD, WORD.lower(), QUESTION)


@pytest.fixture
def office(workspace: Workspace) -> Office:
    office = Office(workspace, bills=1, questions=())
    with workspace.database.write() as session:
        session.get_one(Project, office.project.id).name = PROJECT
    return office


@pytest.fixture
def admin(workspace: Workspace) -> User:
    return make_user(workspace, "Root", "admin")


@pytest.fixture
def full(office: Office, admin: User) -> Office:
    """A project at work, with documents in its bin, a snapshot, a model version, members, jobs and messages."""
    workspace, project = office.workspace, office.project.id
    document = make_document(workspace, project, [[*bill(7), *line(f"{WORD} due", 30, 300)]], name=DOCUMENT)
    office.ask(NUMBER, QUESTION)
    for task in office.tasks():
        judge(workspace, answer(workspace, task.id, office.ann, [4]).id, office.rita)
    accept(workspace, document, TOTAL, [2], author="Ann")
    frozen = snapshots.freeze(workspace, project)
    version = make_version(workspace, project, 3)
    with workspace.database.write() as session:
        session.add(Quota(subject_id=project, documents=9))
        session.get_one(ModelVersion, version.id).snapshot_id = frozen.id
        session.get_one(ModelVersion, version.id).checkpoint_sha256 = workspace.blobs.put(b"weights " + WORD.encode())
        session.add(
            WebhookDelivery(
                project_id=project, url="https://webhooks.invalid/", event="document.ready", key="a", forgets=False,
                body=f'{{"project": "{PROJECT}"}}',
            )
        )  # fmt: skip
        audit.record(session, office.rita.id, "settings.change", project, project, changes={"locale": ["", WORD]})
        audit.record(session, office.rita.id, "projects.pack", PROJECT, project)
        audit.record(session, office.rita.id, "imports.make", f"{WORD}.jsonl", project, format="jsonl", answers=1)
    invitations.invite(workspace, project, "annotator", by=admin)
    queue.cancel(workspace, queue.enqueue(workspace, "read", project, {"name": WORD}).id)
    _fail_run(workspace, project, frozen.id, version.id)
    Thumbnail(workspace, pages_of(workspace, document.id)[0].image_sha256, 80).load_or_make()
    documents_bin.remove(workspace, project, [office.documents[0].id], admin.id)
    return office


def _fail_run(workspace: Workspace, project_id: str, snapshot_id: str, version_id: str) -> None:
    """A run that failed and left a checkpoint, to be tried again."""
    job = queue.enqueue(workspace, "retrain", project_id)
    queue.cancel(workspace, job.id)
    with workspace.database.write() as session:
        of_project = {"project_id": project_id, "job_id": job.id, "snapshot_id": snapshot_id, "parent_id": version_id}
        run = Run(**of_project, seed=1, code_version="test", status="failed", finished_at=now())
        session.add(run)
        session.flush()
    folder = run_folder(workspace, run.id)
    folder.mkdir(parents=True)
    (folder / "state.pt").write_text(WORD)


def _age_files(workspace: Workspace) -> None:
    for blob in workspace.blobs.list_blobs():
        os.utime(workspace.blobs.path(blob.sha256), (blob.modified - 86_400,) * 2)


def test_a_removed_project_is_nowhere_and_comes_back_as_it_was(full: Office, admin: User) -> None:
    workspace, project = full.workspace, full.project.id
    before = [summary.documents for summary in summaries(workspace)]
    remove_project(workspace, project, admin.id)
    remove_project(workspace, project, admin.id)
    assert not list(summaries(workspace))
    with pytest.raises(NotFound):
        project_named(workspace, PROJECT)
    with pytest.raises(NotFound, match=PROJECT_IN_BIN), workspace.database.read() as session:
        permissions.check(session, full.ann, {"project_id": project})
    task = full.tasks()[0]
    with pytest.raises(NotFound, match=PROJECT_IN_BIN):
        save(workspace, _answer_of_ann(full).id, full.ann, [])
    [removed] = list_removed_projects(workspace)
    assert (removed.name, removed.documents, removed.removed_by, removed.erasing) == (PROJECT, 1, "Root", False)
    assert removed.deleted_at - removed.removed_at == timedelta(days=workspace.settings.bin_days)
    assert audit.entries(workspace)[0].project == PROJECT
    other = create_project(workspace, PROJECT)
    with pytest.raises(Conflict, match="Another project is named"):
        restore_project(workspace, project, admin.id)
    assert removed_project_named(workspace, PROJECT) == project
    assert restore_project(workspace, project, admin.id, "Numbats") == "Numbats"
    assert restore_project(workspace, project, admin.id) == "Numbats"
    assert [summary.documents for summary in summaries(workspace) if summary.project.id != other.id] == before
    assert [line.name for line in documents_bin.list_bin(workspace, project)] == [full.documents[0].name]
    assert documents_bin.restore(workspace, project, [full.documents[0].id], admin.id) == [full.documents[0].id]
    assert task.id in {each.id for each in full.tasks()}


def _answer_of_ann(office: Office) -> Annotation:
    with office.workspace.database.read() as session:
        mine = Annotation.project_id == office.project.id, Annotation.author_id == office.ann.id
        return session.scalars(select(Annotation).where(*mine).limit(1)).one()


def test_a_project_with_an_open_job_is_not_removed(full: Office, admin: User) -> None:
    workspace, project = full.workspace, full.project.id
    job = queue.enqueue(workspace, "survey", project)
    with pytest.raises(Conflict, match=f"1 job of {PROJECT} has not ended"):
        remove_project(workspace, project, admin.id)
    queue.cancel(workspace, job.id)
    remove_project(workspace, project, admin.id)


def test_no_job_lands_in_a_project_that_is_being_removed(full: Office, admin: User) -> None:
    workspace, project = full.workspace, full.project.id
    failed = queue.enqueue(workspace, "nothing", project)
    with workspace.database.write() as session:
        session.get_one(Job, failed.id).status = "failed"
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    with ThreadPoolExecutor(1) as thread:
        with workspace.database.write() as session:  # as a removal that has looked for jobs already
            session.get_one(Project, project, with_for_update=True).bin_of = project
            session.flush()
            asked = thread.submit(queue.enqueue, workspace, "nothing", project)
            if workspace.database.dialect == "postgresql":
                wait_until(lambda: session.scalar(waiting))
        with pytest.raises(NotFound, match=PROJECT_IN_BIN):
            asked.result()
    with pytest.raises(NotFound, match=PROJECT_IN_BIN):
        queue.retry(workspace, failed.id)
    with workspace.database.read() as session:
        assert not session.scalars(select(Job.id).where(Job.status.in_(queue.OPEN))).all()


def test_nothing_of_a_deleted_project_is_left(full: Office, admin: User) -> None:
    workspace, project = full.workspace, full.project.id
    page = workspace.blobs.read(_first_image(full))
    signs = [*(sign.encode() for sign in SIGNS), page[-200:-100]]
    assert {"projects.name", "questions.text", "words.text", "audit_entries.details"} <= set(
        columns_with(workspace, SIGNS)
    )
    assert len(files_with(workspace, signs)) >= 3
    other = make_project(workspace, "other")
    audit.note(workspace, None, "documents.take", "0" * 32, other.id, document="a.png", source=PROJECT)
    remove_project(workspace, project, admin.id)
    assert mark_project(workspace, project, admin.id) == []
    with pytest.raises(Conflict, match="is being deleted"):
        restore_project(workspace, project, admin.id)
    assert erase_marked_projects(workspace) == 0, "its files were stored within the last hour"
    assert [line.erasing for line in list_removed_projects(workspace)] == [True]
    _age_files(workspace)
    _end_leases(workspace)
    with published_events(workspace) as events:
        assert erase_marked_projects(workspace) == 1
    assert Event(None, "projects") in events, "open lists follow"
    erasing.look_after(workspace)
    assert columns_with(workspace, SIGNS) == []
    assert files_with(workspace, signs) == []
    assert not list(workspace.blobs.list_blobs())
    assert not list(list_removed_projects(workspace))
    entries = [entry.what for entry in audit.entries(workspace)]
    assert entries[0] == "deleted a project for good"
    assert "chose the project (deleted) in the bin to be deleted for good (1 document)" in entries
    assert "added the document a.png from the project (deleted)" in entries
    with workspace.database.read() as session:
        for table in inspect(session.connection()).get_table_names():
            rows = session.execute(text(f'SELECT * FROM "{table}"')).mappings().all()
            naming = [row for row in rows if project in map(str, row.values())]
            assert not naming or table in {"changes", "audit_entries"}, table


def _first_image(office: Office) -> str:
    with office.workspace.database.read() as session:
        document = session.scalars(select(Document.id).where(Document.name == DOCUMENT)).one()
    return pages_of(office.workspace, document)[0].image_sha256


def _end_leases(workspace: Workspace) -> None:
    with workspace.database.write() as session:
        session.execute(update(Lease).values(expires_at=now() - timedelta(minutes=1)))


def test_what_another_project_needs_stays(full: Office, admin: User) -> None:
    workspace, project = full.workspace, full.project.id
    other = make_project(workspace, "other")
    document = make_document(workspace, other.id, [bill(3)], name="shared.png")
    with workspace.database.write() as session:
        mine = session.scalars(select(Document).where(Document.name == DOCUMENT)).one()
        session.get_one(Document, document.id).sha256 = mine.sha256
        version = session.scalars(select(ModelVersion).where(ModelVersion.project_id == project)).first()
        assert version is not None
        weights = version.checkpoint_sha256
        question = Question(project_id=other.id, text="Which total?")
        session.add(question)
        session.flush()
        session.add(ModelVersion(project_id=other.id, number=1, checkpoint_sha256=weights, code_version="1"))
        session.add(
            Prediction(
                page_id=pages_of(workspace, document.id)[0].id,
                question_id=question.id,
                model_version_id=version.id,
                answer={},
                score=0.5,
                answered=0.5,
                milliseconds=1.0,
            )
        )
    _age_files(workspace)
    remove_project(workspace, project, admin.id)
    assert mark_project(workspace, project, admin.id) == ["1 file stays: another project has the same."]
    assert erase_marked_projects(workspace) == 1
    assert weights in workspace.blobs
    with workspace.database.read() as session:
        assert session.get_one(Document, document.id).sha256 in workspace.blobs
        assert session.scalars(select(Prediction.model_version_id)).all() == [None]


def test_whoever_is_interrupted_goes_on(full: Office, admin: User, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, project = full.workspace, full.project.id
    _age_files(workspace)
    remove_project(workspace, project, admin.id)
    mark_project(workspace, project, admin.id)

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    for step in ("_delete_files", "_delete_rows", "_clean_audit_trail"):
        with monkeypatch.context() as patched:
            patched.setattr(f"engine.lifecycle.project_erasing.{step}", end)
            with pytest.raises(KeyboardInterrupt):
                erase_marked_projects(workspace)
    assert erase_marked_projects(workspace) == 1
    assert columns_with(workspace, SIGNS) == []
    assert not list(workspace.blobs.list_blobs())


def test_projects_are_deleted_when_their_days_in_the_bin_are_over(full: Office, admin: User) -> None:
    workspace, project = full.workspace, full.project.id
    _age_files(workspace)
    remove_project(workspace, project, admin.id)
    with workspace.database.write() as session:
        old = now() - timedelta(days=workspace.settings.bin_days, minutes=1)
        session.execute(update(RemovedProject).values(removed_at=old))
    project_erasing.look_after(workspace)  # the chore of a worker, a second at a time
    assert [line.erasing for line in list_removed_projects(workspace)] in ([], [True])
    erase_marked_projects(workspace)  # what a slow machine has left
    with workspace.database.read() as session:
        assert session.get(Project, project) is None


def test_each_call_gets_on_however_short_it_is(full: Office, admin: User) -> None:
    workspace, project = full.workspace, full.project.id
    _age_files(workspace)
    remove_project(workspace, project, admin.id)
    mark_project(workspace, project, admin.id)
    calls = 0
    while erase_marked_projects(workspace, seconds=0.0) == 0:
        calls += 1
        assert calls < 100
    assert columns_with(workspace, SIGNS) == []


def test_checkpoints_whose_run_is_gone_are_swept(full: Office) -> None:
    workspace = full.workspace
    gone = run_folder(workspace, "0" * 32)
    gone.mkdir()
    clean_up(workspace)
    [left] = gone.parent.iterdir()
    assert (left / "state.pt").is_file(), "of a run that failed lately"


def test_every_table_of_projects_is_deleted_with_them() -> None:
    spared = {"changes", "audit_entries"}
    named = {
        table.name
        for table in Base.metadata.sorted_tables
        if "project_id" in table.columns and table.name not in spared and belongs(table, "x") is None
    }
    assert named == set()
