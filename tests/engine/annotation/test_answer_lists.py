"""The list of a document's answers: what each line says, and how little the database is asked for it."""

from collections.abc import Callable

from sqlalchemy import delete, event

from db.tables import Annotation, ModelVersion, Prediction, Revision
from engine.accounts.users import ensure_local_user
from engine.annotation.proposal import StoredAnswer
from engine.annotation.state import to_patch
from engine.annotation.views import annotation_lines, annotation_view
from engine.annotation.words import WordEditsRequest, edit_words
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.annotators import make_person, save
from tests.support.factories import SIZE, accept, bill, make_document, make_project, pages_of


def statements(workspace: Workspace, look: Callable[[], object]) -> int:
    """How many statements `look` sends."""
    sent: list[str] = []

    def hear(_connection: object, _cursor: object, statement: str, *_more: object) -> None:
        sent.append(statement)

    event.listen(workspace.database.engine, "before_cursor_execute", hear)
    try:
        look()
    finally:
        event.remove(workspace.database.engine, "before_cursor_execute", hear)
    return len(sent)


def propose(workspace: Workspace, annotation: Annotation, words: list[int], **prompts: object) -> None:
    """What a model says; with prompts, after a person helped it."""
    page = pages_of(workspace, annotation.document_id)[0]
    mask = to_patch(rasterise([bill(0)[at][1] for at in words], (SIZE[1], SIZE[0])))
    with workspace.database.write() as session:
        version = ModelVersion(number=0, checkpoint_sha256="a" * 64, code_version="0")
        session.add(version)
        session.flush()
        answer = StoredAnswer(words=words, mask=mask, text="", score=0.5).model_dump(mode="json")
        session.add(
            Prediction(
                annotation_id=annotation.id,
                page_id=page.id,
                question_id=annotation.question_id,
                model_version_id=version.id,
                prompts=prompts,
                answer=answer,
                score=words[0] / 10,
                answered=0.9,
                milliseconds=1.0,
            )
        )


def test_more_answers_take_no_more_statements(workspace: Workspace) -> None:
    project = make_project(workspace).id
    document = make_document(workspace, project, [bill(1), bill(2)])
    person = make_person(workspace, "Ann", project)

    def answers(first: int, last: int) -> None:
        for at in range(first, last):
            given = accept(workspace, document, f"Question {at}?", [at % 7], page=1 + at % 2, author=f"Person {at % 3}")
            propose(workspace, given, [4])

    def look() -> None:
        annotation_lines(workspace, document.id, person.id)

    answers(0, 3)
    few = statements(workspace, look)
    answers(3, 30)
    assert len(annotation_lines(workspace, document.id, person.id)) == 30
    assert statements(workspace, look) == few


def test_a_line_says_what_the_answer_says(workspace: Workspace) -> None:
    user = ensure_local_user(workspace)
    project = make_project(workspace).id
    document = make_document(workspace, project, [bill(1), bill(2)])
    page = pages_of(workspace, document.id)[0].id
    edited = accept(workspace, document, "What is the total due?", [3, 4])
    propose(workspace, edited, [1])
    propose(workspace, edited, [2])
    propose(workspace, edited, [5], points=[[1.0, 1.0, True]])
    accept(workspace, document, "Who signed it?")
    accept(workspace, document, "What is the second number?", [1], page=2)
    untouched = accept(workspace, document, "Who is the customer?", [6], author="Ben")
    with workspace.database.write() as session:
        there = session.get_one(Annotation, untouched.id)
        there.head, there.status = 0, "draft"
        session.execute(delete(Revision).where(Revision.annotation_id == untouched.id))
    propose(workspace, untouched, [5, 6])
    x0, y0, x1, y1 = bill(1)[4][1]
    halves = [{"text": "11.", "box": (x0, y0, x0 + 9, y1)}, {"text": "50", "box": (x0 + 9, y0, x1, y1)}]
    split = {"op": "split", "number": 4, "parts": halves}
    edit_words(workspace, page, WordEditsRequest(idempotency_key="split one", base=0, edits=[split]), user.id)
    lines = annotation_lines(workspace, document.id)
    assert [(line.text, line.no_answer, line.score) for line in lines] == [
        ("due: 11. 50", False, 0.2),
        ("", True, None),
        ("B1002", False, None),
        ("Customer: Nr1", False, 0.5),
    ]
    for line in lines:
        view = annotation_view(workspace, line.id)
        assert (line.text, line.pages, line.updated_at) == (view.text, view.state.marked_pages(), view.updated_at)
    save(workspace, untouched.id, user, [6])
    assert annotation_lines(workspace, document.id)[3].text == "Nr1"
