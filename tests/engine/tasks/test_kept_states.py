"""States of tasks that are kept: they equal what the answers say, whatever people do; drift is found and repaired."""

import threading

from sqlalchemy import func, select, update

from db import statuses
from db.tables import Annotation, Question, Task, TaskCount, User
from engine.tasks import kept_states
from engine.tasks.queue.queue_view import queue_view
from engine.workspace import Workspace
from tests.support.annotators import answer, begin, save
from tests.support.drift import find_drift, rebuild_all
from tests.support.office import NUMBER, Office
from tests.support.statements import heard
from tests.support.task_actions import Campaign

NUMBERS = ("task_counts", "queue_days", "mask_counts", "project_figures")


def test_kept_states_follow_whatever_people_do(workspace: Workspace) -> None:
    campaign = Campaign(workspace, seed=1)
    for step in range(60):
        campaign.act()
        if step % 10 == 9:
            campaign.check()


def test_kept_states_are_right_after_each_piece_of_a_change(workspace: Workspace, one_document_a_batch: None) -> None:
    campaign = Campaign(workspace, seed=2)
    for step in range(60):
        campaign.act()
        assert not (drift := find_drift(workspace)), (drift, campaign.done)
        if step % 10 == 9:
            campaign.check()


def test_people_who_answer_at_once_are_all_counted(workspace: Workspace) -> None:
    office = Office(workspace, bills=3)
    office.set(overlap_share=1.0, overlap_people=3)
    asked = "Who asked this freely?"
    people = [office.ann, office.ben, office.rita]
    start = threading.Barrier(len(people) + 1)

    def work(person: User) -> None:
        drafts = [begin(workspace, task.id, person) for task in tasks]
        drafts.append(freely(workspace, office.documents[0].id, asked, person))
        start.wait()
        for draft in drafts[-1:] + drafts[:-1]:
            save(workspace, draft.id, person, [1])

    tasks = office.tasks()
    with workspace.database.write() as session:
        session.add(Question(project_id=office.project.id, text=asked))
    threads = [threading.Thread(target=work, args=[person]) for person in people]
    for thread in threads:
        thread.start()
    start.wait()
    office.ask(NUMBER, asked)  # its tasks open while it is answered
    for thread in threads:
        thread.join()
    assert not find_drift(workspace)
    with workspace.database.read() as session:
        assert session.scalar(select(func.sum(Task.answered))) == 3 * (len(tasks) + 1)


def test_numbers_are_stored_after_everything_that_is_locked(workspace: Workspace) -> None:
    """Others wait for the few rows of numbers until the commit, so who holds them must not wait for anything else."""
    office = Office(workspace, bills=1)
    office.set(review_required=True)
    task = office.tasks()[0]
    for words in ([1], [2]):  # the second time, the status stays as it is
        draft = begin(workspace, task.id, office.ann)
        with heard(workspace) as said:
            save(workspace, draft.id, office.ann, words, action="submit")
        written = [
            statement for statement, _ in said if not statement.startswith("SELECT") or "FOR NO KEY" in statement
        ]
        numbers = [at for at, each in enumerate(written) if any(f"INTO {name} " in each for name in NUMBERS)]
        others = [at for at, each in enumerate(written) if at not in numbers and "changes" not in each]
        assert numbers or words == [2]
        assert not numbers or min(numbers) > max(others), "\n".join(written)
    assert not find_drift(workspace)


def freely(workspace: Workspace, document_id: str, text: str, person: User) -> Annotation:
    """Begin an answer to a question that is no standard one."""
    with workspace.database.write() as session:
        question = session.scalars(select(Question).where(Question.text == text)).one()
        annotation = Annotation(
            project_id=question.project_id, document_id=document_id, question_id=question.id, author_id=person.id
        )
        session.add(annotation)
        session.flush()
        return annotation


def test_drift_is_found_and_repaired(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    first, second = office.tasks()[:2]
    given = answer(workspace, first.id, office.ann)
    before = queue_view(workspace, project, office.ben.id)
    assert not find_drift(workspace, project)
    with workspace.database.engine.begin() as connection:  # past every service
        connection.execute(update(Task).where(Task.id == second.id).values(state="done", answered=1))
        connection.execute(update(TaskCount).values(number=TaskCount.number + 3))
        connection.execute(update(Annotation).values(edited_by=office.rita.id))
    drift = kept_states.check(workspace, project)
    assert drift.tasks == [second.id]
    assert drift.editors == [given.id]
    assert [each[1:] for each in drift.counts] == [("done", 4, 2), ("open", 6, 2)]
    rebuild_all(workspace, project)
    assert not find_drift(workspace)
    assert queue_view(workspace, project, office.ben.id) == before
    with workspace.database.read() as session:
        assert session.scalar(select(Task.state).where(Task.id == second.id)) == statuses.OPEN
