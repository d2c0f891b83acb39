"""Automatic answers in datasets: only on request, marked, and never taken for a person's."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from db.statuses import ACCEPTED, AUTOMATIC
from db.tables import (
    Annotation,
    AutomaticAnswer,
    Job,
    Page,
    Question,
    Run,
    Task,
)
from engine.annotation import automatic_checks
from engine.annotation.state import AnnotationState
from engine.datasets import snapshots
from engine.datasets.estimates import questions_answered, would_take
from engine.datasets.filters import Filters
from engine.datasets.snapshot_views import newest_view, snapshot_lines, snapshot_view
from engine.errors import Refused
from engine.grounded import read_pages
from engine.interchange.exports import export
from engine.interchange.imports import import_set
from engine.selection import auto_accept
from engine.tasks.standard_questions import replace_standard_questions
from engine.training.sources.corpus import corpus_of
from engine.workspace import Workspace
from tests.support.automatic_project import QUESTIONS, Works
from tests.support.factories import accept, make_project
from tests.support.prepared_workspaces import Prepare
from tests.support.survey_rows import say


def _answer_automatically(workspace: Workspace) -> Works:
    works = Works(workspace)
    works.model_says()
    works.begin_automatic()
    works.accept()
    return works


@pytest.fixture
def works(prepare: Prepare) -> Works:
    """A project that has answered automatically."""
    workspace, works = prepare(_answer_automatically)
    return works.copied_to(workspace)


def test_a_dataset_holds_automatic_answers_on_request_and_marks_them(works: Works, tmp_path: Path) -> None:
    given = {each.id: each for each in works.answers()}
    whole = (*ACCEPTED, AUTOMATIC)
    people = _exported(works, tmp_path / "people", Filters(unfit=True))
    assert {status for _, status, _, _ in people} == {"accepted"}
    both = _exported(works, tmp_path / "both", Filters(statuses=whole, unfit=True))
    machine = both - people
    assert both - machine == people
    assert {(id_, author, weight) for id_, _, author, weight in machine} == {
        (id_, "model nano", round(one.confidence, 6)) for id_, one in given.items()
    }
    [frozen] = [one for one in snapshot_lines(works.workspace, works.project.id) if one.annotations == len(both)]
    corpus = corpus_of(works.workspace, frozen.sha256)
    assert len(corpus.pages) == len(works.holdouts)  # nobody learns from what the model said by itself
    card = (tmp_path / "both" / "README.md").read_text()
    assert f"**{len(machine)} of the {len(both)} answers were accepted without a person**" in card
    assert "without a person" not in (tmp_path / "people" / "README.md").read_text()


def test_a_dataset_holds_standing_automatic_answers_that_pass_the_filters(works: Works, tmp_path: Path) -> None:
    before = len(works.answers())
    works.all_audits()
    works.check(right=True)

    def written(name: str, **chosen: object) -> int:
        filters = Filters(statuses=(AUTOMATIC,), **chosen)  # type: ignore[arg-type]
        found = len(_exported(works, tmp_path / name, filters))
        estimate = would_take(works.workspace, works.project.id, filters)
        assert estimate.answers == found or "agreement" in chosen
        return found

    assert written("standing") == before - 1  # a person's answer counts in its place
    of_one = [each for each in works.answers() if each.verdict is None]
    with works.workspace.database.read() as session:
        questions = [session.get_one(Task, each.task_id).question_id for each in of_one]
        asked = [session.get_one(Question, each).text for each in questions]
    assert written("question", questions=(QUESTIONS[1],)) == asked.count(QUESTIONS[1])
    assert written("confidence", agreement=works.view().threshold) == before - 1
    for nothing in ({"splits": ("recent",)}, {"until": "2000-01-01"}, {"models": ("ab",)}, {"agreement": 1.0}):
        with pytest.raises(Refused, match="no answer that is automatic"):
            written("nothing", **nothing)
    auto_accept.undo(works.workspace, works.project.id, by=works.boss)
    with pytest.raises(Refused):
        written("undone")


def _exported(works: Works, out: Path, filters: Filters) -> set[tuple[str, str, str, float]]:
    """Id, status, author and weight of every answer of an export."""
    export(works.workspace, works.project.id, "coco", out, filters=filters)
    answers = json.loads((out / "annotations.json").read_text())["annotations"]
    kept = [one["attributes"] for one in answers]
    return {(one["annotation_id"], one["status"], one["author"], one["weight"]) for one in kept}


@pytest.mark.parametrize("form", ["coco", "parquet", "png", "grounded", "label-studio", "page-xml"])
def test_what_a_model_said_by_itself_does_not_come_back_as_a_persons_answer(
    works: Works, tmp_path: Path, form: str
) -> None:
    filters = Filters(statuses=(*ACCEPTED, AUTOMATIC), unfit=True)
    export(works.workspace, works.project.id, form, tmp_path / "out", filters=filters)
    other = make_project(works.workspace, "another")
    done = import_set(works.workspace, other.id, "auto", tmp_path / "out", user_id=works.boss.id)
    assert (done.form, done.answers) == (form, 42)
    # Label Studio keeps them as predictions, which come back as proposals.
    assert sum(done.lost.values()) + done.proposals == len(works.answers())
    with works.workspace.database.read() as session:
        stored = select(Annotation).where(Annotation.project_id == other.id)
        assert len(session.scalars(stored).all()) == 42


def test_a_grounded_dataset_teaches_and_judges_by_people_alone(works: Works, tmp_path: Path) -> None:
    filters = Filters(statuses=(*ACCEPTED, AUTOMATIC), unfit=True)
    export(works.workspace, works.project.id, "grounded", tmp_path / "out", filters=filters)
    assert sum(len(page.questions) for page in read_pages(tmp_path / "out")) == 42


@pytest.mark.parametrize("form", ["boundingdocs", "funsd", "yolo"])
def test_a_format_that_cannot_say_what_is_automatic_takes_none(works: Works, tmp_path: Path, form: str) -> None:
    filters = Filters(statuses=(*ACCEPTED, AUTOMATIC), unfit=True)
    with pytest.raises(Refused, match="cannot mark an answer as automatic"):
        export(works.workspace, works.project.id, form, tmp_path / "out", filters=filters)
    assert not (tmp_path / "out").exists()


def test_a_persons_imported_answer_replaces_the_automatic_one(works: Works, tmp_path: Path) -> None:
    out = tmp_path / "out"
    both = Filters(statuses=(*ACCEPTED, AUTOMATIC), unfit=True)
    export(works.workspace, works.project.id, "grounded", out, filters=both)
    lines = [json.loads(line) for line in (out / "pages.jsonl").read_text().splitlines()]
    for line in lines:
        for about in line["answered"]:
            about["status"] = "accepted"  # somebody has looked at them elsewhere
    (out / "pages.jsonl").write_text("\n".join(map(json.dumps, lines)))
    # The same set is imported twice, with answers of the model between: its words and images identify a document.
    other = make_project(works.workspace, "another")
    first = import_set(works.workspace, other.id, "grounded", out, user_id=works.boss.id, status="draft")
    assert first.answers == 42 + len(works.answers())
    with works.workspace.database.write() as session:
        task = session.scalars(select(Task).where(Task.project_id == other.id)).first()
        if task is None:  # no standard questions there yet
            note = session.scalars(select(Annotation).where(Annotation.project_id == other.id)).first()
            assert note is not None
            task = Task(project_id=other.id, document_id=note.document_id, question_id=note.question_id)
            session.add(task)
            session.flush()
        page = session.scalars(select(Page).where(Page.document_id == task.document_id)).one()
        given = works.answers()[0]
        session.add(
            AutomaticAnswer(
                project_id=other.id, task_id=task.id, model_version_id=works.version.id, page_id=page.id,
                answer=given.answer, score=1, answered=1, confidence=0.9, threshold=0.8,
            )
        )  # fmt: skip
    import_set(works.workspace, other.id, "grounded", out, user_id=works.ann.id)
    with works.workspace.database.read() as session:
        of_other = select(AutomaticAnswer).where(AutomaticAnswer.project_id == other.id)
        assert session.scalars(of_other).one().verdict in ("right", "wrong")
    with pytest.raises(Refused, match="no answer that is automatic"):
        export(
            works.workspace, other.id, "coco", tmp_path / "again", filters=Filters(statuses=(AUTOMATIC,), unfit=True)
        )


def test_once_checks_have_failed_no_dataset_holds_the_versions_answers(works: Works, tmp_path: Path) -> None:
    works.all_audits()
    works.check(right=False, count=5)
    assert works.stage() == "semi_automatic"
    assert any(each.verdict is None and each.withdrawn_at is None for each in works.answers())
    filters = Filters(statuses=(AUTOMATIC,), quarantined=True, unfit=True)
    assert would_take(works.workspace, works.project.id, filters).answers == 0
    with pytest.raises(Refused, match="no answer that is automatic"):
        export(works.workspace, works.project.id, "coco", tmp_path / "out", filters=filters)


def test_an_export_is_not_taken_for_what_a_retraining_learned_from(works: Works, tmp_path: Path) -> None:
    accept(works.workspace, works.waiting[0], "Who is it?", [5], author="Ann")
    taught = snapshots.freeze(works.workspace, works.project.id, split="train")
    filters = Filters(splits=("train",), statuses=(*ACCEPTED, AUTOMATIC), unfit=True)
    export(works.workspace, works.project.id, "coco", tmp_path / "out", filters=filters)
    seen = newest_view(works.workspace, works.project.id)
    assert seen is not None and seen.id == taught.id
    whole = snapshot_view(works.workspace, works.project.id, snapshot_lines(works.workspace, works.project.id)[0].id)
    assert [row.person for row in whole.people if row.labels] == ["Ann"]


def test_a_snapshot_shared_by_export_and_retraining_is_shown_as_trained_on(works: Works, tmp_path: Path) -> None:
    accept(works.workspace, works.waiting[0], "Who is it?", [5], author="Ann")
    filters = Filters(splits=("train",), quarantined=True, unfit=True)
    export(works.workspace, works.project.id, "coco", tmp_path / "out", filters=filters)
    assert newest_view(works.workspace, works.project.id) is None
    taught = snapshots.freeze(works.workspace, works.project.id, split="train")
    with works.workspace.database.write() as session:
        job = Job(kind="retrain", project_id=works.project.id)
        session.add(job)
        session.flush()
        session.add(
            Run(
                project_id=works.project.id,
                job_id=job.id,
                parent_id=works.version.id,
                snapshot_id=taught.id,
                seed=1,
                code_version="test",
            )
        )
    seen = newest_view(works.workspace, works.project.id)
    assert seen is not None and seen.id == taught.id


def test_an_import_leaves_what_a_person_said_of_an_automatic_answer(works: Works, tmp_path: Path) -> None:
    works.all_audits()
    works.check(right=True)
    with works.workspace.database.write() as session:
        checked = next(each for each in works.answers() if each.verdict == "right")
        task = session.get_one(Task, checked.task_id)
        state = AnnotationState(no_answer=True)
        automatic_checks.person_answered(
            session, works.project.id, task.document_id, task.question_id, state, works.boss.id, anew=False
        )
    assert next(each for each in works.answers() if each.id == checked.id).verdict == "right"


def test_a_question_that_only_the_model_answered_can_be_chosen(works: Works) -> None:
    fresh = "What is on the second line?"
    replace_standard_questions(works.workspace, works.project.id, [*QUESTIONS, fresh], works.rita.id)
    assert fresh not in questions_answered(works.workspace, works.project.id)
    for document in works.waiting:
        say(works.workspace, works.version, document, fresh, [5], answered=0.97)
    works.accept()
    assert fresh in questions_answered(works.workspace, works.project.id)
