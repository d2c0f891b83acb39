"""What people and jobs do is events to open screens, statements that no session sees included."""

import uuid
from functools import partial

import pytest

from db.changes import Event
from db.tables import Annotation, Task
from engine.accounts import invitations, members, sessions
from engine.accounts.users import ensure_local_user
from engine.annotation import removal
from engine.annotation.words import WordEditsRequest, edit_words
from engine.jobs import queue as jobs
from engine.jobs.presence import Presence
from engine.selection import auto_accept, ranking
from engine.tasks.queue import next_task as queue
from engine.tasks.review import review_queue
from engine.workspace import Workspace
from tests.support.accounts import cookie_of, make_user
from tests.support.annotators import answer, begin, judge, save
from tests.support.automatic_project import Works
from tests.support.factories import accept, pages_of
from tests.support.office import CUSTOMER, NUMBER, TOTAL, Office
from tests.support.published_events import published_events


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace)


def of_answer(annotation: Annotation) -> Event:
    return Event(annotation.project_id, "answers", annotation.document_id, annotation.question_id, annotation.author_id)


def test_answers_and_verdicts_tell_whose_answer_they_concern(workspace: Workspace, office: Office) -> None:
    office.set(review_required=True)
    tasks = Event(office.project.id, "tasks")
    task = office.taken(office.ann)
    with published_events(workspace) as events:
        annotation = begin(workspace, task, office.ann)
    assert events == [of_answer(annotation)]
    with published_events(workspace) as events:
        save(workspace, annotation.id, office.ann, [4], action="edit")
    assert events == [of_answer(annotation)]
    with published_events(workspace) as events:
        save(workspace, annotation.id, office.ann, [4])
    assert set(events) == {of_answer(annotation), of_answer(annotation)._replace(topic="tasks")}
    with published_events(workspace) as events:
        judge(workspace, annotation.id, office.rita, "rejected", reason="Mark the amount.")
    assert set(events) == {of_answer(annotation), tasks}


def test_a_removal_and_a_return_tell_of_answer_queue_and_suggestions(workspace: Workspace, office: Office) -> None:
    asked = accept(workspace, office.documents[0], "asdf", [4], author="Ann")
    of_task = answer(workspace, office.taken(office.ann), office.ann)
    tasks, questions = Event(office.project.id, "tasks"), Event(office.project.id, "questions")
    remove = partial(removal.remove, workspace, base=1, user_id=office.ann.id)
    restore = partial(removal.restore, workspace, user_id=office.ann.id)
    for act in (remove, restore):
        with published_events(workspace) as events:
            act(annotation_id=asked.id)
        assert set(events) == {of_answer(asked), tasks, questions}
        with published_events(workspace) as events:
            act(annotation_id=of_task.id)
        assert set(events) == {of_answer(of_task), tasks}
    with published_events(workspace) as events:
        removal.restore(workspace, asked.id, office.ann.id)
    assert events == []


def test_leases_tell_when_they_begin_and_end_and_not_at_heartbeats(workspace: Workspace, office: Office) -> None:
    office.set(review_required=True)
    tasks = [Event(office.project.id, "tasks")]
    with published_events(workspace) as events:
        task = office.taken(office.ann)
    with workspace.database.read() as session:
        leased = session.get_one(Task, task)
    # Named, since those who may not know of the person's answer must not hear of it.
    of_lease = [Event(office.project.id, "tasks", leased.document_id, leased.question_id, office.ann.id)]
    assert events == of_lease
    with published_events(workspace) as events:
        queue.heartbeat(workspace, task, office.ann.id)
    assert events == []
    office.let_expire()
    with published_events(workspace) as events:
        queue.heartbeat(workspace, task, office.ann.id)
    assert events == of_lease
    with published_events(workspace) as events:
        queue.release(workspace, task, office.ann.id)
    assert events == of_lease

    annotation = answer(workspace, office.taken(office.ann), office.ann)
    with published_events(workspace) as events:
        assert review_queue.next_review(workspace, office.project.id, office.rita.id).annotation_id == annotation.id
    assert events == tasks
    with published_events(workspace) as events:
        review_queue.heartbeat(workspace, annotation.id, office.rita.id)
    assert events == []
    with published_events(workspace) as events:
        review_queue.release(workspace, annotation.id, office.rita.id)
        review_queue.heartbeat(workspace, annotation.id, office.rita.id)
    assert events == tasks * 2


def test_questions_and_order_tell_of_the_tasks(workspace: Workspace, office: Office) -> None:
    questions, tasks = Event(office.project.id, "questions"), Event(office.project.id, "tasks")
    with published_events(workspace) as events:
        office.ask(NUMBER, TOTAL, CUSTOMER)
    assert {questions, tasks} <= set(events)
    with published_events(workspace) as events:
        office.ask(NUMBER)
    assert {questions, tasks} <= set(events)
    with published_events(workspace) as events:
        ranking.put_first(workspace, office.documents[1].id, office.rita.id)
    assert events == [tasks]
    with published_events(workspace) as events:
        office.set(selection="random")
    assert set(events) == {tasks, Event(office.project.id, "projects")}


def test_fixed_words_tell_of_their_document(workspace: Workspace, office: Office) -> None:
    document = office.documents[0]
    fix = WordEditsRequest(
        idempotency_key=uuid.uuid4().hex, base=0, edits=[{"op": "text", "number": 0, "text": "Invoice"}]
    )
    with published_events(workspace) as events:
        edit_words(workspace, pages_of(workspace, document.id)[0].id, fix, office.ann.id)
    assert events == [Event(office.project.id, "documents", document.id)]


def test_automatic_answers_tell_of_the_tasks(workspace: Workspace) -> None:
    works = Works(workspace)
    works.model_says()
    with published_events(workspace) as events:
        works.begin_automatic()
    assert Event(works.project.id, "projects") in events
    for act in (works.accept, lambda: auto_accept.undo(workspace, works.project.id, by=works.boss)):
        with published_events(workspace) as events:
            act()
        assert Event(works.project.id, "tasks") in events


def test_members_and_ended_sessions_tell_whom_they_concern(workspace: Workspace, office: Office) -> None:
    project_id, boss = office.project.id, ensure_local_user(workspace)
    with published_events(workspace) as events:
        link = invitations.invite(workspace, project_id, "annotator", by=boss)
    assert events == [Event(project_id, "members")]
    otto = make_user(workspace, "otto")
    with published_events(workspace) as events:
        invitations.accept_as(workspace, link.token, otto)
    assert events == [Event(project_id, "members")]  # one without a subject covers the member
    for act in (
        lambda: members.put_member(workspace, project_id, otto.id, "reviewer", by=boss),
        lambda: members.remove_member(workspace, project_id, otto.id, by=boss),
    ):
        with published_events(workspace) as events:
            act()
        assert events == [Event(project_id, "members", otto.id)]
    with published_events(workspace) as events:
        [token] = cookie_of(workspace, otto).values()
    assert events == []
    with published_events(workspace) as events:
        sessions.log_out(workspace, token)
        with workspace.database.write() as session:
            sessions.revoke_all(session, otto.id)
    assert events == [Event(None, "users", otto.id)] * 2


def test_jobs_tell_of_progress_and_workers_of_coming_and_going(workspace: Workspace, office: Office) -> None:
    with published_events(workspace) as events:
        job = jobs.enqueue(workspace, "nothing", office.project.id)
        jobs.lease(workspace, "a worker", ["nothing"])
        jobs.progress(workspace, job.id, "a worker", 0.5, "Halfway.")
        jobs.finish(workspace, job.id, "a worker", {})
    assert events == [Event(office.project.id, "jobs", job.id)] * 4
    with published_events(workspace) as events:
        jobs.enqueue(workspace, "nothing")
        other = jobs.lease(workspace, "a worker", ["nothing"])
        assert other is not None
        jobs.heartbeat(workspace, other.id, "a worker")
    assert events == []
    with published_events(workspace) as events:
        presence = Presence(workspace, "a worker")
        presence.show()
        presence._shown = 0.0  # long ago
        presence.show()
        presence.leave()
    assert events == [Event(None, "jobs")] * 2
