"""Tasks: standard questions are asked of every document, and nobody is given what somebody else has."""

import threading
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from sqlalchemy import delete, func, select, update

from db.base import now
from db.tables import Annotation, Lease, Project, Revision, Task, User
from engine.accounts.users import ensure_local_user
from engine.annotation.views import annotation_lines
from engine.documents.ingest import ingest
from engine.errors import Conflict, NotFound, Refused
from engine.leases import task_subject
from engine.projects import overlap
from engine.projects.projects import change_settings
from engine.tasks import queue
from engine.tasks.queue_view import queue_view
from engine.tasks.standard_questions import replace_standard_questions, standard_questions, suggestions
from engine.tasks.tasks import list_tasks, set_gold
from engine.workspace import Workspace
from tests.support.annotators import answer, begin, judge, make_person, save, tasks_of
from tests.support.factories import bill, make_document, make_project

NUMBER, TOTAL, CUSTOMER = "What is the bill number?", "What is the total due?", "Who is the customer?"


class Office:
    """A project with bills, standard questions and people."""

    def __init__(self, workspace: Workspace, bills: int = 2, questions: tuple[str, ...] = (NUMBER, TOTAL)) -> None:
        self.workspace = workspace
        self.project: Project = make_project(workspace)
        self.documents = [
            make_document(workspace, self.project.id, [bill(number)], name=f"bill {number}.png")
            for number in range(bills)
        ]
        self.ann, self.ben = (make_person(workspace, name, self.project.id) for name in ("Ann", "Ben"))
        self.rita = make_person(workspace, "Rita", self.project.id, "reviewer")
        if questions:
            self.ask(*questions)

    def ask(self, *questions: str) -> None:
        replace_standard_questions(self.workspace, self.project.id, questions, self.rita.id)

    def next(self, user: User, after: str | None = None) -> queue.NextTask:
        return queue.next_task(self.workspace, self.project.id, user.id, after)

    def taken(self, user: User, after: str | None = None) -> str:
        task = self.next(user, after).task
        assert task is not None
        return task.id

    def reason(self, user: User) -> str:
        reason = self.next(user).reason
        assert reason is not None
        return reason

    def tasks(self) -> list[Task]:
        return tasks_of(self.workspace, self.project.id)

    def set(self, **settings: Any) -> None:
        change_settings(self.workspace, self.project.id, **settings)

    def let_expire(self) -> None:
        with self.workspace.database.write() as session:
            session.execute(update(Lease).values(expires_at=now() - timedelta(seconds=1)))


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace)


def test_every_document_gets_a_task_for_every_standard_question(office: Office) -> None:
    pairs = {(task.document_id, task.question_id) for task in office.tasks()}
    asked = [each.id for each in standard_questions(office.workspace, office.project.id)]
    assert pairs == {(document.id, question) for document in office.documents for question in asked}
    office.ask(NUMBER, TOTAL)
    assert len(office.tasks()) == 4


def test_a_document_that_comes_later_gets_its_tasks_in_the_same_commit(office: Office, tmp_path: Path) -> None:
    file = tmp_path / "late.pdf"
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "Bill: B7")
    document.save(file)
    late = ingest(office.workspace, file, name="late.pdf", project_id=office.project.id, user_id=office.ann.id)
    with office.workspace.database.read() as session:
        assert session.scalar(select(func.count(Task.id)).where(Task.document_id == late.document_id)) == 2


def test_a_dropped_question_closes_its_tasks_and_reopens_them_with_answers(office: Office) -> None:
    answer(office.workspace, office.tasks()[1].id, office.ann)
    office.ask(NUMBER)
    assert [task.closed_at is None for task in office.tasks()] == [True, False, True, False]
    assert queue_view(office.workspace, office.project.id, office.ann.id).total == 2
    office.ask(TOTAL, NUMBER)
    assert [each.text for each in standard_questions(office.workspace, office.project.id)] == [TOTAL, NUMBER]
    view = queue_view(office.workspace, office.project.id, office.ann.id)
    assert (view.total, view.done, view.open) == (4, 1, 3)


@pytest.mark.parametrize(
    ("questions", "sentence"),
    [(["", "b"], "Question 1 is empty"), (["a", " a "], "listed twice"), (["x" * 1001], "1,001 characters")],
)
def test_a_list_of_questions_that_cannot_be_is_refused_whole(
    office: Office, questions: list[str], sentence: str
) -> None:
    with pytest.raises(Refused, match=sentence):
        replace_standard_questions(office.workspace, office.project.id, questions, office.rita.id)
    assert [each.text for each in standard_questions(office.workspace, office.project.id)] == [NUMBER, TOTAL]


def test_the_queue_goes_document_by_document_and_hands_nothing_out_twice(office: Office) -> None:
    first, second, third, fourth = (task.id for task in office.tasks())
    assert office.taken(office.ann) == first
    assert office.taken(office.ben) == second
    assert office.taken(office.ann) == first  # what one holds comes first
    answer(office.workspace, first, office.ann)
    assert office.taken(office.ann, first) == third
    answer(office.workspace, second, office.ben)
    assert office.taken(office.ben, second) == fourth


def test_people_who_ask_at_the_same_moment_get_different_tasks(workspace: Workspace) -> None:
    office = Office(workspace, bills=4)
    people = [make_person(workspace, f"Person {number}", office.project.id) for number in range(8)]
    for _ in range(3):
        taken: list[str] = []
        failures: list[BaseException] = []
        start = threading.Barrier(len(people))

        def take(user: User, taken=taken, failures=failures, start=start) -> None:  # type: ignore[no-untyped-def]
            try:
                start.wait()
                taken.append(office.taken(user))
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=take, args=(user,)) for user in people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert sorted(taken) == sorted(task.id for task in office.tasks())
        with workspace.database.write() as session:
            session.execute(delete(Lease))


def test_a_task_of_overlap_has_as_many_holders_as_it_wants_people(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER,))
    office.set(overlap_share=1.0, overlap_people=2)
    people = [make_person(workspace, f"Person {number}", office.project.id) for number in range(5)]
    given: list[str | None] = []
    start = threading.Barrier(len(people))

    def take(user: User) -> None:
        start.wait()
        task = office.next(user).task
        given.append(task.id if task else None)

    threads = [threading.Thread(target=take, args=(user,)) for user in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(each is not None for each in given) == {True: 2, False: 3}


def test_an_expired_lease_is_handed_on_and_a_late_heartbeat_names_its_holder(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER,))
    task = office.taken(office.ann)
    assert office.next(office.ben).task is None
    office.let_expire()
    assert office.taken(office.ben) == task
    with pytest.raises(Conflict, match="Ben took this question over, until"):
        queue.heartbeat(workspace, task, office.ann.id)
    assert queue.heartbeat(workspace, task, office.ben.id) > now()
    answer(workspace, task, office.ben)
    with pytest.raises(Conflict, match="Ben answered this question meanwhile"):
        queue.heartbeat(workspace, task, office.ann.id)


def test_a_late_heartbeat_keeps_a_task_that_nobody_took(office: Office) -> None:
    task = office.taken(office.ann)
    office.let_expire()
    until = queue.heartbeat(office.workspace, task, office.ann.id)
    assert until > now()
    assert office.taken(office.ben) != task


def test_a_released_task_is_free_at_once_and_only_its_holder_releases_it(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER,))
    task = office.taken(office.ann)
    queue.release(workspace, task, office.ben.id)
    assert office.next(office.ben).task is None
    queue.release(workspace, task, office.ann.id)
    assert office.taken(office.ben) == task
    with pytest.raises(NotFound):
        queue.release(workspace, "0" * 32, office.ann.id)


def test_a_task_that_is_passed_over_comes_again_last(office: Office) -> None:
    order = [office.taken(office.ann)]
    for _ in range(4):
        order.append(office.taken(office.ann, order[-1]))
    assert order == [*(task.id for task in office.tasks()), order[0]]
    with office.workspace.database.read() as session:
        assert session.scalar(select(func.count(Lease.subject))) == 1


def test_one_s_own_draft_comes_before_what_is_new(office: Office) -> None:
    begun = office.tasks()[2].id
    draft = begin(office.workspace, begun, office.ann)
    found = office.next(office.ann)
    assert found.task is not None
    assert (found.task.id, found.annotation_id) == (begun, draft.id)
    save(office.workspace, draft.id, office.ann, [4], action="edit")
    assert office.next(office.ann).page_id is not None


def test_an_answer_that_is_handed_in_gives_its_lease_back(office: Office) -> None:
    task = office.taken(office.ann)
    answer(office.workspace, task, office.ann)
    with office.workspace.database.read() as session:
        assert session.get(Lease, task_subject(task, office.ann.id)) is None
    assert queue.heartbeat(office.workspace, task, office.ann.id) > now()
    with office.workspace.database.read() as session:
        assert session.get(Lease, task_subject(task, office.ann.id)) is None


def test_which_tasks_are_overlap_follows_from_their_ids(workspace: Workspace) -> None:
    office = Office(workspace, bills=20)
    office.set(overlap_share=0.4, overlap_people=3)
    some = {task.id for task in office.tasks() if task.wanted == 3}
    assert some == {task.id for task in office.tasks() if overlap.fraction(task.id) < 0.4}
    assert 4 <= len(some) <= 28
    office.set(overlap_share=0.8)
    assert some <= {task.id for task in office.tasks() if task.wanted == 3}
    office.set(overlap_share=0.0)
    assert {task.wanted for task in office.tasks()} == {1}


def test_a_task_that_is_answered_keeps_the_number_of_people_it_was_drawn(office: Office) -> None:
    done = office.tasks()[0]
    answer(office.workspace, done.id, office.ann)
    office.set(overlap_share=1.0)
    assert {task.id: task.wanted for task in office.tasks()}[done.id] == 1
    assert sorted(task.wanted for task in office.tasks()) == [1, 2, 2, 2]


def test_an_overlap_task_that_waits_for_another_person_comes_before_new_ones(office: Office) -> None:
    office.set(overlap_share=1.0)
    waiting = office.tasks()[2].id
    answer(office.workspace, waiting, office.ann)
    assert office.taken(office.ben) == waiting
    assert office.taken(office.ann) != waiting
    answer(office.workspace, waiting, office.ben)
    assert queue_view(office.workspace, office.project.id, office.ann.id).done == 1


def test_an_empty_queue_says_why(workspace: Workspace) -> None:
    office = Office(workspace, bills=0, questions=())
    assert "no standard questions yet" in office.reason(office.ann)
    office.ask(NUMBER)
    assert "no documents yet" in office.reason(office.ann)
    make_document(workspace, office.project.id, [bill(1)], name="bill.png")
    office.ask(NUMBER)
    task = office.taken(office.ann)
    reason = office.reason(office.ben)
    assert "Ann holds “What is the bill number?” of bill.png until" in reason and reason.endswith(".")
    office.set(review_required=True)
    annotation = answer(workspace, task, office.ann)
    assert "1 answer waits for review" in office.reason(office.ben)
    judge(workspace, annotation.id, office.rita, "rejected")
    assert "1 answer was rejected and waits for its author" in office.reason(office.ben)
    save(workspace, annotation.id, office.ann, [1])
    judge(workspace, annotation.id, office.rita)
    assert "is answered and accepted" in office.reason(office.ben)


def test_an_overlap_task_says_that_it_waits_for_another_person(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER,))
    office.set(overlap_share=1.0)
    answer(workspace, office.taken(office.ann), office.ann)
    assert "that you answered waits for another person" in office.reason(office.ann)


def test_a_rejected_answer_returns_to_its_author_and_to_nobody_else(office: Office) -> None:
    office.set(review_required=True)
    task = office.taken(office.ann)
    annotation = answer(office.workspace, task, office.ann)
    judge(office.workspace, annotation.id, office.rita, "rejected")
    found = office.next(office.ann)
    assert found.task is not None
    assert (found.task.id, found.annotation_id) == (task, annotation.id)
    queue.release(office.workspace, task, office.ann.id)
    others = [office.taken(office.ben)]
    while (another := office.taken(office.ben, others[-1])) not in others:
        others.append(another)
    assert task not in others and len(others) == 3


def test_what_somebody_who_left_had_rejected_is_free_again(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER,))
    office.set(review_required=True)
    annotation = answer(workspace, office.taken(office.ann), office.ann)
    judge(workspace, annotation.id, office.rita, "rejected")
    assert office.next(office.ben).task is None
    with workspace.database.write() as session:
        session.get_one(User, office.ann.id).disabled_at = now()
    assert office.next(office.ben).task is not None


def test_a_rejected_answer_to_an_own_question_comes_when_no_task_is_left(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER,))
    annotation = answer(workspace, office.tasks()[0].id, office.ann)
    judge(workspace, annotation.id, office.rita, "rejected")
    office.ask()
    found = office.next(office.ann)
    assert (found.task, found.annotation_id) == (None, annotation.id)
    assert "rejected" in (found.reason or "")


def test_a_known_answer_is_mixed_into_everybody_s_queue_unmarked(office: Office) -> None:
    known = office.tasks()[0].id
    annotation = answer(office.workspace, known, office.rita, [1])
    line = set_gold(office.workspace, known, annotation.id, office.rita.id)
    assert line.gold == annotation.id
    assert office.taken(office.ann) != known  # at a share of 0 nobody is measured
    office.let_expire()
    office.set(gold_share=1.0)
    found = office.next(office.ann)
    assert found.task is not None and found.task.id == known
    assert office.taken(office.ben) == known  # however many: each is measured apart
    assert office.taken(office.ann) == known
    assert queue.heartbeat(office.workspace, known, office.ann.id) > now()
    before = queue_view(office.workspace, office.project.id, office.ann.id)
    answer(office.workspace, known, office.ann, [4])
    assert office.taken(office.ann, known) != known
    assert queue_view(office.workspace, office.project.id, office.ann.id).total == before.total
    assert office.taken(office.rita) != known  # who knows the answer is not asked


def test_a_known_answer_must_be_an_accepted_one_of_its_task(office: Office) -> None:
    first, second, *_ = (task.id for task in office.tasks())
    draft = begin(office.workspace, first, office.ann)
    with pytest.raises(Refused, match="never accepted"):
        set_gold(office.workspace, first, draft.id, office.rita.id)
    annotation = answer(office.workspace, second, office.ann)
    with pytest.raises(Refused, match="another document or question"):
        set_gold(office.workspace, first, annotation.id, office.rita.id)
    with pytest.raises(NotFound):
        set_gold(office.workspace, first, "0" * 32, office.rita.id)
    assert set_gold(office.workspace, second, annotation.id, office.rita.id).gold == annotation.id
    assert set_gold(office.workspace, second, None, office.rita.id).gold is None


def test_a_data_lead_sees_every_task_with_its_answers(office: Office) -> None:
    answer(office.workspace, office.tasks()[1].id, office.ann)
    lines = list_tasks(office.workspace, office.project.id)
    assert [line.question for line in lines] == [NUMBER, TOTAL, NUMBER, TOTAL]
    assert [[(given.person, given.status) for given in line.answers] for line in lines][1] == [("Ann", "accepted")]
    assert [line.id for line in list_tasks(office.workspace, office.project.id, limit=1, offset=2)] == [lines[2].id]


def test_annotators_do_not_see_others_answers_before_their_own_is_handed_in(office: Office) -> None:
    office.set(overlap_share=1.0)
    task = office.tasks()[0]
    theirs = answer(office.workspace, task.id, office.ann)

    def seen(user: User) -> set[str]:
        return {line.id for line in annotation_lines(office.workspace, task.document_id, user.id)}

    assert seen(office.ben) == set()
    assert seen(office.rita) == {theirs.id}
    own = answer(office.workspace, task.id, office.ben)
    assert seen(office.ben) == {theirs.id, own.id}


def test_what_can_be_asked_leaves_out_what_was_asked_of_this_document(office: Office) -> None:
    office.ask(TOTAL)
    first, second = office.documents
    by_hand = [task for task in office.tasks() if task.closed_at is not None]
    for task in by_hand:
        answer(office.workspace, task.id, office.ann)
    here = suggestions(office.workspace, office.project.id, office.ann.id, first.id)
    assert [(each.text, each.annotation_id) for each in here.standard] == [(TOTAL, None)]
    assert here.recent == []
    for_ben = suggestions(office.workspace, office.project.id, office.ben.id, first.id)
    assert [(each.text, each.times) for each in for_ben.recent] == [(NUMBER, 2)]
    with pytest.raises(NotFound):
        suggestions(office.workspace, make_project(office.workspace, "another").id, office.ben.id, second.id)


def test_nothing_is_asked_anew_by_looking_at_the_queue(office: Office) -> None:
    ensure_local_user(office.workspace)
    queue_view(office.workspace, office.project.id, office.ann.id)
    with office.workspace.database.read() as session:
        for table in (Annotation, Revision, Lease):
            assert session.scalar(select(func.count()).select_from(table)) == 0
