"""Several people's answers to one question are judged together: equal ones at once, contradicting ones by a choice."""

import csv
import threading
from pathlib import Path

import pytest
from sqlalchemy import select

from db.tables import Annotation, Project, Review, User
from engine.annotation.revisions import RevisionRequest, append_revision, state_at
from engine.datasets import snapshots
from engine.datasets.manifest import items_of
from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.interchange import exports
from engine.projects.projects import change_settings
from engine.tasks.review import review_queue
from engine.tasks.review.same_question import OtherAnswer, other_answers
from engine.tasks.review.verdicts import reviews_of
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.annotators import answer, begin, edits, judge, make_person, save, tasks_of
from tests.support.factories import bill, line, make_document, make_project

pytestmark = pytest.mark.usefixtures("figures_at_once")
QUESTION = "What is the total due?"


class Table:
    """A question that three people answered: Ann and Ben alike, Cem otherwise."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.project: Project = make_project(workspace)
        change_settings(workspace, self.project.id, review_required=True, overlap_share=1.0, overlap_people=3)
        self.rita, self.rolf = (make_person(workspace, name, self.project.id, "reviewer") for name in ("Rita", "Rolf"))
        self.document = make_document(workspace, self.project.id, [bill(1)])
        replace_standard_questions(workspace, self.project.id, [QUESTION], self.rita.id)
        [self.task] = tasks_of(workspace, self.project.id)
        people = [make_person(workspace, name, self.project.id) for name in ("Ann", "Ben", "Cem")]
        answers = zip(people, ([4], [4], [1]), strict=True)
        self.ann, self.ben, self.cem = (answer(workspace, self.task.id, person, words).id for person, words in answers)

    def status(self, annotation_id: str) -> str:
        with self.workspace.database.read() as session:
            return session.get_one(Annotation, annotation_id).status

    def next(self, reviewer: User, after: str | None = None) -> review_queue.NextReview:
        return review_queue.next_review(self.workspace, self.project.id, reviewer.id, after)

    def label(self) -> tuple[str, list[tuple[str, str]]]:
        [item] = items_of(self.workspace, snapshots.freeze(self.workspace, self.project.id).sha256)
        return item.annotation_id, [(answer.author, answer.why) for answer in item.instead_of]


@pytest.fixture
def table(workspace: Workspace) -> Table:
    return Table(workspace)


def test_a_reviewer_sees_the_other_answers_to_the_question(table: Table) -> None:
    first = table.next(table.rita)
    relations = {answer.author: (answer.relation, answer.status, answer.text) for answer in first.others}
    assert first.annotation_id == table.ann
    assert relations["Ben"][:2] == ("equal", "submitted")
    assert relations["Cem"][:2] == ("contradicts", "submitted") and relations["Cem"][2]


def test_one_verdict_accepts_all_equal_answers(table: Table) -> None:
    judged = judge(table.workspace, table.ann, table.rita)
    assert judged.also_accepted == [table.ben]
    assert [table.status(each) for each in (table.ann, table.ben, table.cem)] == ["accepted", "accepted", "submitted"]
    [line] = reviews_of(table.workspace, table.ben)
    assert (line.reviewer, line.verdict) == ("Rita", "accepted")
    following = table.next(table.rita, table.ann)
    assert following.annotation_id == table.cem
    assert {answer.relation for answer in following.others} == {"contradicts"}


def test_values_decide_in_a_field_with_a_type(table: Table) -> None:
    """Ann and Ben mark the same date in two forms; Cem marks the words of Ann, and corrects their text."""
    dated = FieldDefinition(name="issued", question="What is the date?", type="date")
    paper = make_document(table.workspace, table.project.id, [line("12.03.2026 March 12, 2026", y=20)])
    replace_fields(table.workspace, table.project.id, [dated], table.rita.id)
    [task] = [task for task in tasks_of(table.workspace, table.project.id) if task.document_id == paper.id]
    with table.workspace.database.read() as session:
        people = dict(session.execute(select(User.name, User)).tuples().all())
    ann = answer(table.workspace, task.id, people["Ann"], [0])
    ben = answer(table.workspace, task.id, people["Ben"], [1, 2, 3])
    cem = begin(table.workspace, task.id, people["Cem"])
    corrected = [*edits(table.workspace, paper.id, [0]), {"op": "text", "text": "13.03.2026"}]
    request = {"idempotency_key": "corrected", "base": 0, "action": "accept", "edits": corrected}
    append_revision(table.workspace, cem.id, RevisionRequest.model_validate(request), people["Cem"].id)
    relations = {each.author: (each.relation, each.text) for each in others_of(table, ann.id)}
    assert relations == {"Ben": ("equal", "March 12, 2026"), "Cem": ("contradicts", "13.03.2026")}
    assert judge(table.workspace, ann.id, table.rita).also_accepted == [ben.id]
    with pytest.raises(Refused, match=r"contradicts this one: “12\.03\.2026”"):
        judge(table.workspace, cem.id, table.rita)


def others_of(table: Table, annotation_id: str) -> list[OtherAnswer]:
    """The answers beside one, as the reviewer's page shows them."""
    with table.workspace.database.read() as session:
        annotation = session.get_one(Annotation, annotation_id)
        return other_answers(session, annotation, state_at(session, annotation_id, annotation.head))


def test_a_repeated_verdict_is_stored_once(table: Table) -> None:
    key = "the same key"
    first = judge(table.workspace, table.ann, table.rita, idempotency_key=key, base=1)
    again = judge(table.workspace, table.ann, table.rita, idempotency_key=key, base=1)
    assert again.revision == first.revision
    with table.workspace.database.read() as session:
        assert len(session.scalars(select(Review)).all()) == 2


def test_an_equal_answer_of_the_reviewer_waits_for_somebody_else(table: Table) -> None:
    rolfs = answer(table.workspace, table.task.id, table.rolf, [4])
    with table.workspace.database.write() as session:  # a reviewer's own answer stands at once; here it waits
        session.get_one(Annotation, rolfs.id).status = "submitted"
    assert judge(table.workspace, table.ann, table.rolf).also_accepted == [table.ben]
    assert table.status(rolfs.id) == "submitted"


def test_an_answer_that_contradicts_an_accepted_one_is_refused_until_it_is_chosen(table: Table) -> None:
    judge(table.workspace, table.ann, table.rita)
    with pytest.raises(Refused, match="Ann's answer to this question is accepted and contradicts this one"):
        judge(table.workspace, table.cem, table.rita)
    assert table.status(table.cem) == "submitted"
    judge(table.workspace, table.cem, table.rita, becomes_label=True)
    assert table.status(table.cem) == "accepted"
    chosen, instead_of = table.label()
    assert chosen == table.cem
    assert sorted(author for author, _ in instead_of) == ["Ann", "Ben"]
    assert {why for _, why in instead_of} == {"chosen by a reviewer"}


def test_the_last_choice_counts_and_a_change_after_it_ends_it(table: Table) -> None:
    judge(table.workspace, table.cem, table.rita)
    judge(table.workspace, table.ann, table.rita, becomes_label=True)
    assert table.label()[0] in (table.ann, table.ben)
    with table.workspace.database.read() as session:
        cem = session.get_one(User, session.get_one(Annotation, table.cem).author_id)
    save(table.workspace, table.cem, cem, [1])  # submitted again
    judge(table.workspace, table.cem, table.rolf, becomes_label=True)
    assert table.label()[0] == table.cem


def test_a_fix_that_contradicts_is_refused_too(table: Table) -> None:
    judge(table.workspace, table.ann, table.rita)
    with pytest.raises(Refused, match="contradicts this one"):
        judge(table.workspace, table.cem, table.rita, "fixed", edits=edits(table.workspace, table.document.id, [0, 1]))
    fix = edits(table.workspace, table.document.id, [4])
    assert judge(table.workspace, table.cem, table.rita, "fixed", edits=fix).status == "fixed"


def test_answers_to_one_question_go_to_one_reviewer(table: Table) -> None:
    table.next(table.rita)
    other = table.next(table.rolf)
    assert other.annotation_id is None and other.reason is not None and "Rita is reviewing" in other.reason
    review_queue.release(table.workspace, table.ann, table.rita.id)
    assert table.next(table.rolf).annotation_id is not None


def test_of_two_verdicts_at_once_on_contradicting_answers_one_is_refused(table: Table) -> None:
    refused = []

    def accept(annotation_id: str, reviewer: User) -> None:
        try:
            judge(table.workspace, annotation_id, reviewer)
        except Refused as refusal:
            refused.append(str(refusal))

    work = [
        threading.Thread(target=accept, args=(annotation_id, reviewer))
        for annotation_id, reviewer in ((table.ann, table.rita), (table.cem, table.rolf))
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert len(refused) == 1 and "contradicts" in refused[0]


def test_an_export_says_which_answers_it_passed_over_and_why(table: Table, tmp_path: Path) -> None:
    judge(table.workspace, table.ann, table.rita)
    judge(table.workspace, table.cem, table.rita, becomes_label=True)
    folder = exports.export(table.workspace, table.project.id, "csv", tmp_path / "out").folder
    with (folder / "answers.csv").open(encoding="utf-8-sig", newline="") as file:
        [row] = csv.DictReader(file)
    assert row["annotation_id"] == table.cem
    assert row["instead_of"] == "Ann: chosen by a reviewer\nBen: chosen by a reviewer"
