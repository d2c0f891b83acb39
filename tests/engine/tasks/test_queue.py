"""The queue: order, leases, overlap, rejected answers, and why it is empty."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import delete, func, select

from db.base import now
from db.tables import Annotation, Lease, Revision, User
from engine.accounts.users import ensure_local_user
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.datasets import snapshots
from engine.datasets.manifest import items_of
from engine.errors import Conflict, NotFound
from engine.leases import task_subject
from engine.tasks.opening import overlap
from engine.tasks.opening.open_tasks import lock_project, lock_task
from engine.tasks.queue import next_task as queue
from engine.tasks.queue.queue_view import queue_view
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import answer, begin, judge, make_person, save
from tests.support.factories import bill, make_document
from tests.support.office import NUMBER, Office


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


def test_who_asks_for_a_task_passes_over_one_that_is_locked(workspace: Workspace) -> None:
    if workspace.database.dialect == "sqlite":
        pytest.skip("SQLite allows one writer")
    office = Office(workspace, bills=2)
    first, second, *_ = (task.id for task in office.tasks())
    with workspace.database.write() as session:  # somebody takes the first one at this moment
        lock_project(session, office.project.id)
        assert lock_task(session, first)
        assert office.taken(office.ann) == second
    assert office.taken(office.ben) == first


def test_two_windows_of_a_person_that_ask_at_once_get_the_same_task(workspace: Workspace) -> None:
    office = Office(workspace, bills=4)
    for person in (office.ann, office.ben):
        with ThreadPoolExecutor(4) as threads:
            taken = set(threads.map(lambda _, person=person: office.taken(person), range(8)))
        assert len(taken) == 1


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
    with pytest.raises(Conflict, match="Ben is now working on this question, until"):
        queue.heartbeat(workspace, task, office.ann.id)
    assert queue.heartbeat(workspace, task, office.ben.id) > now()
    answer(workspace, task, office.ben)
    with pytest.raises(Conflict, match=r"Ben answered this question meanwhile.* the first answer stands"):
        queue.heartbeat(workspace, task, office.ann.id)


def test_the_holder_of_a_task_hears_that_its_question_was_removed(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER,))
    task = office.taken(office.ann)
    replace_standard_questions(workspace, office.project.id, [], office.rita.id)
    with pytest.raises(Conflict, match=r"removed from the standard questions.*Go on to the next"):
        queue.heartbeat(workspace, task, office.ann.id)


def test_an_answer_that_comes_late_replaces_no_accepted_one(workspace: Workspace) -> None:
    """Ann's lease ran out, Ben answered, and then Ann hands hers in; a change of the first loses nothing."""
    office = Office(workspace, bills=1, questions=(NUMBER,))
    office.set(review_required=False)
    task = office.taken(office.ann)
    office.let_expire()
    assert office.taken(office.ben) == task
    first, late = answer(workspace, task, office.ben, [1]), answer(workspace, task, office.ann, [4])
    again = [("reopen", 1), ("accept", 2)]
    for action, base in again:  # the head of the first answer is newer now
        request = RevisionRequest(idempotency_key=f"{action} it again", base=base, action=action)
        append_revision(workspace, first.id, request, office.ben.id)
    with workspace.database.read() as session:
        assert {row.status for row in session.scalars(select(Annotation))} == {"accepted"}
    [item] = items_of(workspace, snapshots.freeze(workspace, office.project.id).sha256)
    assert item.annotation_id == first.id != late.id
    assert [(other.author, other.why) for other in item.instead_of] == [("Ann", "accepted first")]


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


def test_a_left_task_comes_behind_the_others_even_with_a_draft(office: Office) -> None:
    """The drafts of left tasks stay behind after answers too; when only left ones remain, the oldest comes first."""
    first, second, third, fourth = (task.id for task in office.tasks())
    workspace, ann = office.workspace, office.ann
    assert office.taken(ann) == first
    begin(workspace, first, ann)
    assert office.taken(ann, first) == second
    begin(workspace, second, ann)
    assert office.taken(ann, second) == third
    answer(workspace, third, ann)
    assert office.taken(ann, third) == fourth
    assert office.taken(office.ben) == first  # it is free for others, in their own order
    queue.release(workspace, first, office.ben.id)
    answer(workspace, fourth, ann)
    assert office.taken(ann, fourth) == first
    assert office.taken(ann) == first  # what one holds comes first
    assert office.taken(ann, first) == second
    assert office.taken(ann, second) == first
    answer(workspace, first, ann)
    assert office.taken(ann, first) == second


def test_a_task_that_is_given_back_on_leaving_the_queue_keeps_its_place(office: Office) -> None:
    first = office.taken(office.ann)
    queue.release(office.workspace, first, office.ann.id)
    assert office.taken(office.ann) == first


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
    assert "Ann is working on “What is the bill number?” of bill.png until" in reason and reason.endswith(".")
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


def test_nothing_is_asked_anew_by_looking_at_the_queue(office: Office) -> None:
    ensure_local_user(office.workspace)
    queue_view(office.workspace, office.project.id, office.ann.id)
    with office.workspace.database.read() as session:
        for table in (Annotation, Revision, Lease):
            assert session.scalar(select(func.count()).select_from(table)) == 0
