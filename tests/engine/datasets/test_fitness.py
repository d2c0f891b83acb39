"""What a snapshot takes, what it leaves out and says so, and what each answer weighs in it."""

import numpy as np
import pytest
from sqlalchemy import select

from db.tables import Revision, Snapshot
from engine.annotation.change import state_of
from engine.annotation.state import AnnotationState, AnswerValue, PageMark, to_patch
from engine.datasets import snapshots
from engine.datasets.filters import Filters
from engine.datasets.labels import project_facts
from engine.datasets.manifest import left_out_of, parts_of, people_of, revisions_of
from engine.errors import Refused
from engine.projects.projects import change_settings
from engine.tasks.standard_questions import replace_standard_questions
from engine.training.sources.corpus import corpus_of
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.annotators import answer, make_person, tasks_of
from tests.support.factories import SIZE, accept, bill, boxes_of, make_document, make_project, pages_of, revise
from tests.support.stored_pages import paper, scanned_again, store

TOTAL = "What is the total due?"


def test_unfit_answers_are_left_out_with_reasons_and_exports_may_have_them(workspace: Workspace) -> None:
    project = make_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    fit = accept(workspace, document, TOTAL, [4])
    everything = accept(workspace, document, "All of it?", mask=np.ones((SIZE[1], SIZE[0]), bool))
    empty = accept(workspace, document, "Where?", state=AnnotationState())
    snapshot = snapshots.freeze(workspace, project.id)
    assert [item.annotation_id for item in snapshots.load(workspace, snapshot)] == [fit.id]
    left = list(left_out_of(workspace, snapshot.sha256))
    assert {row.annotation_id: row.reasons for row in left} == {
        everything.id: ("most_of_the_page",),
        empty.id: ("nothing_marked",),
    }
    assert {(row.document, row.question) for row in left} == {("bill.png", "All of it?"), ("bill.png", "Where?")}
    assert snapshot.counts["left_out"] == {"most_of_the_page": 1, "nothing_marked": 1}
    whole = snapshots.freeze(workspace, project.id, unfit=True)
    assert whole.counts["annotations"] == 3 and whole.counts["left_out"] == {}


def test_a_mended_answer_is_fit_again(workspace: Workspace) -> None:
    project = make_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    empty = accept(workspace, document, TOTAL, state=AnnotationState())
    with pytest.raises(Refused, match="1 unfit answer is left out"):
        snapshots.freeze(workspace, project.id)
    revise(workspace, empty, AnnotationState(no_answer=True))
    assert snapshots.freeze(workspace, project.id).counts["annotations"] == 1


def test_contradicting_answers_on_a_page_that_came_in_twice_are_left_out(workspace: Workspace) -> None:
    project = make_project(workspace)
    first = store(workspace, project.id, [paper(0)], "first.png")
    again = store(workspace, project.id, [scanned_again(paper(0))], "again.png")
    other = store(workspace, project.id, [paper(1)], "other.png")
    assert first.group_id == again.group_id
    for document, words in ((first, [0]), (again, [12]), (other, [5])):
        accept(workspace, document, "What is it?", words)
        accept(workspace, document, "Who is it?")
    with workspace.database.snapshot_read() as session:
        [chosen] = snapshots.chosen_labels(session, project_facts(session, project.id), Filters())
    assert {(label.document.name, label.question) for label in chosen.left_out} == {
        ("first.png", "What is it?"),
        ("again.png", "What is it?"),
    }
    assert {reason for label in chosen.left_out for reason in label.reasons} == {"contradicted"}


class Three:
    """Bills that three people answer; Mal is always wrong."""

    def __init__(self, workspace: Workspace, bills: int = 8) -> None:
        self.workspace, self.project = workspace, make_project(workspace)
        change_settings(workspace, self.project.id, overlap_share=1.0, overlap_people=3)
        self.documents = [make_document(workspace, self.project.id, [bill(number)]) for number in range(bills)]
        self.ann, self.ben, self.mal = (
            make_person(workspace, name, self.project.id, "reviewer") for name in ("Ann", "Ben", "Mal")
        )
        replace_standard_questions(workspace, self.project.id, [TOTAL], self.ann.id)
        for task in tasks_of(workspace, self.project.id):
            for person, words in ((self.ann, [4]), (self.ben, [4]), (self.mal, [1])):
                answer(workspace, task.id, person, words)


def test_of_several_accepted_answers_the_most_agreed_one_beats_a_newer_one(
    workspace: Workspace,
) -> None:
    three = Three(workspace)
    snapshot = snapshots.freeze(workspace, three.project.id)
    items = list(snapshots.load(workspace, snapshot))
    assert {item.author for item in items} <= {"Ann", "Ben"}
    assert len(items) == 8
    assert sum(len(part["passed_over"]) for part in parts_of(workspace, snapshot.sha256)) == 16
    with workspace.database.read() as session:
        assert set(revisions_of(workspace, snapshot.sha256)) == set(session.scalars(select(Revision.id)))
    assert people_of(workspace, snapshot.sha256)["Ann"]["comparisons"] == 16
    assert all(0.6 < item.weight < 1 for item in items), "Mal's vote against them counts little"


def test_a_lone_answer_of_an_unreliable_person_weighs_little(workspace: Workspace) -> None:
    three = Three(workspace)
    alone = make_document(workspace, three.project.id, [bill(30)])
    accept(workspace, alone, "What is the bill number?", [4], author="Mal")
    good = accept(workspace, alone, TOTAL, [4], author="Ann")
    snapshot = snapshots.freeze(workspace, three.project.id)
    weights = {item.annotation_id: item.weight for item in snapshots.load(workspace, snapshot)}
    mal = next(item for item in snapshots.load(workspace, snapshot) if item.author == "Mal")
    assert mal.weight < 0.3 < 0.8 < weights[good.id]
    corpus = corpus_of(workspace, snapshot.sha256, exact=False)
    page = mal.document.pages[0].id
    assert corpus.weights[page][mal.question_id] == mal.weight
    with workspace.database.read() as session:
        kept = session.get_one(Snapshot, snapshot.id).counts
    assert kept["reduced"] + kept["weightless"] == len([weight for weight in weights.values() if weight < 1])


def test_each_of_several_values_is_an_acceptable_answer(sqlite_workspace: Workspace) -> None:
    project = make_project(sqlite_workspace)
    document = make_document(sqlite_workspace, project.id, [bill(1)])
    [page] = pages_of(sqlite_workspace, document.id)
    boxes = boxes_of(sqlite_workspace, page.id)
    marks = [
        PageMark(words=[word], mask=to_patch(rasterise([boxes[word]], (page.height, page.width)))) for word in (4, 6)
    ]
    state = state_of([AnswerValue(pages={page.id: mark}) for mark in marks])
    accept(sqlite_workspace, document, "What is printed?", state=state)
    snapshot = snapshots.freeze(sqlite_workspace, project.id)
    [grounded] = corpus_of(sqlite_workspace, snapshot.sha256).pages
    assert grounded.questions[0].answers == [[4], [6]]
