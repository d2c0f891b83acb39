"""Tasks of standard questions, gold questions, and lists of both."""

from pathlib import Path

import pymupdf
import pytest
from sqlalchemy import func, select

from db.base import now
from db.tables import Task, User
from engine.annotation.views import annotation_lines
from engine.documents.ingest import ingest
from engine.errors import NotFound, Refused
from engine.tasks.queue import next_task as queue
from engine.tasks.queue.queue_view import queue_view
from engine.tasks.standard_questions import replace_standard_questions, standard_questions, suggestions
from engine.tasks.tasks import list_tasks, set_gold
from tests.support.annotators import answer, begin
from tests.support.factories import make_project
from tests.support.office import NUMBER, TOTAL, Office

pytestmark = pytest.mark.usefixtures("figures_at_once")


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
