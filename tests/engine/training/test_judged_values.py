"""Answers of a model are judged as values of typed fields: from accepted answers to figures."""

from itertools import cycle, islice
from pathlib import Path

import pytest

from engine.annotation.state import AnnotationState, Correction, PageMark, to_patch
from engine.datasets import snapshots
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.training.evaluation.evaluate import evaluate
from engine.training.evaluation.judged_values import AcceptedValue, KnownValues
from engine.training.retraining.judging import answer_pages
from engine.training.sources.corpus import corpus_of
from engine.workspace import Workspace
from model.inference import Predictor
from model.kinds import Kind
from model.masks import rasterise
from tests.support.annotators import make_person
from tests.support.factories import accept, boxes_of, line, make_document, make_project, pages_of, save_tiny_model

DATE = FieldDefinition(name="issued", question="What is the date?", type="date")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.safetensors"
    save_tiny_model(path)
    return path


def page(number: int, *accepted: AcceptedValue, text: str = "12.03.2026") -> tuple[GroundedPage, KnownValues]:
    """A page of a single word, which is the only answer that a model can give, and what people accepted for it."""
    question = GroundedQuestion("q", DATE.question, [[0]], kind=Kind.DATE)
    grounded = GroundedPage(f"{number}", None, 200, 100, [GroundedWord(text, (20, 20, 120, 40))], [question])
    return grounded, KnownValues({"q": DATE}, accepted={f"{number}": {"q": accepted}})


@pytest.mark.parametrize(
    ("accepted", "equal", "exact"),
    [
        ([AcceptedValue("12.03.2026")], 1.0, 1.0),
        ([], 1.0, 1.0),  # read from the words of the acceptable answers
        ([AcceptedValue("12 March 2026", corrected=True)], 1.0, 0.0),
        ([AcceptedValue("13.03.2026", corrected=True)], 0.0, 0.0),
        ([AcceptedValue("13.03.2026", corrected=True), AcceptedValue("March 12, 2026")], 1.0, 0.0),
        ([AcceptedValue("12.03.2026", picked="2026-12-03")], 0.0, 1.0),
    ],
)
def test_an_answer_is_right_as_a_value_whatever_its_text(
    checkpoint: Path, accepted: list[AcceptedValue], equal: float, exact: float
) -> None:
    grounded, known = page(1, *accepted)
    [score] = evaluate(Predictor.load(checkpoint), [grounded], values=known).scored
    assert score.iou == 1.0 and score.values is not None
    assert (score.values.model.equal, score.values.model.exact) == (equal, exact)


def test_figures_have_values_with_intervals_where_fields_are_known(checkpoint: Path) -> None:
    texts = islice(cycle(["12.03.2026", "13.03.2026"]), 6)
    made = [
        page(number, AcceptedValue("12 March 2026", corrected=True), text=text) for number, text in enumerate(texts)
    ]
    pages = [grounded for grounded, _ in made]
    known = KnownValues({"q": DATE}, accepted={name: of for _, one in made for name, of in one.accepted.items()})
    predictor = Predictor.load(checkpoint)
    answer = evaluate(predictor, pages, values=known).to_json()
    assert (answer["typed"], answer["value_equal"], answer["value_exact"]) == (6, 0.5, 0.0)
    low, high = answer["interval"]["value_equal"]
    assert low < 0.5 < high
    assert answer["values_by_type"]["date"]["value_equal"] == 0.5
    plain = evaluate(predictor, pages).to_json()
    assert "value_equal" not in plain and "values_by_type" not in plain and "value_equal" not in plain["interval"]
    of_kinds = evaluate(predictor, pages, values=KnownValues(by_kind=True)).to_json()
    assert of_kinds["value_exact"] == 1.0


def test_a_holdout_is_judged_by_what_people_accepted_and_corrected(
    sqlite_workspace: Workspace, checkpoint: Path
) -> None:
    """Two papers of a word each; the text of the second one is corrected, as OCR had misread it."""
    project = make_project(sqlite_workspace)
    person = make_person(sqlite_workspace, "Ann", project.id, "admin")
    papers = [make_document(sqlite_workspace, project.id, [line("12.03.2026", y=20 + at)]) for at in range(2)]
    replace_fields(sqlite_workspace, project.id, [DATE], person.id)
    for paper, correction in zip(papers, (None, Correction(text="12.08.2026")), strict=True):
        [shown] = pages_of(sqlite_workspace, paper.id)
        mask = rasterise([boxes_of(sqlite_workspace, shown.id)[0]], (shown.height, shown.width))
        mark = PageMark(words=[0], mask=to_patch(mask))
        accept(
            sqlite_workspace,
            paper,
            DATE.question,
            state=AnnotationState(pages={shown.id: mark}, correction=correction),
        )
    corpus = corpus_of(sqlite_workspace, snapshots.freeze(sqlite_workspace, project.id).sha256)
    scored = answer_pages(
        sqlite_workspace,
        list(corpus.pages),
        0,
        sqlite_workspace.blobs.put_file(checkpoint),
        corpus.values,
        report=lambda _: None,
        should_stop=lambda: None,
    )
    document_of = {score.page_id: corpus.documents[score.page_id] for score in scored}
    equal = {
        document_of[score.page_id]: (score.iou, score.values.model.equal)
        for score in scored
        if score.values is not None
    }
    assert equal == {papers[0].id: (1.0, 1.0), papers[1].id: (1.0, 0.0)}
