"""Label reviews, on both databases: labels that the model contradicts go to somebody else than their author."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import delete, select, update

from db.tables import Annotation, Document, LabelReview, ReviewCount, Revision, WaitingReview
from engine.annotation import removal
from engine.errors import Forbidden
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.followers import catch_up
from engine.selection import label_review
from engine.tasks.queue.queue_view import to_review
from engine.tasks.review import review_queue
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import edits, judge, make_person, save
from tests.support.drift import figures_adrift, find_drift, rebuild_all
from tests.support.factories import accept, bill, line, make_document, make_project
from tests.support.statements import heard
from tests.support.survey_rows import make_version, say

pytestmark = pytest.mark.usefixtures("figures_at_once")

TOTAL = "What is the total due?"


class Desk:
    """A project with bills, an author, reviewers, and a model."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.project = make_project(workspace)
        self.ann = make_person(workspace, "Ann", self.project.id)
        self.rita, self.ruth = (make_person(workspace, name, self.project.id, "reviewer") for name in ("Rita", "Ruth"))
        replace_standard_questions(workspace, self.project.id, [TOTAL], self.rita.id)
        self.version = make_version(workspace, None)

    def label(self, words=(4,), *, split: str = "train", author: str = "Ann", said=(1,), **model: object) -> Annotation:  # type: ignore[no-untyped-def]
        """An accepted label on a new bill, and what the model says there."""
        document = make_document(self.workspace, self.project.id, [bill(1)], split=split)
        annotation = accept(self.workspace, document, TOTAL, words, author=author)
        say(self.workspace, self.version, document, TOTAL, said, **model)  # type: ignore[arg-type]
        return annotation

    def find(self) -> int:
        return label_review.find(self.workspace, self.project.id)

    def looks(self) -> dict[str, LabelReview]:
        with self.workspace.database.read() as session:
            return {each.annotation_id: each for each in session.scalars(select(LabelReview).order_by(LabelReview.id))}


@pytest.fixture
def desk(workspace: Workspace) -> Desk:
    return Desk(workspace)


def test_labels_are_contradicted_in_three_ways(desk: Desk) -> None:
    elsewhere = desk.label(said=(1,))
    here = desk.label(words=(), said=(4,))
    not_here = desk.label(said=(1,), answered=0.02)
    assert desk.find() == 3
    assert {key: look.kind for key, look in desk.looks().items()} == {
        elsewhere.id: "elsewhere",
        here.id: "here",
        not_here.id: "not_here",
    }


def test_the_same_value_at_another_place_contradicts_no_label(desk: Desk) -> None:
    fields = [FieldDefinition(name="issued", question="What is the date?", type="date")]
    replace_fields(desk.workspace, desk.project.id, fields, desk.rita.id)
    paper = make_document(
        desk.workspace, desk.project.id, [line("12.03.2026 March 12, 2026 13.03.2026", y=20)], split="train"
    )
    accept(desk.workspace, paper, fields[0].question, [0], author="Ann")
    say(desk.workspace, desk.version, paper, fields[0].question, (1, 2, 3))
    assert desk.find() == 0
    other = make_document(desk.workspace, desk.project.id, [line("12.03.2026 14.03.2026", y=20)], split="train")
    doubted = accept(desk.workspace, other, fields[0].question, [0], author="Ann")
    say(desk.workspace, desk.version, other, fields[0].question, (1,))
    assert desk.find() == 1 and list(desk.looks()) == [doubted.id]


@pytest.mark.parametrize(
    "model",
    [
        {"said": (4,)},  # agrees
        {"said": (4, 3)},  # overlaps
        {"said": (1,), "answered": 0.85},  # is not sure that it is there
        {"said": (1,), "score": 0.7},  # does not believe its mark
        {"said": (1,), "answered": 0.15},  # is not sure that it is not there
    ],
)
def test_a_model_that_is_not_sure_doubts_nothing(desk: Desk, model: dict[str, Any]) -> None:
    desk.label(**model)
    assert desk.find() == 0


def test_labels_that_judge_the_model_are_not_doubted_by_it(desk: Desk) -> None:
    for split in ("recent", "frozen"):
        desk.label(split=split)
    assert desk.find() == 0


def test_the_author_does_not_get_it_and_a_reviewer_does_with_the_reason(desk: Desk) -> None:
    mine = desk.label(author="Rita")
    desk.find()
    assert review_queue.next_review(desk.workspace, desk.project.id, desk.rita.id).annotation_id is None
    reason = review_queue.next_review(desk.workspace, desk.project.id, desk.rita.id).reason
    assert reason is not None and "another reviewer" in reason
    found = review_queue.next_review(desk.workspace, desk.project.id, desk.ruth.id)
    assert found.annotation_id == mine.id
    assert found.label_review is not None and found.second_look == found.label_review
    assert found.label_review.words == [1]
    assert found.label_review.sentence == "nano marks another place (99% sure): “B1001”."
    assert found.to_review == 1
    with pytest.raises(Forbidden):
        judge(desk.workspace, mine.id, desk.rita)


def test_submitted_answers_come_before_label_reviews_and_both_are_counted(desk: Desk) -> None:
    doubted = desk.label()
    document = make_document(desk.workspace, desk.project.id, [bill(2)])
    submitted = accept(desk.workspace, document, TOTAL, [4], author="Ann", status="submitted")
    desk.find()
    with desk.workspace.database.read() as session:
        assert to_review(session, desk.project.id, desk.rita.id) == 2
    first = review_queue.next_review(desk.workspace, desk.project.id, desk.rita.id)
    assert (first.annotation_id, first.label_review) == (submitted.id, None)
    judge(desk.workspace, submitted.id, desk.rita)
    assert review_queue.next_review(desk.workspace, desk.project.id, desk.rita.id).annotation_id == doubted.id
    lines = review_queue.waiting_answers(desk.workspace, desk.project.id, desk.ruth.id)
    assert [(line.annotation_id, line.label_review is not None) for line in lines] == [(doubted.id, True)]


def test_two_reviewers_do_not_get_the_same_label_review(desk: Desk) -> None:
    both = {desk.label().id, desk.label().id}
    desk.find()
    one = review_queue.next_review(desk.workspace, desk.project.id, desk.rita.id).annotation_id
    other = review_queue.next_review(desk.workspace, desk.project.id, desk.ruth.id).annotation_id
    assert {one, other} == both


def test_a_reviewer_goes_round_all_label_reviews(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_queue, "_CANDIDATES", 2)  # that one step reads: fewer than wait
    for _ in range(5):
        desk.label()
    desk.find()
    with desk.workspace.database.write() as session:
        for at, look in enumerate(session.scalars(select(LabelReview).order_by(LabelReview.id.desc()))):
            look.iou = at // 2 / 10  # two at a time stand side by side
    looks = sorted(desk.looks().values(), key=lambda look: (look.iou, look.created_at, look.id))
    order = [look.annotation_id for look in looks]
    seen: list[str | None] = [None]
    with heard(desk.workspace) as said:
        for _ in range(7):
            seen.append(review_queue.next_review(desk.workspace, desk.project.id, desk.rita.id, seen[-1]).annotation_id)
    assert seen[1:] == [*order, *order[:2]]
    if desk.workspace.database.dialect == "sqlite":  # it tells how it finds rows, however few there are
        queued = [(statement, values) for statement, values in said if "ORDER BY second_looks.iou" in statement]
        with desk.workspace.database.engine.connect() as connection:
            for statement, values in queued:
                plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
                steps = " ".join(step for *_, step in plan)
                assert "TEMP B-TREE" not in steps, steps
        assert len(queued) > 7


@pytest.mark.parametrize(("verdict", "kept"), [("accepted", "kept"), ("fixed", "mended"), ("rejected", "returned")])
def test_the_verdict_is_kept_and_the_label_leaves_the_queue(desk: Desk, verdict: str, kept: str) -> None:
    label = desk.label()
    desk.find()
    more = {"edits": edits(desk.workspace, label.document_id, [1])} if verdict == "fixed" else {}
    judge(desk.workspace, label.id, desk.rita, verdict, **more)
    look = desk.looks()[label.id]
    assert (look.verdict, look.decided_by) == (kept, desk.rita.id)
    assert look.decided_at is not None
    assert review_queue.next_review(desk.workspace, desk.project.id, desk.rita.id).annotation_id is None
    assert desk.find() == 0  # looked at once for this model
    [line] = label_review.lines(desk.workspace, desk.project.id)
    assert (line.verdict, line.decided_by, line.author) == (kept, "Rita", "Ann")


def test_a_kept_label_is_doubted_again_only_when_a_model_says_something_new(desk: Desk) -> None:
    label = desk.label(said=(1,))
    desk.find()
    judge(desk.workspace, label.id, desk.rita)
    with desk.workspace.database.read() as session:
        document = session.get_one(Document, label.document_id)
    second = make_version(desk.workspace, desk.project.id, 1)
    say(desk.workspace, second, document, TOTAL, [1])
    assert desk.find() == 0
    third = make_version(desk.workspace, desk.project.id, 2)
    say(desk.workspace, third, document, TOTAL, [6])
    assert desk.find() == 1


def test_an_author_who_mends_the_label_takes_it_out_of_the_queue(desk: Desk) -> None:
    label = desk.label()
    desk.find()
    save(desk.workspace, label.id, desk.ann, [1])
    assert review_queue.next_review(desk.workspace, desk.project.id, desk.rita.id).annotation_id is None
    assert label_review.lines(desk.workspace, desk.project.id) == []


def test_an_answer_of_an_older_model_or_of_other_words_doubts_nothing(desk: Desk) -> None:
    desk.label()
    make_version(desk.workspace, desk.project.id, 1)  # the champion now, and it has said nothing yet
    assert desk.find() == 0


def test_the_number_of_label_reviews_is_kept_and_drift_of_it_is_repaired(desk: Desk) -> None:
    workspace, project = desk.workspace, desk.project.id
    labels = [desk.label(author=author) for author in ("Ann", "Ann", "Rita")]
    desk.find()

    def numbers() -> list[int]:
        catch_up(workspace)
        with workspace.database.read() as session:
            return [to_review(session, project, person.id) for person in (desk.ann, desk.rita, desk.ruth)]

    assert numbers() == [1, 2, 3]
    removal.remove(workspace, labels[0].id, None, labels[0].author_id)
    save(workspace, labels[1].id, desk.ann, [2], action="reopen")
    assert numbers() == [1, 0, 1]
    removal.restore(workspace, labels[0].id, labels[0].author_id)
    assert numbers() == [1, 1, 2]
    assert not find_drift(workspace)
    with workspace.database.write() as session:
        session.execute(delete(WaitingReview))
        session.execute(update(ReviewCount).values(number=7))
    assert {kind for kind, _ in figures_adrift(workspace)} == {"waiting_reviews", "review_counts"}
    rebuild_all(workspace, project)
    assert not find_drift(workspace)
    assert numbers() == [1, 1, 2]


def test_a_label_that_changes_while_it_is_doubted_does_not_wait(desk: Desk) -> None:
    """On PostgreSQL, it is doubted while the change is under way; SQLite has one writer."""
    workspace, label = desk.workspace, desk.label()
    if workspace.database.dialect == "sqlite":
        desk.find()
        save(workspace, label.id, desk.ann, [2], action="reopen")
    else:
        with ThreadPoolExecutor(1) as pool, workspace.database.write() as session:
            held = select(Annotation.id).where(Annotation.id == label.id).with_for_update(key_share=True)
            session.execute(held)
            assert pool.submit(desk.find).result(timeout=30) == 1
            made = Revision(annotation_id=label.id, number=label.head + 1, base=label.head, author_id=desk.ann.id)
            made.action, made.status, made.state, made.idempotency_key = "reopen", "draft", {}, "reopened"
            session.add(made)
            changed = session.get_one(Annotation, label.id)
            changed.head, changed.status = label.head + 1, "draft"
    assert not find_drift(workspace)
