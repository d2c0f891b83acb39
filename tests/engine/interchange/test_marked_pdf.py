"""Marked PDFs: highlights lie at the marks, words that OCR read are found, and the original stays what it is."""

import re
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image, ImageDraw

from db.base import now
from db.tables import Document, PageWord
from engine.documents.ingest import ingest
from engine.documents.lists.views import document_view
from engine.interchange.exports import export
from engine.interchange.marked_pdf.accepted import write_accepted
from engine.interchange.marked_pdf.plan import file_name_of, shape_of
from engine.workspace import Workspace
from model.masks import Mask, encode_patch, iou, rasterise
from tests.support.annotators import make_person
from tests.support.exported_project import brush
from tests.support.factories import accept, boxes_of, line, make_document, make_project, pages_of


def marked_pixels(page: pymupdf.Page, size: tuple[int, int]) -> dict[str, Mask]:
    """The pixels under the highlights and polygons of a page as a viewer shows it, bool [H, W], by question."""
    height, width = size
    scale = pymupdf.Matrix(width / page.rect.width, height / page.rect.height)
    masks: dict[str, Mask] = {}
    for annotation in page.annots(types=[pymupdf.PDF_ANNOT_HIGHLIGHT, pymupdf.PDF_ANNOT_POLYGON]):
        corners = [pymupdf.Point(point) * page.rotation_matrix * scale for point in annotation.vertices]
        mask = masks.setdefault(annotation.info["title"], np.zeros(size, bool))
        if annotation.type[0] == pymupdf.PDF_ANNOT_POLYGON:
            picture = Image.new("1", (width, height))
            ImageDraw.Draw(picture).polygon([(round(x), round(y)) for x, y in corners], fill=1)
            mask |= np.asarray(picture)
            continue
        for first in range(0, len(corners), 4):
            xs, ys = zip(*corners[first : first + 4], strict=True)
            mask |= rasterise([(round(min(xs)), round(min(ys)), round(max(xs)), round(max(ys)))], size)
    return masks


def make_text_pdf(path: Path, rotation: int = 0) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=500, height=300)
        page.insert_text((60, 80), "Invoice 4711 of ACME", fontsize=18)
        page.insert_text((60, 140), "Total due 12.50", fontsize=18)
        page.set_cropbox(pymupdf.Rect(20, 30, 480, 280))
        page.set_rotation(rotation)
        document.save(path)


@pytest.mark.parametrize("rotation", [0, 90, 180])
def test_highlights_lie_at_the_words_of_a_turned_and_cropped_original(
    sqlite_workspace: Workspace, tmp_path: Path, rotation: int
) -> None:
    make_text_pdf(tmp_path / "bill.pdf", rotation)
    project = make_project(sqlite_workspace)
    taken = ingest(sqlite_workspace, tmp_path / "bill.pdf", name="bill.pdf", project_id=project.id, user_id=None)
    document = document_view(sqlite_workspace, taken.document_id)
    [page] = pages_of(sqlite_workspace, document.id)
    boxes = boxes_of(sqlite_workspace, page.id)
    accept(sqlite_workspace, document, "Which number?", [1])  # type: ignore[arg-type]
    accept(sqlite_workspace, document, "What is due?", [4, 6])  # type: ignore[arg-type]
    written = write_accepted(sqlite_workspace, document.id, None, tmp_path / "out.pdf")
    assert (written.from_images, written.note) == (False, "")
    with pymupdf.open(tmp_path / "out.pdf") as made:
        size = page.height, page.width
        masks = marked_pixels(made[0], size)
        assert iou(masks["Which number?"], rasterise([boxes[1]], size)) > 0.9
        assert iou(masks["What is due?"], rasterise([boxes[4], boxes[6]], size)) > 0.9
        notes = {annotation.info["title"]: annotation.info for annotation in made[0].annots()}
        assert notes["Which number?"]["content"] == "4711" and "accepted" in notes["Which number?"]["subject"]
        assert made[0].get_text().split() == [
            "Invoice",
            "4711",
            "of",
            "ACME",
            "Total",
            "due",
            "12.50",
        ]


def test_words_of_a_picture_are_found_at_their_places(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    workspace = sqlite_workspace
    words = line("Straße Łódź Ελλάδα 東京 12.50 € gelesen")
    document = make_document(workspace, make_project(workspace).id, [words], name="scan.png")
    accept(workspace, document, "What is due?", [4])
    assert write_accepted(workspace, document.id, None, tmp_path / "out.pdf").from_images
    with pymupdf.open(tmp_path / "out.pdf") as made:
        [page] = made
        [stored] = pages_of(workspace, document.id)
        scale = pymupdf.Matrix(stored.width / page.rect.width, stored.height / page.rect.height)
        found = {word[4]: pymupdf.Rect(word[:4]) * scale for word in page.get_text("words")}
        assert list(found) == [text for text, _ in words]
        for text, box in words:
            both = abs(found[text] & pymupdf.Rect(box)) / abs(found[text] | pymupdf.Rect(box))
            assert both > 0.9, (text, found[text], box)
        assert page.search_for("Łódź Ελλάδα")
        size = stored.height, stored.width
        assert iou(marked_pixels(page, size)["What is due?"], rasterise([words[4][1]], size)) > 0.9


def test_unseen_words_change_no_pixel(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    document = make_document(sqlite_workspace, make_project(sqlite_workspace).id, [line("One two three")])
    write_accepted(sqlite_workspace, document.id, None, tmp_path / "with.pdf")
    with sqlite_workspace.database.write() as session:
        session.query(PageWord).update({"retired_at": now()})
    write_accepted(sqlite_workspace, document.id, None, tmp_path / "without.pdf")
    with pymupdf.open(tmp_path / "with.pdf") as one, pymupdf.open(tmp_path / "without.pdf") as other:
        assert one[0].get_text().split() and not other[0].get_text().split()
        assert one[0].get_pixmap().samples == other[0].get_pixmap().samples


def test_a_brush_becomes_outlines_and_boxes_stay_boxes() -> None:
    ring = encode_patch(brush())
    shape = shape_of(tuple(ring["box"]), ring["counts"], [])  # type: ignore[arg-type]
    assert not shape.boxes and len(shape.rings) > 1
    rows, columns = np.mgrid[:50, :80]
    disc = encode_patch(np.hypot(rows - 25, columns - 40) < 12)
    assert len(shape_of(tuple(disc["box"]), disc["counts"], []).rings) == 1  # type: ignore[arg-type]
    boxes = [(3, 4, 30, 20), (40, 4, 60, 22)]
    patch = encode_patch(rasterise(boxes, (50, 80)))
    assert shape_of(tuple(patch["box"]), patch["counts"], []).boxes == boxes  # type: ignore[arg-type]
    assert shape_of(tuple(patch["box"]), patch["counts"], boxes[:1]).boxes == boxes  # type: ignore[arg-type]


def test_an_original_that_no_longer_opens_becomes_its_page_images(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    document = make_document(sqlite_workspace, make_project(sqlite_workspace).id, [line("Total 12.50")])
    accept(sqlite_workspace, document, "What is due?", [1])
    with sqlite_workspace.database.write() as session:
        session.merge(document).sha256 = sqlite_workspace.blobs.put(b"%PDF-1.7\nnothing behind the head")
    written = write_accepted(sqlite_workspace, document.id, None, tmp_path / "out.pdf")
    assert written.from_images and "page images" in written.note
    with pymupdf.open(tmp_path / "out.pdf") as made:
        texts = [annotation.info["content"] for annotation in made[0].annots()]
        assert written.note in texts and "12.50" in texts


def test_annotators_get_their_own_answers_and_reviewers_all(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    workspace = sqlite_workspace
    project = make_project(workspace).id
    document = make_document(workspace, project, [line("Total 12.50 on Monday")])
    anna = make_person(workspace, "anna", project, "annotator")
    rita = make_person(workspace, "rita", project, "reviewer")
    accept(workspace, document, "What is due?", [1], author="anna")
    accept(workspace, document, "Which day?", [3], author="ben")
    accept(workspace, document, "Not yet?", [2], author="anna", status="submitted")

    def asked(user_id: str) -> set[str]:
        out = tmp_path / f"{user_id}.pdf"
        write_accepted(workspace, document.id, user_id, out)
        with pymupdf.open(out) as made:
            return {annotation.info["title"] for annotation in made[0].annots()}

    assert asked(anna.id) == {"What is due?"}
    assert asked(rita.id) == {"What is due?", "Which day?"}


def test_an_export_has_a_pdf_a_document_under_a_harmless_name(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    workspace = sqlite_workspace
    project = make_project(workspace).id
    for name in ("../../evil\\a:b.png", "../../evil\\a:b.png", "CON.png"):
        document = make_document(workspace, project, [line("Total 12.50")], name=name)
        accept(workspace, document, "What is due?", [1])
    made = export(workspace, project, "marked-pdf", tmp_path / "out")
    names = sorted(path.name for path in (made.folder / "documents").iterdir())
    assert len(names) == 3 and all(re.fullmatch(r"[\w-]+\.pdf", name) for name in names), names
    assert made.counts["from_page_images"] == 3
    for name in names:
        with pymupdf.open(made.folder / "documents" / name) as opened:
            assert [annotation.info["content"] for annotation in opened[0].annots()] == ["12.50"]


def test_names_of_files_are_never_empty_nor_long() -> None:
    assert file_name_of("...", "ab" * 32) == f"document-{'ab' * 8}.pdf"
    assert len(file_name_of("ß" * 255, "ab" * 32).encode()) < 160


def test_a_locked_original_with_a_form_keeps_its_fields_and_loses_its_lock(
    sqlite_workspace: Workspace, tmp_path: Path
) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((60, 80), "Name of the customer", fontsize=18)
        widget = pymupdf.Widget()
        widget.field_name, widget.field_type = "customer", pymupdf.PDF_WIDGET_TYPE_TEXT
        widget.rect, widget.field_value = pymupdf.Rect(60, 100, 300, 120), "ACME"
        page.add_widget(widget)
        lock = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "owner_pw": "secret", "permissions": 0}
        document.save(tmp_path / "form.pdf", **lock)
    project = make_project(sqlite_workspace)
    taken = ingest(sqlite_workspace, tmp_path / "form.pdf", name="form.pdf", project_id=project.id, user_id=None)
    document = document_view(sqlite_workspace, taken.document_id)
    accept(sqlite_workspace, document, "Whose name?", [2, 3])  # type: ignore[arg-type]
    assert not write_accepted(sqlite_workspace, document.id, None, tmp_path / "out.pdf").from_images
    with pymupdf.open(tmp_path / "out.pdf") as made:
        assert not made.is_encrypted and [widget.field_value for widget in made[0].widgets()] == ["ACME"]
        assert [annotation.info["content"] for annotation in made[0].annots()] == ["the customer"]


def test_pages_that_were_not_read_stay_in_the_file_and_units_of_its_own_make_images(
    sqlite_workspace: Workspace, tmp_path: Path
) -> None:
    make_text_pdf(tmp_path / "bill.pdf")
    project = make_project(sqlite_workspace)
    taken = ingest(sqlite_workspace, tmp_path / "bill.pdf", name="bill.pdf", project_id=project.id, user_id=None)
    for change, pages in (("copy", 2), ("unit", 1)):
        with pymupdf.open(tmp_path / "bill.pdf") as longer:
            if change == "copy":
                longer.fullcopy_page(0)
            else:
                longer.xref_set_key(longer[0].xref, "UserUnit", "2")
            content = longer.tobytes()
        with sqlite_workspace.database.write() as session:
            session.get_one(Document, taken.document_id).sha256 = sqlite_workspace.blobs.put(content)
        written = write_accepted(sqlite_workspace, taken.document_id, None, tmp_path / f"{change}.pdf")
        with pymupdf.open(tmp_path / f"{change}.pdf") as made:
            assert (len(made), written.from_images) == (pages, change == "unit")
            assert made[0].search_for("Total due")
