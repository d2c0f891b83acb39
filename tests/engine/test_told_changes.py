"""What people and jobs do is told to open screens, statements that no session sees included."""

import uuid
from functools import partial

import pytest

from db.changes import Told
from db.tables import Annotation
from engine.accounts import invitations, members, sessions
from engine.accounts.users import ensure_local_user
from engine.annotation import removal
from engine.annotation.words import MendRequest, edit_words
from engine.jobs import queue as jobs
from engine.jobs.presence import Presence
from engine.selection import auto_accept, ranking
from engine.tasks import queue, review_queue
from engine.workspace import Workspace
from tests.support.accounts import cookie_of, make_user
from tests.support.annotators import answer, begin, judge, save
from tests.support.automatic_project import Works
from tests.support.factories import accept, pages_of
from tests.support.office import CUSTOMER, NUMBER, TOTAL, Office
from tests.support.told_changes import heard


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace)


def of_answer(annotation: Annotation) -> Told:
    return Told(annotation.project_id, "answers", annotation.document_id, annotation.question_id, annotation.author_id)


def test_answers_and_verdicts_tell_whose_answer_they_concern(workspace: Workspace, office: Office) -> None:
    office.set(review_required=True)
    tasks = Told(office.project.id, "tasks")
    task = office.taken(office.ann)
    with heard(workspace) as told:
        annotation = begin(workspace, task, office.ann)
    assert told == [of_answer(annotation)]
    with heard(workspace) as told:
        save(workspace, annotation.id, office.ann, [4], action="edit")
    assert told == [of_answer(annotation)]
    with heard(workspace) as told:
        save(workspace, annotation.id, office.ann, [4])
    assert set(told) == {of_answer(annotation), tasks}
    with heard(workspace) as told:
        judge(workspace, annotation.id, office.rita, "rejected", reason="Mark the amount.")
    assert set(told) == {of_answer(annotation), tasks}


def test_a_removal_and_a_return_tell_of_answer_queue_and_suggestions(workspace: Workspace, office: Office) -> None:
    asked = accept(workspace, office.documents[0], "asdf", [4], author="Ann")
    of_task = answer(workspace, office.taken(office.ann), office.ann)
    tasks, questions = Told(office.project.id, "tasks"), Told(office.project.id, "questions")
    remove = partial(removal.remove, workspace, base=1, user_id=office.ann.id)
    restore = partial(removal.restore, workspace, user_id=office.ann.id)
    for act in (remove, restore):
        with heard(workspace) as told:
            act(annotation_id=asked.id)
        assert set(told) == {of_answer(asked), tasks, questions}
        with heard(workspace) as told:
            act(annotation_id=of_task.id)
        assert set(told) == {of_answer(of_task), tasks}
    with heard(workspace) as told:
        removal.restore(workspace, asked.id, office.ann.id)
    assert told == []


def test_leases_tell_when_they_begin_and_end_and_not_at_heartbeats(workspace: Workspace, office: Office) -> None:
    office.set(review_required=True)
    tasks = [Told(office.project.id, "tasks")]
    with heard(workspace) as told:
        task = office.taken(office.ann)
    assert told == tasks
    with heard(workspace) as told:
        queue.heartbeat(workspace, task, office.ann.id)
    assert told == []
    office.let_expire()
    with heard(workspace) as told:
        queue.heartbeat(workspace, task, office.ann.id)
    assert told == tasks
    with heard(workspace) as told:
        queue.release(workspace, task, office.ann.id)
    assert told == tasks

    annotation = answer(workspace, office.taken(office.ann), office.ann)
    with heard(workspace) as told:
        assert review_queue.next_review(workspace, office.project.id, office.rita.id).annotation_id == annotation.id
    assert told == tasks
    with heard(workspace) as told:
        review_queue.heartbeat(workspace, annotation.id, office.rita.id)
    assert told == []
    with heard(workspace) as told:
        review_queue.release(workspace, annotation.id, office.rita.id)
        review_queue.heartbeat(workspace, annotation.id, office.rita.id)
    assert told == tasks * 2


def test_questions_and_order_tell_of_the_tasks(workspace: Workspace, office: Office) -> None:
    questions, tasks = Told(office.project.id, "questions"), Told(office.project.id, "tasks")
    with heard(workspace) as told:
        office.ask(NUMBER, TOTAL, CUSTOMER)
    assert {questions, tasks} <= set(told)
    with heard(workspace) as told:
        office.ask(NUMBER)
    assert {questions, tasks} <= set(told)
    with heard(workspace) as told:
        ranking.put_first(workspace, office.documents[1].id, office.rita.id)
    assert told == [tasks]
    with heard(workspace) as told:
        office.set(selection="random")
    assert set(told) == {tasks, Told(office.project.id, "projects")}


def test_fixed_words_tell_of_their_document(workspace: Workspace, office: Office) -> None:
    document = office.documents[0]
    fix = MendRequest(idempotency_key=uuid.uuid4().hex, base=0, edits=[{"op": "text", "number": 0, "text": "Invoice"}])
    with heard(workspace) as told:
        edit_words(workspace, pages_of(workspace, document.id)[0].id, fix, office.ann.id)
    assert told == [Told(office.project.id, "documents", document.id)]


def test_automatic_answers_tell_of_the_tasks(workspace: Workspace) -> None:
    works = Works(workspace)
    works.model_says()
    with heard(workspace) as told:
        works.begin_automatic()
    assert Told(works.project.id, "projects") in told
    for act in (works.accept, lambda: auto_accept.undo(workspace, works.project.id, by=works.boss)):
        with heard(workspace) as told:
            act()
        assert Told(works.project.id, "tasks") in told


def test_members_and_ended_sessions_tell_whom_they_concern(workspace: Workspace, office: Office) -> None:
    project_id, boss = office.project.id, ensure_local_user(workspace)
    with heard(workspace) as told:
        link = invitations.invite(workspace, project_id, "annotator", by=boss)
    assert told == [Told(project_id, "members")]
    otto = make_user(workspace, "otto")
    with heard(workspace) as told:
        invitations.accept_as(workspace, link.token, otto)
    assert told == [Told(project_id, "members")]  # one without a subject covers the member
    for act in (
        lambda: members.put_member(workspace, project_id, otto.id, "reviewer", by=boss),
        lambda: members.remove_member(workspace, project_id, otto.id, by=boss),
    ):
        with heard(workspace) as told:
            act()
        assert told == [Told(project_id, "members", otto.id)]
    with heard(workspace) as told:
        [token] = cookie_of(workspace, otto).values()
    assert told == []
    with heard(workspace) as told:
        sessions.log_out(workspace, token)
        with workspace.database.write() as session:
            sessions.revoke_all(session, otto.id)
    assert told == [Told(None, "users", otto.id)] * 2


def test_jobs_tell_of_progress_and_workers_of_coming_and_going(workspace: Workspace, office: Office) -> None:
    with heard(workspace) as told:
        job = jobs.enqueue(workspace, "nothing", office.project.id)
        jobs.lease(workspace, "a worker", ["nothing"])
        jobs.progress(workspace, job.id, "a worker", 0.5, "Halfway.")
        jobs.finish(workspace, job.id, "a worker", {})
    assert told == [Told(office.project.id, "jobs", job.id)] * 4
    with heard(workspace) as told:
        jobs.enqueue(workspace, "nothing")
        other = jobs.lease(workspace, "a worker", ["nothing"])
        assert other is not None
        jobs.heartbeat(workspace, other.id, "a worker")
    assert told == []
    with heard(workspace) as told:
        presence = Presence(workspace, "a worker")
        presence.show()
        presence._shown = 0.0  # long ago
        presence.show()
        presence.leave()
    assert told == [Told(None, "jobs")] * 2
