"""What was exported comes back as it was; what is wrong is named, and leaves nothing behind."""

import gc
import io
import json
import shutil
import struct
import threading
import weakref
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image, ImageDraw, ImageFont
from sqlalchemy import func, select

from db.base import now
from db.ids import new_id
from db.tables import Annotation, Document, Page, PageWord, Question, Revision
from engine.accounts.users import ensure_local_user
from engine.annotation.state import AnnotationState
from engine.errors import Refused
from engine.interchange import archives, imports
from engine.interchange.exports import export
from engine.interchange.format_detection import detect_format
from engine.interchange.formats import page_xml
from engine.interchange.import_entries import BadEntry, IncomingPage, Set
from engine.interchange.import_store import ALTERNATIVES, Imported
from engine.interchange.imports import READERS, RECOGNISE, ImportStopped, import_set
from engine.tasks.queue_view import queue_view
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from model.masks import Mask, decode_patch, rasterise
from tests.support.accounts import here, make_user, somebody
from tests.support.exported_project import HEIGHT, WIDTH, brush
from tests.support.factories import bill, line, make_project

Answered = tuple[Workspace, str]
TOTAL, STAMP = "What is the total due?", "Where is the stamp?"
EXACT = ("coco", "parquet", "png", "grounded", "label-studio")


def words(boxes: list[tuple[int, int, int, int]]) -> Mask:
    return rasterise(boxes, (HEIGHT, WIDTH))


EXPECTED = [
    (TOTAL, words([bill(1)[3][1], bill(1)[4][1]])),
    (TOTAL, words([bill(2)[4][1]])),
    (TOTAL, words([line("Total due: 7.00")[2][1]])),
    (STAMP, brush()),
]


def take_in(workspace: Workspace, form: str, path: Path, name: str = "taken in") -> tuple[str, Imported]:
    project = make_project(workspace, name)
    return project.id, import_set(workspace, project.id, form, path, user_id=ensure_local_user(workspace).id)


def documents_of(workspace: Workspace, project: str) -> int:
    with workspace.database.read() as session:
        return session.scalar(select(func.count(Document.id)).where(Document.project_id == project)) or 0


def marked(workspace: Workspace, project: str) -> list[tuple[str, Mask]]:
    """Every question with every mask that answers it."""
    with workspace.database.read() as session:
        sizes = {page.id: (page.height, page.width) for page in session.scalars(select(Page))}
        rows = session.execute(
            select(Question.text, Revision.state)
            .join(Annotation, Annotation.question_id == Question.id)
            .join(Revision, (Revision.annotation_id == Annotation.id) & (Revision.number == Annotation.head))
            .where(Annotation.project_id == project, Annotation.status == "accepted")
        ).all()
    found = []
    for text, stored in rows:
        state = AnnotationState.model_validate(stored)
        found += [(text, decode_patch(mark.mask.model_dump(), sizes[page])) for page, mark in state.pages.items()]
    return found


def is_there(found: list[tuple[str, Mask]], question: str, mask: Mask) -> bool:
    return any(text == question and np.array_equal(other, mask) for text, other in found)


def counted(workspace: Workspace, project: str) -> tuple[int, int, int]:
    with workspace.database.read() as session:
        rows = (Document, Annotation, Question)
        return tuple(  # type: ignore[return-value]
            session.scalar(select(func.count()).select_from(one).where(one.project_id == project)) for one in rows
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
    before = counted(workspace, project)
    again = import_set(workspace, project, "coco", packed, user_id=ensure_local_user(workspace).id)
    assert (again.documents, again.known, again.answers, again.no_answer) == (0, 2, 0, 0)
    assert counted(workspace, project) == before


class Exported:
    """Exports of one project, each made when it is asked for: exported / "coco"."""

    def __init__(self, workspace: Workspace, project: str, folder: Path) -> None:
        self.workspace, self.project, self.folder = workspace, project, folder

    def __truediv__(self, form: str) -> Path:
        if not (self.folder / form).exists():
            export(self.workspace, self.project, form, self.folder / form)
        return self.folder / form


@pytest.fixture
def exported(answered_on_file: Answered, tmp_path: Path) -> tuple[Workspace, Exported]:
    return answered_on_file[0], Exported(*answered_on_file, tmp_path)


def edit(file: Path, change: object) -> None:
    stored = json.loads(file.read_text())
    change(stored)  # type: ignore[operator]
    file.write_text(json.dumps(stored))


def refused(workspace: Workspace, form: str, path: Path, sentence: str) -> None:
    project = make_project(workspace, f"bad {new_id()}")
    with pytest.raises(Refused, match=sentence) as caught:
        import_set(workspace, project.id, form, path, user_id=ensure_local_user(workspace).id)
    assert isinstance(caught.value, BadEntry) and "Nothing was imported." in str(caught.value)
    assert counted(workspace, project.id) == (0, 0, 0)


def bomb(path: Path) -> None:
    """A PNG of a few bytes that says it is 60,000 pixels wide and high."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )


COCO_FAULTS = {
    "an annotation of no image": (lambda s: s["annotations"][0].update(image_id=99), "annotation 1: there is no image 99"),
    "an annotation of no category": (lambda s: s["annotations"][1].update(category_id=9), "annotation 2: there is no category 9"),
    "an id twice": (lambda s: s["annotations"].append(s["annotations"][0]), "its id 1 was used before"),
    "an image id that is a list": (
        lambda s: s["annotations"][0].update(image_id=[1]),
        r"annotation 1: there is no image \[1\]",
    ),
    "no_answer of no image": (lambda s: s["no_answer"][0].update(image_ids=[99]), "no_answer 0: there is no image 99"),
    "a mask that would fill the memory": (
        lambda s: s["annotations"][0]["segmentation"].update(size=[10**6, 10**6]),
        "annotation 1: its mask must name the size",
    ),
    "a mask that runs over its end": (
        lambda s: s["annotations"][0]["segmentation"].update(counts="o" * 40),
        "annotation 1",
    ),
    "a mask of another size": (
        lambda s: s["annotations"][0]["segmentation"].update(size=[3, 4], counts=[6, 6]),
        "annotation 1: its mask must name the size",
    ),
    "counts that do not sum": (
        lambda s: s["annotations"][0]["segmentation"].update(counts=[1, 2]),
        "annotation 1: A mask cannot be read",
    ),
    "an empty mask": (
        lambda s: s["annotations"][0]["segmentation"].update(counts=[HEIGHT * WIDTH]),
        "annotation 1: its mask is empty",
    ),
    "a polygon of two points": (lambda s: s["annotations"][0].update(segmentation=[[1, 2, 3, 4]]), "annotation 1: a polygon"),
    "an absolute path": (lambda s: s["images"][0].update(file_name="/etc/passwd"), "image 1: '/etc/passwd' leads out"),
    "a path that climbs": (lambda s: s["images"][0].update(file_name="../../x.png"), "image 1: '../../x.png' leads out"),
    "an image that is not there": (lambda s: s["images"][0].update(file_name="images/none.png"), "image 1: there is no file"),
    "an image of another size": (lambda s: s["images"][0].update(width=WIDTH + 1), "image 1: its image .* is of 400 x 300"),
    "a size that is no number": (lambda s: s["images"][0].update(height="tall"), '"height" .*must be a whole number'),
    "a million categories": (
        lambda s: s["categories"].extend({"id": at, "name": f"c{at}"} for at in range(100, 1_000_100)),
        "1,000,003 categories",
    ),
    "no list": (lambda s: s.update(annotations={}), '"annotations" must be a list'),
}  # fmt: skip


@pytest.mark.parametrize("fault", COCO_FAULTS)
def test_a_bad_coco_entry_is_named(exported: tuple[Workspace, Exported], fault: str) -> None:
    workspace, folder = exported
    change, sentence = COCO_FAULTS[fault]
    edit(folder / "coco" / "annotations.json", change)
    refused(workspace, "coco", folder / "coco", sentence)


def test_what_a_reader_did_not_think_of_is_a_sentence_too(
    exported: tuple[Workspace, Exported], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, folder = exported

    def pages(known: Set) -> Iterator[IncomingPage]:
        yield next(known.pages())
        raise TypeError("unhashable type: 'list'")

    careless = {"coco": lambda path: (known := READERS["coco"](path)) and Set(lambda: pages(known), known.count)}
    monkeypatch.setattr(imports, "READERS", careless)
    refused(workspace, "coco", folder / "coco", r"coco, after page 1: an entry cannot be read \(TypeError: unhashable")


def test_numbers_that_are_none_are_refused(exported: tuple[Workspace, Exported]) -> None:
    workspace, folder = exported
    file = folder / "coco" / "annotations.json"
    file.write_text(file.read_text().replace('"area": ', '"area": NaN, "was": ', 1))
    refused(workspace, "coco", file, "it holds NaN, which is no number")
    file.write_text('{"images": ' + "[" * 200_000)
    refused(workspace, "coco", file, "nested too deeply|no whole JSON")
    (folder / "grounded" / "pages.jsonl").write_text('{"page_id": "a", "width": 1e999}\n')
    refused(workspace, "grounded", folder / "grounded", "line 1: page a|line 1: it cannot be read")


def test_texts_that_no_database_takes_are_made_storable(exported: tuple[Workspace, Exported]) -> None:
    workspace, folder = exported

    def change(stored: dict[str, list[dict[str, object]]]) -> None:
        stored["categories"][0]["name"] = "Who\x00 is \ud800it?"
        stored["licenses"][0]["name"] = 7

    edit(folder / "coco" / "annotations.json", change)
    project, done = take_in(workspace, "coco", folder / "coco")
    assert done.documents == 2 and counted(workspace, project)[2] == 3


@pytest.mark.parametrize("form", READERS)
def test_a_file_that_was_cut_short_is_refused(exported: tuple[Workspace, Exported], form: str) -> None:
    workspace, folder = exported
    names = ("annotations.json", "tasks.json", "pages.jsonl", "documents.jsonl", "answers.jsonl")
    files = [path for path in sorted((folder / form).rglob("*")) if path.name in names]
    files = files or [
        path
        for path in sorted((folder / form).rglob("*"))
        if path.suffix in (".xml", ".parquet") or path.parent.name == "annotations"
    ]
    content = files[0].read_bytes()
    files[0].write_bytes(content[: len(content) // 2])
    refused(workspace, form, folder / form, "no whole|cannot be read")


@pytest.mark.parametrize("form", [one for one in READERS if one != "parquet"])
def test_an_image_that_is_a_bomb_or_broken_is_refused(exported: tuple[Workspace, Exported], form: str) -> None:
    workspace, folder = exported
    image = next(path for path in sorted((folder / form).rglob("*.png")) if path.parent.name == "images")
    whole = image.read_bytes()
    bomb(image)
    refused(workspace, form, folder / form, "60,000 x 60,000 pixels|no PNG or JPEG that can be read")
    image.write_bytes(whole[: len(whole) // 2])
    refused(workspace, form, folder / form, "cannot be read to its end")
    image.write_bytes(b"GIF89a not a page")
    refused(workspace, form, folder / form, "no PNG or JPEG")


def zipped(path: Path, entries: dict[str, bytes], link: str | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
        if link is not None:
            entry = zipfile.ZipInfo(link)
            entry.external_attr = 0o120777 << 16
            archive.writestr(entry, "/etc/passwd")
    return path


def test_zip_files_that_lead_out_or_blow_up_are_refused(
    sqlite_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = sqlite_workspace
    refused(workspace, "coco", zipped(tmp_path / "a.zip", {"../../slipped.txt": b"x"}), "leads out of the folder")
    refused(workspace, "coco", zipped(tmp_path / "b.zip", {"/etc/slipped": b"x"}), "leads out of the folder")
    refused(workspace, "coco", zipped(tmp_path / "c.zip", {"a.txt": b"x"}, link="images"), "it is a link")
    refused(workspace, "coco", zipped(tmp_path / "d.zip", {"zeros": bytes(150_000_000)}), "times its size")
    whole = zipped(tmp_path / "e.zip", {"annotations.json": b"{}" * 999}).read_bytes()
    (tmp_path / "f.zip").write_bytes(whole[: len(whole) // 2])
    refused(workspace, "coco", tmp_path / "f.zip", "no whole zip file")
    refused(workspace, "coco", tmp_path / "none.zip", "no such file")
    assert not (tmp_path.parent / "slipped.txt").exists()
    monkeypatch.setattr(archives, "SPARE_BYTES", 10**15)
    refused(workspace, "coco", zipped(tmp_path / "g.zip", {"a.txt": b"x"}), "and the disk has .* GB left")


def test_a_page_in_the_middle_that_is_wrong_leaves_nothing_of_those_before(
    exported: tuple[Workspace, Exported],
) -> None:
    workspace, folder = exported
    file = folder / "grounded" / "pages.jsonl"
    lines = file.read_text().splitlines()
    bad = json.loads(lines[-1])
    bad["questions"][0]["answers"] = [[9_999]]
    file.write_text("\n".join([*lines[:-1], json.dumps(bad)]))
    refused(workspace, "grounded", folder / "grounded", f"line {len(lines)}: page .*9999 is not the index")
    file.write_text("\n".join([*lines, lines[0]]))
    refused(workspace, "grounded", folder / "grounded", f"line {len(lines) + 1}: the page .* came before")


def test_outside_entities_of_xml_are_not_read(exported: tuple[Workspace, Exported], tmp_path: Path) -> None:
    workspace, folder = exported
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    file = sorted((folder / "page-xml" / "page").iterdir())[0]
    text = file.read_text()
    head, rest = text.split("?>", 1)
    file.write_text(
        f'{head}?><!DOCTYPE x [<!ENTITY leak SYSTEM "file://{secret}">]>' + rest.replace("due:</", "&leak;</", 1)
    )
    project, _ = take_in(workspace, "page-xml", folder / "page-xml")
    with workspace.database.read() as session:
        texts = session.scalars(select(PageWord.text).join(Page).join(Document).where(Document.project_id == project))
        assert "a secret" not in set(texts)


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
    assert (done.documents, done.answers) == (1, 2)
    assert np.array_equal(found["stamp"], rasterise([(2, 3, 12, 8), (30, 20, 34, 24)], (40, 60)))
    assert np.array_equal(found["logo"], rasterise([(10, 10, 21, 21)], (40, 60)))


@pytest.mark.parametrize("form", READERS)
def test_a_set_is_recognised_by_its_files(answered_on_file: Answered, tmp_path: Path, form: str) -> None:
    workspace, source = answered_on_file
    out = export(workspace, source, form, tmp_path / "out").folder
    assert detect_format(out) == form
    (out / "manifest.json").unlink()
    assert detect_format(out) == form
    _, done = take_in(workspace, RECOGNISE, out)
    assert done.form == form and done.pages == 3


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


def test_somebody_else_s_manifest_says_nothing(exported: tuple[Workspace, Exported]) -> None:
    _, folder = exported
    manifest = folder / "coco" / "manifest.json"
    for content in ('{"kind": "Dataset"}', "[" * 200_000, '{"format": "glossator-export/2", "kind": '):
        manifest.write_text(content)
        assert detect_format(folder / "coco") == "coco"
    grounded = folder / "grounded" / "pages.jsonl"
    assert detect_format(grounded) == "grounded"


def test_what_is_no_dataset_is_refused_and_so_is_what_holds_no_places(
    answered_on_file: Answered, tmp_path: Path
) -> None:
    workspace, source = answered_on_file
    out = export(workspace, source, "csv", tmp_path / "out").folder
    refused(workspace, RECOGNISE, out, "export as csv, which does not hold the answers whole")
    (out / "manifest.json").unlink()
    refused(workspace, RECOGNISE, out, "looks like no dataset")


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


def test_answers_beyond_the_first_are_counted_in_the_outcome(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    """Two entities "Name:" with different answers ask the same question; a third one repeats the first answer."""
    for folder in ("annotations", "images"):
        (tmp_path / folder).mkdir()
    Image.new("RGB", (200, 100), "white").save(tmp_path / "images" / "one.png")

    def entity(number: int, label: str, text: str, links: list[list[int]]) -> dict[str, object]:
        box = [10 * number, 10, 10 * number + 8, 20]
        return {
            "id": number, "label": label, "text": text, "box": box, "linking": links, "words": [{"text": text, "box": box}],
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
    assert done.answers == 2 and done.lost == {ALTERNATIVES: 1}
    found = dict(marked(sqlite_workspace, project))
    assert np.array_equal(found["What is the Name?"], rasterise([(10, 10, 18, 20)], (100, 200)))


def test_of_acceptable_answers_the_first_comes_in_and_the_others_are_counted(
    sqlite_workspace: Workspace, tmp_path: Path
) -> None:
    Image.new("RGB", (200, 100), "white").save(tmp_path / "one.png")
    page = {
        "page_id": "one", "image": "one.png", "width": 200, "height": 100,
        "words": [{"text": "7", "box": [at, 10, at + 8, 20]} for at in (10, 40, 70)],
        "questions": [{"question_id": "q", "question": TOTAL, "answers": [[0], [1], [2]]}],
    }  # fmt: skip
    (tmp_path / "pages.jsonl").write_text(json.dumps(page) + "\n")
    _, done = take_in(sqlite_workspace, "grounded", tmp_path)
    assert done.answers == 1 and done.lost == {ALTERNATIVES: 2}


def test_an_unknown_format_is_refused(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    project = make_project(sqlite_workspace)
    with pytest.raises(Refused, match="no import format 'tiff'; choose from coco"):
        import_set(sqlite_workspace, project.id, "tiff", tmp_path, user_id=ensure_local_user(sqlite_workspace).id)


def test_a_reviewer_uploads_a_zip_over_rest_and_hears_what_is_wrong_with_one(
    app_client: TestClient, answered_on_file: Answered, tmp_path: Path
) -> None:
    out = export(*answered_on_file, "grounded", tmp_path / "out").folder
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", out))
    workspace = here(app_client)
    project = make_project(workspace, "over REST")
    rita = somebody(app_client, workspace, make_user(workspace, "rita", **{project.id: "reviewer"}))
    address = f"/api/projects/{project.id}/import"
    taken = rita.post(address, files={"file": ("set.zip", packed.read_bytes(), "application/zip")})
    assert taken.status_code == 200, taken.text
    counts = {"documents": 2, "known": 0, "pages": 3, "read": 0, "answers": 3, "no_answer": 1, "lost": {}}
    assert taken.json() == {"format": "grounded", **counts}
    found = marked(workspace, project.id)
    assert len(found) == 4 and all(is_there(found, *one) for one in EXPECTED)
    bad = rita.post(address, files={"file": ("set.zip", b"PK no zip", "application/zip")})
    assert bad.status_code == 422 and "set.zip: it is no whole zip" in bad.json()["detail"]


def test_over_rest_each_step_is_told_where_one_asks_for_it(
    app_client: TestClient, answered_on_file: Answered, tmp_path: Path
) -> None:
    out = export(*answered_on_file, "grounded", tmp_path / "out").folder
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", out))
    workspace = here(app_client)
    project = make_project(workspace, "step by step")
    rita = somebody(app_client, workspace, make_user(workspace, "rita", **{project.id: "reviewer"}))
    address = f"/api/projects/{project.id}/import?progress=true"

    def lines(content: bytes) -> list[dict]:
        answer = rita.post(address, files={"file": ("set.zip", content, "application/zip")})
        assert answer.status_code == 200, answer.text
        return [json.loads(line) for line in answer.text.splitlines()]

    *taken, last = lines(packed.read_bytes())
    looked, stored = (
        [step["done"] for step in taken if step["doing"] == kind] for kind in ("Looking at the pages", "Storing")
    )
    assert (looked[0], looked[-1], stored[0], stored[-1]) == (1, 3, 0, 3)
    assert [step["doing"] for step in taken[:2]] == ["Starting", "Unpacking"]
    assert {step["of"] for step in taken if step["doing"] in ("Looking at the pages", "Storing")} == {3}
    assert last["result"]["answers"] == 3 and len(marked(workspace, project.id)) == 4
    room = app_client.app.state.lanes.imports.room  # type: ignore[attr-defined]
    busy = [room.acquire(timeout=30) for _ in range(2)]
    freed = threading.Timer(1.0, room.release, [len(busy)])
    freed.start()
    _, waited, begun, *_, done = lines(packed.read_bytes())
    freed.join()
    assert (
        all(busy)
        and waited["doing"] == "Waiting for other imports"
        and begun["doing"] == "Starting"
        and done["result"]["known"] == 2
    )
    _, bad = lines(b"PK no zip")
    assert bad["status"] == 422 and "set.zip: it is no whole zip" in bad["detail"]
    assert len(marked(workspace, project.id)) == 4


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
    with pytest.raises(ImportStopped, match=r"What came in by then stays \(documents: 1, answers: \d\)") as stopped:
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


def test_over_rest_imports_under_way_are_listed_and_can_be_stopped(
    app_client: TestClient, answered_on_file: Answered, tmp_path: Path
) -> None:
    out = export(*answered_on_file, "grounded", tmp_path / "out").folder
    packed = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", out)).read_bytes()
    workspace = here(app_client)
    project, other = (make_project(workspace, name).id for name in ("stopped", "another"))
    rita = somebody(app_client, workspace, make_user(workspace, "rita", **{project: "reviewer", other: "reviewer"}))
    uploads = workspace.settings.data_dir / "uploads"
    room = app_client.app.state.lanes.imports.room  # type: ignore[attr-defined]
    busy = [room.acquire(timeout=30) for _ in range(2)]
    with ThreadPoolExecutor(1) as aside:
        sent = aside.submit(
            rita.post,
            f"/api/projects/{project}/import?progress=true",
            files={"file": ("set.zip", packed, "application/zip")},
        )
        try:
            while not (found := rita.get(f"/api/projects/{project}/imports").json()):
                assert not sent.done(), sent.result().text
            [one] = found
            assert (one["name"], one["by"], one["stopping"]) == ("set.zip", "rita", False)
            assert rita.get(f"/api/projects/{other}/imports").json() == []
            assert rita.post(f"/api/projects/{other}/imports/{one['id']}/stop").status_code == 404
            assert [one["stopping"] for one in rita.get(f"/api/projects/{project}/imports").json()] == [False]
            assert len(list(uploads.iterdir())) == 1
            assert rita.post(f"/api/projects/{project}/imports/{one['id']}/stop").json()["stopping"]
            last = json.loads(sent.result(timeout=30).text.splitlines()[-1])
        finally:
            for _ in filter(None, busy):
                room.release()
    assert all(busy) and last["status"] == 422 and last["detail"].startswith("Stopped before anything was stored.")
    assert rita.get(f"/api/projects/{project}/imports").json() == []
    assert documents_of(workspace, project) == 0 and not list(uploads.iterdir())
    again = rita.post(f"/api/projects/{project}/import", files={"file": ("set.zip", packed, "application/zip")})
    assert again.json()["answers"] == 3 and rita.get(f"/api/projects/{project}/imports").json() == []


def test_a_set_of_page_xml_is_not_held_in_memory(
    answered_on_file: Answered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = export(*answered_on_file, "page-xml", tmp_path / "out").folder
    living: weakref.WeakSet[IncomingPage] = weakref.WeakSet()
    read = page_xml._page

    class Watched(IncomingPage):  # a page itself has no room for what refers to it weakly
        __slots__ = ("__weakref__",)

    def watched(folder: Path, file: Path) -> IncomingPage:
        page = read(folder, file)
        copy = Watched(**{name: getattr(page, name) for name in IncomingPage.__slots__})
        living.add(copy)
        return copy

    monkeypatch.setattr(page_xml, "_page", watched)
    most = 0
    for _ in page_xml.open_set(out).pages():
        gc.collect()
        most = max(most, len(living))
    assert 1 <= most <= 2
