"""Counts of tasks and of a document's questions: whatever is shown beside each other adds up."""

import pytest

from db.tables import Task
from engine.documents.lists.listing import document_lines
from engine.tasks.queue.queue_view import queue_view
from engine.workspace import Workspace
from tests.support.annotators import answer, judge
from tests.support.factories import accept
from tests.support.office import CUSTOMER, NUMBER, TOTAL, Office

pytestmark = pytest.mark.usefixtures("figures_at_once")


def test_tasks_at_work_are_part_of_the_open_ones_and_all_add_up(workspace: Workspace) -> None:
    office = Office(workspace, bills=3, questions=(NUMBER, TOTAL, CUSTOMER))
    office.set(review_required=True)
    first = office.taken(office.ann)
    answer(workspace, first, office.ann)
    second = office.taken(office.ann, first)
    judge(workspace, answer(workspace, second, office.ann).id, office.rita)
    office.taken(office.ann, second)
    office.taken(office.ben)
    for person in (office.ann, office.ben, office.rita):
        view = queue_view(workspace, office.project.id, person.id)
        assert (view.open, view.in_progress, view.submitted, view.done, view.total) == (7, 2, 1, 1, 9)
        assert view.open + view.submitted + view.done + view.automatic == view.total
    office.let_expire()
    assert queue_view(workspace, office.project.id, office.ann.id).in_progress == 0


def test_a_document_counts_standard_questions_and_others_that_were_asked(workspace: Workspace) -> None:
    office = Office(workspace, bills=1, questions=(NUMBER, TOTAL, CUSTOMER))
    [document] = office.documents
    accept(workspace, document, NUMBER, [1], author="Ann")
    accept(workspace, document, NUMBER, [1], author="Ben")  # the same question
    accept(workspace, document, "When is it due?", [2], author="Ann")
    line = document_lines(workspace, office.project.id)[0]
    assert (line.accepted, line.questions) == (2, 4)
    assert document_lines(workspace, office.project.id, ids=[document.id]) == [line]
    office.ask(TOTAL)  # a question that was answered stays, another one goes
    with workspace.database.read() as session:
        assert session.query(Task).filter(Task.closed_at.is_(None)).count() == 1
    line = document_lines(workspace, office.project.id)[0]
    assert (line.accepted, line.questions) == (2, 3)
