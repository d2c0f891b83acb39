"""The schema and its sessions, on SQLite and on PostgreSQL."""

import subprocess
import sys
import threading
from datetime import timedelta

import pytest
from sqlalchemy import inspect, select, text
from sqlalchemy.exc import IntegrityError

from db import migrate
from db.base import now
from db.int_array import in_array
from db.refusals import DowngradeRefused
from db.session import Database
from db.tables import Annotation, Job, Lease, PageWord, Project, Question, Revision, Task, TaskCount, User
from db.tables.annotations import UNRANKED
from engine.annotation import removal
from engine.documents.reading.reading_state import READ, ReadingState, state_of
from engine.errors import Refused
from engine.followers import catch_up
from engine.jobs import queue
from engine.settings import Settings
from engine.tasks.opening import task_changes
from engine.workspace import Workspace, open_workspace
from tests.support.drift import find_drift
from tests.support.factories import accept, line, make_document, make_project
from tests.support.office import Office
from tests.support.task_actions import Campaign

pytestmark = pytest.mark.migrates


def test_models_and_migrations_agree(empty_database_url: str) -> None:
    database = Database(empty_database_url)
    migrate.upgrade(database)
    assert migrate.differences(database) == []
    database.dispose()


def test_upgrade_and_downgrade_meet_again(empty_database_url: str) -> None:
    database = Database(empty_database_url)
    migrate.upgrade(database)
    migrate.downgrade(database, "base")
    assert set(inspect(database.engine).get_table_names()) <= {"alembic_version"}
    migrate.upgrade(database)
    assert migrate.differences(database) == []
    assert migrate.current(database) == migrate.head()
    database.dispose()


def test_upgrading_a_database_with_rows_keeps_them(workspace: Workspace) -> None:
    with workspace.database.write() as session:
        session.add(Project(name="kept"))
    migrate.upgrade(workspace.database)
    with workspace.database.read() as session:
        assert session.scalar(select(Project.name)) == "kept"


def test_tasks_of_before_their_order_was_chosen_keep_their_place(workspace: Workspace) -> None:
    project = make_project(workspace)
    document = make_document(workspace, project.id, [line("Total due: 12.50")])
    with workspace.database.write() as session:
        question = Question(project_id=project.id, text="What is the total due?", standard=True)
        session.add(question)
        session.flush()
        session.add(Task(project_id=project.id, document_id=document.id, question_id=question.id))
    catch_up(workspace)
    migrate.downgrade(workspace.database, "0002")
    migrate.upgrade(workspace.database)
    with workspace.database.read() as session:
        [task] = session.scalars(select(Task))
        assert (task.document_id, task.priority, task.chosen_by) == (document.id, UNRANKED, None)


def test_half_read_documents_of_before_have_a_job_that_reads_on(workspace: Workspace) -> None:
    project = make_project(workspace)
    half_read = make_document(workspace, project.id, [line("Total due: 12.50")]).id
    make_document(workspace, project.id, [line("Number: 7")])
    catch_up(workspace)
    migrate.downgrade(workspace.database, "0006")
    with workspace.database.write() as session:
        session.add(Lease(subject=f"reading:{half_read}", holder="40", expires_at=now()))
        session.add(Lease(subject="scheduler", holder="somebody", expires_at=now()))
    migrate.upgrade(workspace.database)
    with workspace.database.read() as session:
        assert session.scalars(select(Lease.subject)).all() == ["scheduler"]
        assert state_of(session, half_read) == ReadingState(pages=40)
        assert len(session.scalars(select(Job)).all()) == 1
    job = queue.lease(workspace, "a server", [READ])
    assert job is not None and job.payload["document_id"] == half_read
    catch_up(workspace)
    migrate.downgrade(workspace.database, "0006")
    with workspace.database.read() as session:
        assert session.get_one(Lease, f"reading:{half_read}").holder == "40"


def test_answers_keep_their_revisions_where_no_removal_is_known(workspace: Workspace) -> None:
    project = make_project(workspace)
    document = make_document(workspace, project.id, [line("Total due: 12.50")])
    gone, asked_again = accept(workspace, document, "asdf", [0]), accept(workspace, document, "What?", [1])
    owner = gone.author_id
    for each in (gone, asked_again):
        removal.remove(workspace, each.id, 1, owner)
    instead = accept(workspace, document, "What?", [2])
    stored = select(Annotation.id, Annotation.status, Question.text, Revision.number).join(
        Question, Question.id == Annotation.question_id
    )
    stored = stored.join(Revision, Revision.annotation_id == Annotation.id).order_by(Annotation.id)
    catch_up(workspace)
    migrate.downgrade(workspace.database, "0008")
    expected = [
        (gone.id, "accepted", "asdf", 1),
        (asked_again.id, "accepted", f"What? (removed answer {asked_again.id})", 1),
        (instead.id, "accepted", "What?", 1),
    ]
    with workspace.database.read() as session:
        assert session.execute(stored).tuples().all() == expected
    migrate.upgrade(workspace.database)
    with workspace.database.read() as session:
        assert session.execute(stored).tuples().all() == expected
    assert migrate.differences(workspace.database) == []
    with pytest.raises(IntegrityError), workspace.database.write() as session:  # references are checked as before
        of_nothing = {"annotation_id": "0" * 32, "number": 1, "base": 0, "author_id": owner, "action": "edit"}
        session.add(Revision(**of_nothing, status="draft", state={}, idempotency_key="of nothing"))


def test_states_of_tasks_of_before_follow_from_their_answers(workspace: Workspace) -> None:
    campaign = Campaign(workspace, seed=3)
    for _ in range(80):
        campaign.act()
    counted = select(TaskCount.state, TaskCount.number).where(TaskCount.number > 0).order_by(TaskCount.state)
    with workspace.database.read() as session:
        before = session.execute(counted).tuples().all()
    catch_up(workspace)
    migrate.downgrade(workspace.database, "0009")
    migrate.upgrade(workspace.database)
    assert not find_drift(workspace)
    with workspace.database.read() as session:
        assert session.execute(counted).tuples().all() == before


def test_a_downgrade_is_refused_while_tasks_follow_a_change(workspace: Workspace, one_document_a_batch: None) -> None:
    office = Office(workspace, bills=2)
    with pytest.raises(DowngradeRefused, match="Figures still follow"):
        migrate.downgrade(workspace.database, "0020")
    catch_up(workspace)
    with pytest.raises(DowngradeRefused, match="then downgrade again"):
        migrate.downgrade(workspace.database, "0015")
    assert migrate.current(workspace.database) == migrate.head()
    assert migrate.differences(workspace.database) == []
    task_changes.work_off(workspace, office.project.id)
    catch_up(workspace)
    migrate.downgrade(workspace.database, "0015")
    migrate.upgrade(workspace.database)
    assert not find_drift(workspace)


def test_a_failed_unit_of_work_leaves_nothing(workspace: Workspace) -> None:
    with pytest.raises(RuntimeError), workspace.database.write() as session:
        session.add(Project(name="half"))
        session.flush()
        raise RuntimeError
    with workspace.database.read() as session:
        assert session.scalar(select(Project)) is None


def test_a_reading_session_keeps_no_change(workspace: Workspace) -> None:
    with workspace.database.read() as session:
        session.add(Project(name="never"))
        session.flush()
    with workspace.database.read() as session:
        assert session.scalar(select(Project)) is None


def test_a_look_leaves_the_connection_as_it_was(workspace: Workspace) -> None:
    for _ in range(2):
        with workspace.database.autocommit_read() as session:
            assert session.scalar(select(Project)) is None
        with workspace.database.read() as session:
            session.add(Project(name="never"))
            session.flush()


@pytest.mark.parametrize("database_url", [pytest.param("postgresql", marks=pytest.mark.postgresql)], indirect=True)
def test_connections_that_died_at_rest_are_replaced(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.session.REST_SECONDS", 0)
    with workspace.database.read() as one, workspace.database.read() as other:
        resting = one.scalar(text("SELECT pg_backend_pid()"))
        other.execute(text("SELECT 1"))
    killer = Database(workspace.settings.url)
    with killer.read() as session:
        assert session.scalar(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": resting})
    killer.dispose()
    for _ in range(2):
        with workspace.database.read() as session:
            assert session.scalar(text("SELECT pg_backend_pid()")) != resting


def test_a_number_is_found_among_lists_of_every_length(workspace: Workspace) -> None:
    make_document(workspace, make_project(workspace).id, [line("one two three")])
    with workspace.database.read() as session:
        chosen = select(PageWord.number).where(in_array(PageWord.number, "wanted")).order_by(PageWord.number)
        for wanted in ([], [1], [2, 0], [1, 1, 7], list(range(70_000))):
            found = session.scalars(chosen, {"wanted": wanted}).all()
            assert list(found) == sorted({0, 1, 2} & set(wanted))


def test_times_come_back_in_utc(workspace: Workspace) -> None:
    with workspace.database.write() as session:
        session.add(User(name="ann", role="admin"))
    with workspace.database.read() as session:
        made = session.scalars(select(User)).one().created_at
    assert made.utcoffset() == timedelta(0)


def test_an_unknown_role_is_refused_by_the_database_itself(workspace: Workspace) -> None:
    with pytest.raises(IntegrityError), workspace.database.write() as session:
        session.add(User(name="ann", role="emperor"))


def test_many_writers_at_once_all_get_their_turn(workspace: Workspace) -> None:
    failures: list[BaseException] = []

    def write(thread: int) -> None:
        try:
            for number in range(10):
                with workspace.database.write() as session:
                    session.scalars(select(Project)).all()
                    session.add(Project(name=f"{thread}-{number}"))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with workspace.database.read() as session:
        assert len(session.scalars(select(Project)).all()) == 80


def test_sqlite_runs_in_wal_with_foreign_keys(sqlite_workspace: Workspace) -> None:
    with sqlite_workspace.database.read() as session:
        assert session.scalar(text("PRAGMA journal_mode")) == "wal"
        assert session.scalar(text("PRAGMA foreign_keys")) == 1
        assert session.scalar(text("PRAGMA synchronous")) == 2


def test_what_was_committed_survives_kill_9(database_url: str, tmp_path) -> None:
    settings = Settings(data_dir=tmp_path / "data", database_url=database_url, _env_file=None)
    open_workspace(settings).close()
    program = (
        "import os, signal\n"
        "from db.session import Database\n"
        "from db.tables import Project\n"
        f"database = Database({database_url!r})\n"
        "with database.write() as session:\n"
        "    session.add(Project(name='acknowledged'))\n"
        "with database.write() as session:\n"
        "    session.add(Project(name='not yet'))\n"
        "    session.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], check=False)
    assert ended.returncode == -9
    workspace = open_workspace(settings)
    with workspace.database.read() as session:
        assert list(session.scalars(select(Project.name))) == ["acknowledged"]
    workspace.close()


def test_a_database_of_a_newer_version_is_refused_with_a_sentence(workspace: Workspace) -> None:
    with workspace.database.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(Refused, match="newer version"):
        open_workspace(workspace.settings)


def test_an_address_of_another_kind_of_database_is_refused() -> None:
    with pytest.raises(ValueError, match="SQLite or PostgreSQL"):
        Database("mysql://localhost/x")
    with pytest.raises(ValueError, match="cannot be read"):
        Database("nonsense")
