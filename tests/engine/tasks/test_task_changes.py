"""Changes that tasks follow in batches: nothing is lost when somebody is killed, and the newest change wins."""

import subprocess
import sys
import threading
from datetime import timedelta

import pytest
from sqlalchemy import update

from db import changes
from db.base import now
from db.tables import AutomaticAnswer
from engine.accounts.members import put_member, remove_member
from engine.accounts.users import change_user, ensure_local_user
from engine.batches import Throttle
from engine.selection import auto_accept
from engine.selection.ranking import put_first, rank
from engine.tasks.opening import task_changes
from engine.tasks.opening.open_tasks import open_missing
from engine.tasks.opening.overlap import compute_wanted
from engine.tasks.opening.priority import BY_HAND
from engine.workspace import Workspace
from tests.support.annotators import answer, judge
from tests.support.automatic_project import Works
from tests.support.drift import find_drift
from tests.support.factories import accept, bill, make_document, make_project
from tests.support.office import CUSTOMER, NUMBER, TOTAL, Office
from tests.support.survey_rows import make_version

BILLS = 5


@pytest.fixture
def office(workspace: Workspace, one_document_a_batch: None) -> Office:
    office = Office(workspace, bills=BILLS)
    finish(office)
    return office


def finish(office: Office) -> None:
    assert not task_changes.work_off(office.workspace, office.project.id)


def do_batches(office: Office, count: int) -> None:
    """Let the tasks of so many documents follow."""
    left, stop = iter(range(count - 1)), threading.Event()
    task_changes.work_off(
        office.workspace,
        office.project.id,
        stop=stop,
        throttle=Slow(),
        on_progress=lambda _: stop.set() if next(left, None) is None else None,
    )


class Slow(Throttle):
    """One document a batch."""

    def __exit__(self, *_: object) -> None:
        """Stay at this size."""

    def __init__(self) -> None:
        super().__init__(1)


def asked(office: Office) -> dict[str, set[str]]:
    """Return the documents with an open task, by question."""
    found: dict[str, set[str]] = {}
    for task in office.tasks():
        if task.closed_at is None:
            found.setdefault(task.question_id, set()).add(task.document_id)
    return found


def sentences(office: Office) -> list[str]:
    every = task_changes.running(office.workspace, office.project.id)
    return [each.sentence for each in every if each.finished_at is None]


def test_a_change_in_a_small_project_is_done_when_the_call_returns(workspace: Workspace) -> None:
    office = Office(workspace, bills=BILLS)
    assert len(office.tasks()) == 2 * BILLS
    office.ask(NUMBER, TOTAL, CUSTOMER)
    office.set(overlap_share=1.0)
    assert len(office.tasks()) == 3 * BILLS
    assert {task.wanted for task in office.tasks()} == {2}
    assert sentences(office) == []


def test_what_a_killed_process_left_is_done_by_another_one(office: Office) -> None:
    settings = office.workspace.settings
    office.ask(NUMBER, CUSTOMER)
    assert sentences(office) == [f"Opening and closing tasks: 1 of {BILLS} documents."]
    script = (
        "import os, signal, sys\n"
        "from engine.batches import Throttle\nfrom engine.tasks.opening import task_changes\n"
        "from engine.settings import Settings\nfrom engine.workspace import open_workspace\n"
        "folder, address, project = sys.argv[1:]\n"
        "workspace = open_workspace(Settings(data_dir=folder, database_url=address, _env_file=None))\n"
        "kill = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "task_changes.work_off(workspace, project, throttle=Throttle(1), on_progress=kill)\n"
    )
    given = [str(settings.data_dir), settings.database_url, office.project.id]
    killed = subprocess.run([sys.executable, "-c", script, *given], capture_output=True, text=True)
    assert killed.returncode == -9, killed.stderr
    assert sentences(office) == [f"Opening and closing tasks: 2 of {BILLS} documents."]
    assert not find_drift(office.workspace)
    task_changes.go_on(office.workspace)
    assert sentences(office) == []
    assert [len(documents) for documents in asked(office).values()] == [BILLS, BILLS]
    assert not find_drift(office.workspace)


def test_a_newer_change_of_the_questions_wins(office: Office) -> None:
    before = asked(office)
    office.ask(CUSTOMER)
    do_batches(office, 2)
    assert not find_drift(office.workspace)
    office.ask(NUMBER, TOTAL)
    finish(office)
    assert asked(office) == before
    assert not find_drift(office.workspace)


def test_a_document_that_arrives_meanwhile_gets_what_is_wanted_now(office: Office) -> None:
    office.set(overlap_share=1.0)
    office.ask(CUSTOMER)
    late = make_document(office.workspace, office.project.id, [bill(90)], name="late.png")
    with office.workspace.database.write() as session:
        open_missing(session, office.project.id, late.id)
    [task] = [each for each in office.tasks() if each.document_id == late.id and each.closed_at is None]
    assert task.wanted == 2
    finish(office)
    assert [len(documents) for documents in asked(office).values()] == [BILLS + 1]
    assert {each.wanted for each in office.tasks()} == {2}


def test_a_task_answered_meanwhile_keeps_its_number_of_people(office: Office) -> None:
    office.set(overlap_share=0.5)
    last = max(office.tasks(), key=lambda task: (task.document_id, task.id))
    answer(office.workspace, last.id, office.ann)
    finish(office)
    for task in office.tasks():
        assert task.wanted == (1 if task.id == last.id else compute_wanted(task.id, 0.5, 2))


def test_the_newest_overlap_wins_wherever_the_older_one_has_come_to(office: Office) -> None:
    office.set(overlap_share=1.0, overlap_people=3)
    do_batches(office, 2)
    office.set(overlap_share=0.0)
    finish(office)
    assert {task.wanted for task in office.tasks()} == {1}


def test_a_reset_of_the_order_comes_before_the_next_ranking(office: Office) -> None:
    version = make_version(office.workspace, office.project.id)
    office.set(selection="random")
    rank(office.workspace, office.project.id, version.id)
    put_first(office.workspace, office.documents[0].id, office.rita.id)
    office.set(selection="arrival")
    office.set(selection="random")
    rank(office.workspace, office.project.id, version.id)
    assert sentences(office) == []
    assert {task.chosen_by for task in office.tasks()} == {"hand", "random"}
    places = {task.document_id: task.priority for task in office.tasks()}
    assert sorted(places.values()) == [BY_HAND, *range(BILLS - 1)]


@pytest.mark.parametrize("leave", ("member", "disabled"))
def test_answers_of_somebody_who_leaves_give_up_their_places(office: Office, leave: str) -> None:
    workspace, boss = office.workspace, ensure_local_user(office.workspace)
    office.set(review_required=True)
    for task in office.tasks():
        judge(workspace, answer(workspace, task.id, office.ann).id, office.rita, "rejected", reason="Too wide.")
    assert {task.state for task in office.tasks()} == {"returned"}

    def go(away: bool) -> None:
        if leave == "disabled":
            change_user(workspace, office.ann.id, disabled=away, by=boss)
        elif away:
            remove_member(workspace, office.project.id, office.ann.id, by=boss)
        else:
            put_member(workspace, office.project.id, office.ann.id, "annotator", by=boss)

    go(True)
    do_batches(office, 2)
    assert [task.state for task in office.tasks()].count("open") == 4
    assert not find_drift(workspace)
    go(False)  # back before all have followed: no unit of work is long, so those follow again one after the other
    assert [task.state for task in office.tasks()].count("open") == 4
    assert not find_drift(workspace)
    do_batches(office, BILLS)
    assert not find_drift(workspace)
    finish(office)
    assert {task.state for task in office.tasks()} == {"returned"}
    go(True)
    do_batches(office, 2)
    go(False)
    go(True)
    finish(office)
    assert {task.state for task in office.tasks()} == {"open"}
    assert not find_drift(workspace)


def test_somebody_who_leaves_is_not_there_for_their_work_elsewhere(office: Office) -> None:
    workspace, boss = office.workspace, ensure_local_user(office.workspace)
    other = make_project(workspace, "elsewhere").id
    put_member(workspace, other, office.ann.id, "annotator", by=boss)
    accept(workspace, make_document(workspace, other, [bill(90)]), TOTAL, [4])
    office.set(review_required=True)
    for task in office.tasks():
        judge(workspace, answer(workspace, task.id, office.ann).id, office.rita, "rejected", reason="Too wide.")
    remove_member(workspace, office.project.id, office.ann.id, by=boss)
    finish(office)
    assert {task.state for task in office.tasks()} == {"open"}


def test_automatic_answers_are_withdrawn_in_batches(workspace: Workspace, one_document_a_batch: None) -> None:
    works = Works(workspace)
    task_changes.work_off(workspace, works.project.id)
    works.model_says()
    works.begin_automatic()
    accepted = works.accept().answers
    assert accepted > 0
    with workspace.database.write() as session:  # by a machine whose clock is fast
        session.execute(update(AutomaticAnswer).values(created_at=now() + timedelta(hours=1)))
        changes.publish(session, "documents", works.project.id)
    assert auto_accept.undo(workspace, works.project.id, by=works.boss) == accepted
    assert any(each.withdrawn_at is None for each in works.answers())
    task_changes.go_on(workspace)
    assert all(each.withdrawn_at is not None and each.withdrawn_by == works.boss.id for each in works.answers())
    assert not find_drift(workspace)


def test_answers_are_accepted_automatically_once_earlier_ones_are_withdrawn(
    workspace: Workspace, one_document_a_batch: None
) -> None:
    works = Works(workspace)
    task_changes.work_off(workspace, works.project.id)
    works.model_says()
    works.begin_automatic()
    works.accept()
    auto_accept.undo(workspace, works.project.id, by=works.boss)
    assert any(each.withdrawn_at is None for each in works.answers())
    assert works.accept().answers == 0  # this version would repeat them
    assert all(each.withdrawn_at is not None for each in works.answers())
