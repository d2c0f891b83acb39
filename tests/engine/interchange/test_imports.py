"""Exported sets come back as they were, and meet what a project has already."""

import gc
import io
import json
import shutil
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from sqlalchemy import select

from db.base import now
from db.tables import Annotation, Document, Page, PageWord, Revision
from engine.accounts.users import ensure_local_user
from engine.annotation.change import apply
from engine.annotation.edits import EditAddValue, EditWords
from engine.annotation.removal import remove
from engine.annotation.state import AnnotationState, PageGeometry
from engine.interchange.bad_entries import BadEntries
from engine.interchange.exports import export
from engine.interchange.formats import page_xml
from engine.interchange.import_entries import IncomingPage
from engine.interchange.imports import RECOGNISE, ImportStopped, import_set
from engine.tasks.queue.queue_view import queue_view
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from model.boxes import Box
from model.masks import rasterise
from tests.support.accounts import make_user
from tests.support.factories import accept, bill, boxes_of, line, make_document, make_project, pages_of
from tests.support.imported_sets import (
    EXACT,
    EXPECTED,
    TOTAL,
    Answered,
    counted,
    documents_of,
    is_there,
    marked,
    take_in,
    values_of,
)


@pytest.mark.parametrize("form", EXACT)
def test_a_round_trip_gives_every_mask_back_to_the_pixel(answered: Answered, tmp_path: Path, form: str) -> None:
    workspace, source = answered
    export(workspace, source, form, tmp_path / "out")
    project, done = take_in(workspace, form, tmp_path / "out")
    found = marked(workspace, project)
    assert len(found) == 4 and all(is_there(found, *one) for one in EXPECTED)
    assert (done.documents, done.pages, done.no_answer) == (2, 3, 1)
    assert done.answers == 3  # the one of two pages is one answer


@pytest.mark.parametrize("form", ["boundingdocs", "funsd", "page-xml"])
def test_what_words_make_comes_back_from_formats_of_boxes_too(answered: Answered, tmp_path: Path, form: str) -> None:
    workspace, source = answered
    export(workspace, source, form, tmp_path / "out")
    project, _ = take_in(workspace, form, tmp_path / "out")
    found = marked(workspace, project)
    by_words = [one for one in EXPECTED if one[0] == TOTAL]
    assert len(found) == 4 and all(is_there(found, *one) for one in by_words)
    with workspace.database.read() as session:
        pages = session.scalars(select(Page.word_count).join(Document).where(Document.project_id == project)).all()
    assert all(count in (len(bill(1)), len(line("Total due: 7.00"))) for count in pages)


def test_words_and_numbers_come_back_where_the_format_has_them(answered: Answered, tmp_path: Path) -> None:
    workspace, source = answered
    export(workspace, source, "grounded", tmp_path / "one")
    project, _ = take_in(workspace, "grounded", tmp_path / "one")
    export(workspace, project, "grounded", tmp_path / "two")

    def said(folder: Path) -> list[str]:
        pages = [json.loads(text) for text in (folder / "pages.jsonl").read_text().splitlines()]
        return sorted(
            json.dumps(
                [
                    page["words"],
                    sorted([one["question"], one["answers"], one.get("masks")] for one in page["questions"]),
                ]
            )
            for page in pages
        )

    assert said(tmp_path / "one") == said(tmp_path / "two")


def test_the_same_set_again_changes_nothing_and_a_zip_file_is_a_folder(answered: Answered, tmp_path: Path) -> None:
    workspace, source = answered
    export(workspace, source, "coco", tmp_path / "out")
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "out"))
    project, _ = take_in(workspace, "coco", tmp_path / "out")
    before, by = counted(workspace, project), ensure_local_user(workspace).id
    with workspace.database.read() as session:
        asked = session.scalars(select(Annotation.id).where(Annotation.project_id == project)).all()
    remove(workspace, asked[0], 1, by)  # what was removed does not come back
    again = import_set(workspace, project, "coco", packed, user_id=by)
    assert (again.documents, again.known, again.answers, again.no_answer) == (0, 2, 0, 0)
    assert counted(workspace, project) == before


def test_a_plain_coco_set_with_boxes_polygons_and_several_of_a_kind_comes_in(
    sqlite_workspace: Workspace, tmp_path: Path
) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (60, 40), "white").save(buffer, "JPEG")
    (tmp_path / "a.jpg").write_bytes(buffer.getvalue())
    stored = {
        "images": [{"id": 7, "file_name": "a.jpg", "width": 60, "height": 40}],
        "categories": [{"id": 1, "name": "stamp"}, {"id": 2, "name": "logo"}],
        "annotations": [
            {"id": 1, "image_id": 7, "category_id": 1, "bbox": [2, 3, 10, 5]},
            {"id": 2, "image_id": 7, "category_id": 1, "bbox": [30, 20, 4, 4]},
            {
                "id": 3,
                "image_id": 7,
                "category_id": 2,
                "segmentation": [[10, 10, 20, 10, 20, 20, 10, 20]],
                "bbox": [10, 10, 10, 10],
            },
        ],
    }
    (tmp_path / "instances.json").write_text(json.dumps(stored))
    project, done = take_in(sqlite_workspace, "coco", tmp_path / "instances.json")
    found = dict(marked(sqlite_workspace, project))
    assert (done.documents, done.answers) == (1, 3)
    assert np.array_equal(found["stamp"], rasterise([(2, 3, 12, 8), (30, 20, 34, 24)], (40, 60)))
    assert np.array_equal(found["logo"], rasterise([(10, 10, 20, 20)], (40, 60)))


def test_two_imports_of_the_same_set_at_once_bring_each_document_once(answered: Answered, tmp_path: Path) -> None:
    workspace, source = answered
    out = export(workspace, source, "grounded", tmp_path / "out").folder
    project = make_project(workspace, "at once")
    people = [make_user(workspace, name, **{project.id: "reviewer"}).id for name in ("anna2", "ben2")]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda by: import_set(workspace, project.id, "grounded", out, user_id=by), people))
    assert sum(one.documents for one in done) == 2 and sum(one.known for one in done) == 2
    assert counted(workspace, project.id) == (2, 8, 3)
    assert [(one.pages, one.answers, one.no_answer) for one in done] == [(3, 3, 1)] * 2


@pytest.mark.usefixtures("tesseract")
def test_pages_without_words_are_read_and_recognised_when_they_come_again(workspace: Workspace, tmp_path: Path) -> None:
    picture = Image.new("RGB", (1000, 400), "white")
    ImageDraw.Draw(picture).text((80, 120), "Total due: 125.50", "black", ImageFont.load_default(48))
    picture.save(tmp_path / "page.png")
    content = {
        "images": [{"id": 1, "file_name": "page.png", "width": 1000, "height": 400}],
        "categories": [{"id": 1, "name": TOTAL}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [330, 110, 180, 70]}],
    }
    (tmp_path / "annotations.json").write_text(json.dumps(content))
    project, by = make_project(workspace, "read"), ensure_local_user(workspace).id
    done = import_set(workspace, project.id, RECOGNISE, tmp_path, user_id=by, ocr=True)
    assert (done.form, done.documents, done.read) == ("coco", 1, 1)
    with workspace.database.read() as session:
        page = session.scalar(select(Page).join(Document).where(Document.project_id == project.id))
        assert page is not None and page.text_source == "ocr"
        words = session.scalars(select(PageWord.text).where(PageWord.page_id == page.id).order_by(PageWord.position))
        assert list(words) == ["Total", "due:", "125.50"]
    again = import_set(workspace, project.id, RECOGNISE, tmp_path, user_id=by, ocr=False)
    assert (again.documents, again.known, again.answers, again.read) == (0, 1, 0, 0)


def test_answers_to_a_known_document_are_marked_on_the_words_that_it_has(workspace: Workspace, tmp_path: Path) -> None:
    """As after an OCR that read it otherwise, or words that were mended since: their numbers are not counted anew."""
    Image.new("RGB", (200, 100), "white").save(tmp_path / "page.png")
    content = {
        "images": [{"id": 1, "file_name": "page.png", "width": 200, "height": 100}],
        "categories": [{"id": 1, "name": TOTAL}],
        "annotations": [{"id": 1, "image_id": 1.0, "category_id": 1.0, "bbox": [10, 10, 40, 20]}],
    }
    (tmp_path / "annotations.json").write_text(json.dumps(content))
    project = make_project(workspace, "known")
    first, second = (make_user(workspace, name, **{project.id: "reviewer"}) for name in ("anna", "ben"))
    assert import_set(workspace, project.id, "coco", tmp_path, user_id=first.id).answers == 1
    with workspace.database.write() as session:
        page = session.scalars(select(Page).join(Document).where(Document.project_id == project.id)).one()
        boxes = {0: (10, 10, 50, 30), 3: (100, 10, 150, 30), 7: (10, 10, 50, 30)}
        for position, (number, (x0, y0, x1, y1)) in enumerate(boxes.items()):
            session.add(
                PageWord(
                    page_id=page.id, number=number, position=position, line=0, text=f"w{number}",
                    x0=x0, y0=y0, x1=x1, y1=y1, retired_at=now() if number == 0 else None,
                )
            )  # fmt: skip
    assert import_set(workspace, project.id, "coco", tmp_path, user_id=second.id, ocr=True).answers == 1
    with workspace.database.read() as session:
        stored = session.scalar(
            select(Revision.state).join(Annotation, Annotation.id == Revision.annotation_id)
            .where(Annotation.author_id == second.id)
        )  # fmt: skip
    assert AnnotationState.model_validate(stored).pages[page.id].words == [7]


def test_an_imported_answer_to_a_standard_question_closes_its_task(answered: Answered, tmp_path: Path) -> None:
    workspace, source = answered
    export(workspace, source, "grounded", tmp_path / "out")
    project, by = make_project(workspace, "with questions"), ensure_local_user(workspace)
    replace_standard_questions(workspace, project.id, [TOTAL, "Who signed it?"], by.id)
    import_set(workspace, project.id, "grounded", tmp_path / "out", user_id=by.id)
    view = queue_view(workspace, project.id, by.id)
    assert (view.total, view.open, view.done) == (4, 2, 2)


def test_a_key_printed_again_gives_its_question_a_value_for_each(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    """Two entities "Name:" with different answers ask the same question; a third one repeats the first answer."""
    for folder in ("annotations", "images"):
        (tmp_path / folder).mkdir()
    Image.new("RGB", (200, 100), "white").save(tmp_path / "images" / "one.png")

    def entity(number: int, label: str, text: str, links: list[list[int]]) -> dict[str, object]:
        box = [10 * number, 10, 10 * number + 8, 20]
        return {
            "id": number, "label": label, "text": text, "box": box, "linking": links,
            "words": [{"text": text, "box": box}],
        }  # fmt: skip

    form = [
        entity(0, "question", "Name:", [[0, 1]]),
        entity(1, "answer", "Ann", [[0, 1]]),
        entity(2, "question", "Name", [[2, 3]]),
        entity(3, "answer", "Ben", [[2, 3]]),
        entity(4, "question", "Name", [[4, 1]]),
        entity(5, "question", "City:", [[5, 6]]),
        entity(6, "answer", "Bonn", [[5, 6]]),
    ]
    (tmp_path / "annotations" / "one.json").write_text(json.dumps({"form": form}))
    project, done = take_in(sqlite_workspace, "funsd", tmp_path)
    assert done.answers == 3 and not done.lost
    boxes: list[Box] = [(10, 10, 18, 20), (30, 10, 38, 20)]
    values = values_of(sqlite_workspace, project, "What is the Name?")
    assert [np.array_equal(mask, rasterise([box], (100, 200))) for [mask], box in zip(values, boxes, strict=True)]
    assert np.array_equal(dict(marked(sqlite_workspace, project))["What is the Name?"], rasterise(boxes, (100, 200)))


@pytest.mark.parametrize("form", [*EXACT, "page-xml", "boundingdocs"])
def test_several_values_come_back_in_order_also_over_two_pages(
    sqlite_workspace: Workspace, tmp_path: Path, form: str
) -> None:
    project = make_project(sqlite_workspace)
    question = "Who was there?"
    words = line("Ann Ben Cem", y=20)
    document = make_document(sqlite_workspace, project.id, [words, line("Dora Eli", y=20)], name="guests.png")
    first, second = pages_of(sqlite_workspace, document.id)
    state = apply(
        AnnotationState(),
        [
            EditWords(op="words", page=first.id, add=[2]),
            EditWords(op="words", page=second.id, add=[0]),  # the first value goes on there
            EditAddValue(op="add_value", place=1),
            EditWords(op="words", page=first.id, add=[0], place=1),
        ],
        {
            page.id: PageGeometry((page.height, page.width), boxes_of(sqlite_workspace, page.id))
            for page in (first, second)
        },
    )
    accept(sqlite_workspace, document, question, state=state)
    export(sqlite_workspace, project.id, form, tmp_path / "out")
    taken, done = take_in(sqlite_workspace, form, tmp_path / "out")
    assert done.answers == 2 and not done.lost
    expected = values_of(sqlite_workspace, project.id, question)
    values = values_of(sqlite_workspace, taken, question)
    assert [len(value) for value in values] == [2, 1]
    assert all(
        np.array_equal(*masks) for pair in zip(values, expected, strict=True) for masks in zip(*pair, strict=True)
    )


def test_acceptable_answers_to_a_question_are_its_values(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    Image.new("RGB", (200, 100), "white").save(tmp_path / "one.png")
    page = {
        "page_id": "one", "image": "one.png", "width": 200, "height": 100,
        "words": [{"text": "7", "box": [at, 10, at + 8, 20]} for at in (10, 40, 70)],
        "questions": [{"question_id": "q", "question": TOTAL, "answers": [[0], [1], [2]]}],
    }  # fmt: skip
    (tmp_path / "pages.jsonl").write_text(json.dumps(page) + "\n")
    project, done = take_in(sqlite_workspace, "grounded", tmp_path)
    assert done.answers == 3 and not done.lost
    values = values_of(sqlite_workspace, project, TOTAL)
    for at, [mask] in zip((10, 40, 70), values, strict=True):
        assert np.array_equal(mask, rasterise([(at, 10, at + 8, 20)], (100, 200)))


def test_a_stopped_import_leaves_whole_documents_and_its_repeat_adds_the_rest(
    answered: Answered, tmp_path: Path
) -> None:
    workspace, _ = answered
    out = export(*answered, "grounded", tmp_path / "out").folder
    project, by = make_project(workspace, "stopped").id, ensure_local_user(workspace).id
    with pytest.raises(ImportStopped, match="Stopped before anything was stored"):
        import_set(workspace, project, "grounded", out, user_id=by, should_stop=lambda: True)
    assert documents_of(workspace, project) == 0
    taken: list[tuple[str, int]] = []
    with pytest.raises(
        ImportStopped, match=r"Everything stored so far is kept \(documents: 1, answers: \d\)"
    ) as stopped:
        import_set(
            workspace,
            project,
            "grounded",
            out,
            user_id=by,
            on_progress=lambda doing, done, _of: taken.append((doing, done)),
            should_stop=lambda: taken[-1] == ("Storing", 3),
        )
    first = stopped.value.found
    assert documents_of(workspace, project) == first.documents == 1
    rest = import_set(workspace, project, "grounded", out, user_id=by)
    assert (rest.known, rest.documents) == (1, 1) and first.answers + rest.answers == 3
    assert len(marked(workspace, project)) == len(EXPECTED)


def test_a_set_of_page_xml_is_not_held_in_memory(
    answered_on_file: Answered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = export(*answered_on_file, "page-xml", tmp_path / "out").folder
    living: weakref.WeakSet[IncomingPage] = weakref.WeakSet()
    read = page_xml._page

    class Watched(IncomingPage):  # a page itself has no room for what refers to it weakly
        __slots__ = ("__weakref__",)

    def watched(folder: Path, file: Path, bad_entries: BadEntries) -> IncomingPage:
        page = read(folder, file, bad_entries)
        copy = Watched(**{name: getattr(page, name) for name in IncomingPage.__slots__})
        living.add(copy)
        return copy

    monkeypatch.setattr(page_xml, "_page", watched)
    most = 0
    for _ in page_xml.open_set(out, BadEntries()).pages():
        gc.collect()
        most = max(most, len(living))
    assert 1 <= most <= 2
