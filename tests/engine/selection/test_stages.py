"""The stages, on both databases: nothing is accepted automatically that was not measured, and checks can end it."""

from collections.abc import Sequence

import pytest
from sqlalchemy import select, update

from db.tables import (
    Annotation,
    AuditEntry,
    AutomaticAnswer,
    Document,
    Question,
    Revision,
    Task,
)
from engine.annotation.state import AnnotationState
from engine.datasets import snapshots
from engine.errors import Conflict, Forbidden, Refused
from engine.projects.projects import change_settings
from engine.selection import auto_accept, stages
from engine.selection.survey_figures import measure
from engine.statistics.throughput import figures
from engine.tasks.opening import overlap
from engine.tasks.queue import next_task as queue
from engine.tasks.queue.queue_view import queue_view
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import answer, tasks_of
from tests.support.automatic_project import QUESTIONS, RIGHT, Works
from tests.support.factories import accept, bill, make_document, revise
from tests.support.figures_at_once import follow_at_once
from tests.support.prepared_workspaces import Prepare
from tests.support.survey_rows import make_version, say


def _begin(workspace: Workspace) -> Works:
    follow_at_once(workspace)
    return Works(workspace)


@pytest.fixture
def works(prepare: Prepare) -> Works:
    workspace, works = prepare(_begin)
    follow_at_once(workspace)
    return works.copied_to(workspace)


def test_automatic_is_refused_until_it_was_measured_and_says_why(works: Works) -> None:
    with pytest.raises(Refused, match="The precision of nano is not measured yet"):
        works.begin_automatic()
    works.model_says(wrong=20)
    with pytest.raises(Refused, match=r"nano has not reached the target of 80.0%: .* 22 of 42 .* were right"):
        works.begin_automatic()
    assert works.stage() == "assisted"
    assert works.view().blocked is not None and works.view().threshold is None
    works.model_says(wrong=1)
    change_settings(works.workspace, works.project.id, precision_answers=50)
    with pytest.raises(Refused, match="on 42 reviewed answers of held-out documents; 50 are needed"):
        works.begin_automatic()
    change_settings(works.workspace, works.project.id, precision_answers=20)
    change = works.begin_automatic()
    assert (change.stage, change.changed_by) == ("automatic", works.boss.id)
    assert change.figures["low"] >= 0.8 and change.figures["answers"] == 42


def test_only_an_admin_sets_the_stage_and_every_step_is_on_record(works: Works) -> None:
    with pytest.raises(Forbidden):
        stages.set_stage(works.workspace, works.project.id, "semi_automatic", by=works.rita)
    stages.set_stage(works.workspace, works.project.id, "semi_automatic", by=works.boss, reason="To see it.")
    with pytest.raises(Conflict):
        stages.set_stage(works.workspace, works.project.id, "semi_automatic", by=works.boss)
    with pytest.raises(Refused, match="no stage"):
        stages.set_stage(works.workspace, works.project.id, "magic", by=works.boss)
    with pytest.raises(Refused):  # no way round through the settings
        change_settings(works.workspace, works.project.id, stage="automatic")
    view = works.view()
    assert (view.stage, view.reason, view.changed_by) == ("semi_automatic", "To see it.", works.boss.name)
    with works.workspace.database.read() as session:
        assert "stage.change" in session.scalars(select(AuditEntry.action)).all()


def test_precision_is_measured_on_holdouts_alone(works: Works) -> None:
    """Answers on training documents, whose labels the model may have learned, change nothing."""
    works.model_says(wrong=3)
    with works.workspace.database.read() as session:
        before = measure(session, works.project.id, works.version.id)
    assert (before.answers, before.documents) == (42, 14)
    for document in works.waiting:
        accept(works.workspace, document, QUESTIONS[0], [3], author="Ann")
    apart = make_document(works.workspace, works.project.id, [bill(1)], split="recent", quarantined=True)
    accept(works.workspace, apart, QUESTIONS[0], [1], author="Ann")
    say(works.workspace, works.version, apart, QUESTIONS[0], [1])
    with works.workspace.database.read() as session:
        assert measure(session, works.project.id, works.version.id) == before
    assert before.points[0].right == 39


def test_an_answer_that_a_person_calls_absent_counts_as_wrong(works: Works) -> None:
    works.model_says()
    with works.workspace.database.read() as session:
        question = session.scalars(select(Question.id).where(Question.text == QUESTIONS[0])).one()
        here = (Annotation.document_id == works.holdouts[0].id, Annotation.question_id == question)
        annotation = session.scalars(select(Annotation).where(*here)).one()
        before = measure(session, works.project.id, works.version.id).points[0].right
    revise(works.workspace, annotation, AnnotationState(no_answer=True))
    with works.workspace.database.read() as session:
        assert measure(session, works.project.id, works.version.id).points[0].right == before - 1


def test_what_is_sure_enough_is_accepted_and_leaves_the_queue(works: Works) -> None:
    works.model_says()
    say(works.workspace, works.version, works.waiting[0], QUESTIONS[0], [1], answered=0.6)  # not sure enough
    say(works.workspace, works.version, works.waiting[1], QUESTIONS[0], [1], answered=0.3)  # "not answered here"
    works.begin_automatic()
    offered, threshold = works.view().would_accept, works.view().threshold
    found = works.accept()
    expected = offered
    assert threshold is not None
    assert expected == (10 if threshold > 0.6 else 11)
    assert (found.answers, found.fell_back) == (expected, None)
    assert all(each.confidence >= threshold and each.model_version_id == works.version.id for each in works.answers())
    view = queue_view(works.workspace, works.project.id, works.ann.id)
    assert view.automatic == expected - found.audits
    assert view.open == 12 - view.automatic
    assert view.open == view.mine
    assert works.accept().answers == 0  # a second survey accepts nothing twice


def test_holdouts_overlap_known_answers_and_begun_tasks_are_left_to_people(works: Works) -> None:
    works.model_says()
    works.begin_automatic()
    fresh = make_document(works.workspace, works.project.id, [bill(50)], split="recent", name="new holdout")
    replace_standard_questions(works.workspace, works.project.id, QUESTIONS, works.rita.id)
    say(works.workspace, works.version, fresh, QUESTIONS[0], [1])
    tasks = [task for task in tasks_of(works.workspace, works.project.id) if task.document_id in _ids(works.waiting)]
    with works.workspace.database.write() as session:
        session.get_one(Task, tasks[0].id).wanted = 2
        known = session.scalars(select(Revision.id)).first()
        session.get_one(Task, tasks[1].id).gold_revision_id = known
    held = queue.next_task(works.workspace, works.project.id, works.ann.id).task
    assert held is not None
    works.accept()
    accepted = {each.task_id for each in works.answers()}
    with works.workspace.database.read() as session:
        documents = set(session.scalars(select(Task.document_id).where(Task.id.in_(accepted))))
    assert documents <= _ids(works.waiting)
    assert not accepted & {tasks[0].id, tasks[1].id, held.id}


def _ids(documents: Sequence[Document]) -> set[str]:
    return {document.id for document in documents}


def test_automatic_answers_are_no_labels_until_a_person_confirms_one(works: Works) -> None:
    """Not in a snapshot to train on, not in a holdout, not in the figures of people: no annotation at all."""
    works.model_says()
    works.begin_automatic()
    annotations = _count(works.workspace, Annotation)
    works.accept()
    assert len(works.answers()) > 0
    assert _count(works.workspace, Annotation) == annotations
    with pytest.raises(Refused, match="no accepted answer"):
        snapshots.freeze(works.workspace, works.project.id, split="train")
    work = figures(works.workspace, works.project.id)
    assert sum(row.masks for row in work.masks_a_day) == annotations
    works.all_audits()
    works.check(right=True)
    frozen = snapshots.freeze(works.workspace, works.project.id, split="train")
    [item] = list(snapshots.load(works.workspace, frozen))
    assert item.author == "Ann"
    view = works.view()
    assert (view.confirmed, view.corrected, view.audit.checked, view.audit.right) == (1, 0, 1, 1)


def _count(workspace: Workspace, table: type) -> int:
    with workspace.database.read() as session:
        return len(session.scalars(select(table.id)).all())  # type: ignore[attr-defined]


def test_a_share_is_drawn_for_checks_and_handed_out_like_any_task(works: Works) -> None:
    works.model_says()
    change_settings(works.workspace, works.project.id, audit_share=0.5)
    works.begin_automatic()
    found = works.accept()
    drawn = {each.task_id for each in works.answers() if each.audit}
    assert drawn == {each.task_id for each in works.answers() if overlap.fraction(f"audit:{each.task_id}") < 0.5}
    assert found.audits == len(drawn)
    got = set()
    while (task := queue.next_task(works.workspace, works.project.id, works.ann.id).task) is not None:
        got.add(task.id)
        answer(works.workspace, task.id, works.ann, RIGHT[task.question.text])
    assert got == drawn
    reason = queue_view(works.workspace, works.project.id, works.ann.id).reason
    assert reason is not None and "accepted automatically" in reason


def test_the_stage_falls_back_by_itself_when_checks_find_too_many_wrong(works: Works) -> None:
    """Of a target of .8, five of the first twenty are one too many; four are let pass."""
    works.model_says()
    works.begin_automatic()
    works.accept()
    works.all_audits()
    works.check(right=False, count=4)
    assert works.stage() == "automatic"
    works.check(right=True, count=2)
    works.check(right=False)
    assert works.stage() == "semi_automatic"
    view = works.view()
    assert view.changed_by is None
    assert (
        view.reason == "People checked 7 automatic answers and found 5 wrong: precision is below the target of 80.0%."
    )
    assert (view.audit.checked, view.audit.right) == (7, 2)
    with pytest.raises(Refused, match=r"found 5 wrong.*another model"):
        works.begin_automatic()
    with works.workspace.database.read() as session:
        assert "stage.fall_back" in session.scalars(select(AuditEntry.action)).all()


def test_answers_that_nobody_drew_for_a_check_do_not_end_it(works: Works) -> None:
    works.model_says()
    works.begin_automatic()
    works.accept()
    with works.workspace.database.write() as session:
        session.execute(update(AutomaticAnswer).values(audit=False))
    tasks = {task.id: task for task in tasks_of(works.workspace, works.project.id)}
    for each in list(works.answers())[:8]:
        answer(works.workspace, tasks[each.task_id].id, works.ann, [3])  # asked by themselves
    assert works.stage() == "automatic"
    assert works.view().corrected == 8


def test_an_unmeasured_model_ends_the_stage_before_anything_is_accepted(works: Works) -> None:
    works.model_says()
    works.begin_automatic()
    second = make_version(works.workspace, works.project.id, 1)
    assert works.accept().fell_back is not None
    assert works.stage() == "semi_automatic"
    assert "v1" in works.view().reason
    works.model_says(version=second)
    assert auto_accept.accept(works.workspace, works.project.id) is None
    assert works.answers() == []
    works.begin_automatic()
    assert works.accept().answers == 12


def test_all_is_taken_back_at_once_but_for_what_people_have_answered(works: Works) -> None:
    works.model_says()
    works.begin_automatic()
    works.accept()
    works.all_audits()
    works.check(right=True, count=2)
    with works.workspace.database.write() as session:
        session.execute(update(AutomaticAnswer).where(AutomaticAnswer.verdict.is_(None)).values(audit=False))
    assert queue_view(works.workspace, works.project.id, works.ann.id).open == 0
    with pytest.raises(Forbidden):
        auto_accept.undo(works.workspace, works.project.id, by=works.rita)
    assert auto_accept.undo(works.workspace, works.project.id, by=works.boss) == 10
    view = queue_view(works.workspace, works.project.id, works.ann.id)
    assert (view.open, view.automatic) == (10, 0)
    assert works.accept().answers == 0  # what was taken back of this model stays with people
    assert auto_accept.undo(works.workspace, works.project.id, by=works.boss) == 0
    states = [line.withdrawn for line in auto_accept.lines(works.workspace, works.project.id)]
    assert states.count(True) == 10


def test_the_queue_s_depth_counts_an_automatic_answer_as_done(works: Works) -> None:
    works.model_says()
    works.begin_automatic()
    before = figures(works.workspace, works.project.id).queue[-1].open
    works.accept()
    with works.workspace.database.write() as session:
        session.execute(update(AutomaticAnswer).values(audit=False))
    assert figures(works.workspace, works.project.id).queue[-1].open == before - 12
