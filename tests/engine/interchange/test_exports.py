"""Every export format: what is read back is what was accepted, as far as the format holds it, and it says how far."""

import csv
import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from lxml import etree
from PIL import Image

from db.tables import Project
from engine.datasets.estimates import would_take
from engine.datasets.filters import Filters
from engine.errors import Conflict, Refused
from engine.grounded import read_pages
from engine.interchange import exports
from engine.interchange.brush import decode_brush
from engine.interchange.cells import harmless
from engine.interchange.destination import Destination
from engine.interchange.exports import export
from engine.interchange.formats import FORMATS
from engine.interchange.formats.page_xml import NAMESPACE
from engine.interchange.polygons import fill_inside, fill_polygons
from engine.run_lengths import decode_rle
from engine.workspace import Workspace
from model.boxes import Box
from model.masks import Mask, iou, rasterise
from tests.support.accounts import here, make_user, somebody
from tests.support.exported_project import HEIGHT, WIDTH, brush, hashes
from tests.support.factories import accept, bill, line, make_document, make_project

Answered = tuple[Workspace, str]
TOTAL = "What is the total due?"
STAMP = "Where is the stamp?"


def words(boxes: list[Box]) -> Mask:
    return rasterise(boxes, (HEIGHT, WIDTH))


EXPECTED = {
    (TOTAL, "due: 11.50"): words([bill(1)[3][1], bill(1)[4][1]]),
    (TOTAL, "12.50"): words([bill(2)[4][1]]),
    (TOTAL, "7.00"): words([line("Total due: 7.00")[2][1]]),
    (STAMP, ""): brush(),
}


def same(found: dict[tuple[str, str], Mask]) -> None:
    assert set(found) == set(EXPECTED)
    for key, mask in EXPECTED.items():
        assert np.array_equal(found[key], mask), key


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_snapshot_gives_the_same_bytes_whose_hashes_the_manifest_names(
    answered: Answered, tmp_path: Path, form: str
) -> None:
    workspace, project = answered
    one = export(workspace, project, form, tmp_path / "one")
    two = export(workspace, project, form, tmp_path / "deeper" / "one")
    assert hashes(one.folder) == hashes(two.folder)
    files = {str(path.relative_to(one.folder)): path for path in one.folder.rglob("*") if path.is_file()}
    manifest = json.loads(files["manifest.json"].read_text())
    for row in manifest["files"]:
        content = files[row["path"]].read_bytes()
        assert hashlib.sha256(content).hexdigest() == row["sha256"] and len(content) == row["bytes"]
    assert {row["path"] for row in manifest["files"]} == set(files) - {"manifest.json"}
    assert manifest["snapshot_sha256"] == one.snapshot_sha256 and manifest["kind"] == form
    assert bool(manifest["lossy"]) is bool(FORMATS[form].lossy)
    card = files["README.md"].read_text()
    assert card.startswith("---\n") and "| all | 2 | 3 | 1 |" in card and "CC0-1.0" in card and "samples/01.jpg" in card


def test_png_masks_are_what_was_accepted(answered: Answered, tmp_path: Path) -> None:
    workspace, project = answered
    out = export(workspace, project, "png", tmp_path / "out").folder
    found = {}
    unanswered = []
    for text in (out / "answers.jsonl").read_text().splitlines():
        row = json.loads(text)
        unanswered += [row["question"]] if row["no_answer"] else []
        for mask in row["masks"]:
            with Image.open(out / mask["mask"]) as image:
                assert image.mode == "1"
                found[row["question"], mask["text"]] = np.asarray(image)
    same(found)
    assert unanswered == ["Is it paid?"]


def test_parquet_holds_pages_with_their_bytes_and_their_answers(answered_on_file: Answered, tmp_path: Path) -> None:
    workspace, project = answered_on_file
    out = export(workspace, project, "parquet", tmp_path / "out").folder
    files = sorted(path.name for path in (out / "data").iterdir())
    assert files == ["test-00000.parquet", "train-00000.parquet"]
    found, images, unanswered = {}, set(), []
    for name in files:
        for row in pq.read_table(out / "data" / name).to_pylist():
            images.add(hashlib.sha256(row["image"]["bytes"]).hexdigest())
            for one in row["answers"]:
                if one["no_answer"]:
                    unanswered.append(one["question"])
                    continue
                found[one["question"], one["text"]] = decode_rle(one["mask"])
                assert one["text"] == " ".join(row["words"][at]["text"] for at in one["words"])
    same(found)
    assert unanswered == ["Is it paid?"] and all(one in workspace.blobs for one in images)


def test_grounded_pages_hold_words_where_these_make_the_answer_else_pixels(
    answered_on_file: Answered, tmp_path: Path
) -> None:
    workspace, project = answered_on_file
    out = export(workspace, project, "grounded", tmp_path / "out").folder
    found, unanswered = {}, []
    for page in read_pages(out):
        assert (out / str(page.image)).is_file()
        for one in page.questions:
            if not one.answerable:
                unanswered.append(one.question)
            for answer in one.answers:
                text = " ".join(page.words[at].text for at in answer)
                found[one.question, text] = words([page.words[at].box for at in answer])
            for rle in one.masks:
                found[one.question, ""] = decode_rle(rle)
    same(found)
    assert unanswered == ["Is it paid?"]


def test_label_studio_gets_rectangles_for_words_and_a_brush_stroke_for_pixels(
    answered_on_file: Answered, tmp_path: Path
) -> None:
    workspace, project = answered_on_file
    out = export(workspace, project, "label-studio", tmp_path / "out").folder
    found = {}
    for task in json.loads((out / "tasks.json").read_text()):
        for annotation in task["annotations"]:
            rectangles, text = [], []
            for region in annotation["result"]:
                value, size = region["value"], (region["original_height"], region["original_width"])
                if region["type"] == "brushlabels":
                    found[value["brushlabels"][0], ""] = decode_brush(value["rle"], size)
                    continue
                x0, y0 = value["x"] * size[1] / 100, value["y"] * size[0] / 100
                x1, y1 = x0 + value["width"] * size[1] / 100, y0 + value["height"] * size[0] / 100
                rectangles.append((round(x0), round(y0), round(x1), round(y1)))
                text += region["meta"]["text"]
            if rectangles:
                found[value["rectanglelabels"][0], " ".join(text)] = words(rectangles)
    same(found)
    interface = etree.fromstring((out / "interface.xml").read_text())
    assert {one.get("value") for one in interface.iter("Label")} == {TOTAL, STAMP, "Is it paid?"}


def test_boxes_of_boundingdocs_are_the_words_to_the_pixel(answered_on_file: Answered, tmp_path: Path) -> None:
    workspace, project = answered_on_file
    written = export(workspace, project, "boundingdocs", tmp_path / "out")
    found = {}
    for text in (written.folder / "documents.jsonl").read_text().splitlines():
        for one in json.loads(text)["Q&A"].values():
            for answer in one["answers"]:
                boxes = [
                    (
                        round(x * WIDTH / 1000),
                        round(y * HEIGHT / 1000),
                        round((x + width) * WIDTH / 1000),
                        round((y + height) * HEIGHT / 1000),
                    )
                    for width, height, x, y in answer["location"]
                ]
                found[one["question"], answer["value"]] = words(boxes)
    stamp = found.pop((STAMP, ""))
    rows, columns = np.flatnonzero(brush().any(axis=1)), np.flatnonzero(brush().any(axis=0))
    assert np.array_equal(stamp, words([(columns[0], rows[0], columns[-1] + 1, rows[-1] + 1)]))
    for key, mask in found.items():
        assert np.array_equal(mask, EXPECTED[key])
    share = brush().sum() / stamp.sum()
    assert written.loss["mean_iou"] == pytest.approx((3 + share) / 4, abs=1e-3)


def test_funsd_links_what_was_asked_to_what_answers(answered_on_file: Answered, tmp_path: Path) -> None:
    workspace, project = answered_on_file
    written = export(workspace, project, "funsd", tmp_path / "out")
    found = {}
    for path in written.folder.glob("*/annotations/*.json"):
        form = json.loads(path.read_text())["form"]
        by_id = {one["id"]: one for one in form}
        named = [word["text"] for one in form for word in one["words"]]
        with Image.open(next(path.parent.parent.glob(f"images/{path.stem}.*"))) as image:
            assert image.size == (WIDTH, HEIGHT)
        assert len(named) in (len(bill(1)), len(line("Total due: 7.00")))
        for one in form:
            if one["label"] == "question":
                answer = by_id[one["linking"][0][1]]
                found[one["text"], answer["text"]] = words([word["box"] for word in answer["words"]])
    assert not found.pop((STAMP, "")).any()
    assert {key: mask.sum() for key, mask in found.items()} == {
        key: mask.sum() for key, mask in EXPECTED.items() if key[0] == TOTAL
    }
    assert written.loss["no_answer_left_out"] == 1 and 0 < written.loss["mean_iou"] < 1


def test_page_xml_has_lines_words_and_a_region_for_each_part_of_an_answer(
    answered_on_file: Answered, tmp_path: Path
) -> None:
    workspace, project = answered_on_file
    written = export(workspace, project, "page-xml", tmp_path / "out")
    found: dict[tuple[str, str], Mask] = {}
    for path in (written.folder / "page").iterdir():
        root = etree.parse(path).getroot()
        page = root.find(f"{{{NAMESPACE}}}Page")
        assert (path.parent / page.get("imageFilename")).resolve().is_file()
        for region in page.iter(f"{{{NAMESPACE}}}CustomRegion"):
            about = {one.get("name"): one.get("value") for one in region.iter(f"{{{NAMESPACE}}}UserAttribute")}
            points = region.find(f"{{{NAMESPACE}}}Coords").get("points").split()
            pairs = [point.split(",") for point in points]
            ring = [(float(x), float(y)) for x, y in pairs]
            mask = fill_polygons([ring], (HEIGHT, WIDTH))
            key = (about["question"], about["text"])
            found[key] = found[key] | mask if key in found else mask
    stamp = found.pop((STAMP, ""))
    for key, mask in found.items():
        assert np.array_equal(mask, EXPECTED[key]), key
    union = (stamp | brush()).sum()
    assert not (brush() & ~stamp).any() and written.loss["mean_iou"] == pytest.approx(
        (3 + brush().sum() / union) / 4, abs=1e-3
    )


def test_yolo_outlines_say_how_much_of_the_masks_they_hold(answered_on_file: Answered, tmp_path: Path) -> None:
    workspace, project = answered_on_file
    written = export(workspace, project, "yolo", tmp_path / "out")
    data = (written.folder / "data.yaml").read_text()
    assert "path:" not in data  # images are found beside the file, wherever training is started
    assert 'names:\n  0: "Is it paid?"\n  1: "What is the total due?"\n  2: "Where is the stamp?"\n' in data
    total = [np.zeros((HEIGHT, WIDTH), bool) for _ in range(3)]
    for path in (written.folder / "labels").rglob("*.txt"):
        assert next((written.folder / "images" / path.parent.name).glob(f"{path.stem}.*")).is_file()
        for text in path.read_text().splitlines():
            kind, *values = text.split()
            points = np.array(values, float).reshape(-1, 2) * (WIDTH, HEIGHT)
            assert len(points) >= 3 and (points >= 0).all()
            total[int(kind)] |= fill_inside([[(x, y) for x, y in points]], (HEIGHT, WIDTH))
    hole = total[2] & ~brush()
    assert not (brush() & ~total[2]).any() and hole.any()
    totals = np.logical_or.reduce([mask for (question, _), mask in EXPECTED.items() if question == TOTAL])
    assert written.loss["mean_iou"] == pytest.approx((3 + iou(total[2], brush())) / 4, abs=1e-4)
    assert np.array_equal(total[1], totals)


def test_answers_alone_are_a_table_that_no_spreadsheet_runs(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    workspace = sqlite_workspace
    project = make_project(workspace)
    document = make_document(workspace, project.id, [line("=HYPERLINK(1) -12.50 -x")], name="=cmd.png")
    accept(workspace, document, "A formula?", [0])
    accept(workspace, document, "A loss?", [1])
    accept(workspace, document, "Neither?", [2])
    accept(workspace, document, "Nothing?")
    out = export(workspace, project.id, "csv", tmp_path / "csv").folder
    with (out / "answers.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["question"]: row for row in csv.DictReader(file)}
    assert [rows[one]["answer"] for one in ("A formula?", "A loss?", "Neither?", "Nothing?")] == [
        "'=HYPERLINK(1)",
        "-12.50",
        "'-x",
        "",
    ]
    assert "An apostrophe stands before" in (out / "README.md").read_text()
    assert rows["Nothing?"]["answered"] == "no" and rows["A loss?"]["document"] == "'=cmd.png"
    book = openpyxl.load_workbook(export(workspace, project.id, "xlsx", tmp_path / "xlsx").folder / "answers.xlsx")
    head, *found = list(book.active.iter_rows(values_only=True))
    cells = {row[1]: dict(zip(head, row, strict=True)) for row in found}
    assert cells["A formula?"]["answer"] == "=HYPERLINK(1)" and cells["A loss?"]["pages"] == "1"
    assert all(cell.data_type != "f" for row in book.active.iter_rows() for cell in row)


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("＝1+1", "'＝1+1"),
        ("＋1A", "'＋1A"),
        ("－1A", "'－1A"),
        ("＠SUM(A1)", "'＠SUM(A1)"),
        (" =1+1", "' =1+1"),
        ("x;=1+1", "x;'=1+1"),
        ('x; "=1+1"', 'x; "\'=1+1"'),
        ("x\t＝1", "x\t'＝1"),
        ("a\n@b;-c", "a\n'@b;'-c"),
        ("-12.50", "-12.50"),
        ("+1,250", "+1,250"),
        ("-inf", "'-inf"),
        ("a-b; c = d", "a-b; c = d"),
    ],
)
def test_no_cell_of_any_locale_begins_a_formula(text: str, cell: str) -> None:
    assert harmless(text) == cell


def test_filters_choose_by_question_status_day_split_model_and_agreement(answered: Answered, tmp_path: Path) -> None:
    workspace, project = answered

    def counted(**chosen: object) -> int:
        filters = Filters(quarantined=True, unfit=True, **chosen)  # type: ignore[arg-type]
        estimate = would_take(workspace, project, filters)
        out = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        written = exports.export(workspace, project, "csv", out, filters=filters).answers
        assert written == estimate.answers and estimate.exact is ("agreement" not in chosen)
        return written

    assert counted() == 4
    assert counted(questions=(TOTAL,)) == 2
    assert counted(statuses=("draft",)) == 1
    assert counted(splits=("frozen",)) == 1
    assert counted(since="2000-01-01", until="2100-01-01", agreement=1.0) == 4
    for nothing in ({"until": "2000-01-01"}, {"since": "2100-01-01"}, {"models": ("ab",)}, {"questions": ("Who?",)}):
        with pytest.raises(Refused, match="no accepted answer matches the filter"):
            counted(**nothing)
    with pytest.raises(Refused, match="is not a date"):
        counted(since="yesterday")


def test_an_interrupted_export_goes_on_and_copies_no_page_again(
    answered_on_file: Answered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, project = answered_on_file
    whole = export(workspace, project, "coco", tmp_path / "whole")
    with monkeypatch.context() as patched:
        patched.setattr(Destination, "manifest", _interrupted)  # at the manifest, the last file
        with pytest.raises(KeyboardInterrupt):
            export(workspace, project, "coco", tmp_path / "out")
    [left] = [path for path in tmp_path.iterdir() if path.name.startswith(".out")]
    kept = {path.name: path.stat().st_mtime_ns for path in (left / "images").iterdir()}
    assert len(kept) == 3 and not (tmp_path / "out").exists()
    again = export(workspace, project, "coco", tmp_path / "out")
    assert {path.name: path.stat().st_mtime_ns for path in (again.folder / "images").iterdir()} == kept
    assert hashes(again.folder) == hashes(whole.folder) and not left.exists()


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_two_processes_do_not_write_the_same_export_at_once(answered_on_file: Answered, tmp_path: Path) -> None:
    workspace, project = answered_on_file
    snapshot = export(workspace, project, "png", tmp_path / "first").snapshot_sha256
    with (
        Destination(workspace, tmp_path / "out", f"png-{snapshot[:16]}"),
        pytest.raises(Conflict, match="Another process"),
    ):
        export(workspace, project, "png", tmp_path / "out")


def test_an_unknown_format_is_refused_with_those_there_are(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    project: Project = make_project(sqlite_workspace)
    with pytest.raises(Refused, match="no export format 'tiff'; choose from coco, grounded"):
        export(sqlite_workspace, project.id, "tiff", tmp_path / "out")


def test_over_rest_a_zip_holds_the_format_that_was_asked_for(app_client: TestClient) -> None:
    workspace = here(app_client)
    project = make_project(workspace)
    accept(workspace, make_document(workspace, project.id, [bill(1)]), TOTAL, [4])
    rita = somebody(app_client, workspace, make_user(workspace, "rita", **{project.id: "reviewer"}))
    names = [one["name"] for one in rita.get(f"/api/projects/{project.id}/export-formats").json()]
    assert names == list(FORMATS)
    answer = rita.get(f"/api/projects/{project.id}/export?format=grounded&question={TOTAL}")
    assert answer.status_code == 200 and 'filename="bills-grounded.zip"' in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert {"pages.jsonl", "README.md", "manifest.json"} <= set(archive.namelist())
    assert rita.get(f"/api/projects/{project.id}/export?format=tiff").status_code == 422
