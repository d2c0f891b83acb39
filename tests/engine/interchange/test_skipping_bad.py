"""What of a set cannot come in is counted and named; the rest comes in where somebody wishes it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from engine.accounts.users import ensure_local_user
from engine.interchange.bad_entries import MOST_NAMED, BadEntry
from engine.interchange.import_store import Imported
from engine.interchange.imports import READERS, import_set
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.factories import make_project
from tests.support.imported_sets import Exported, counted, edit, is_there, marked

TASK = {"type": "rectanglelabels", "original_width": 100, "original_height": 80, "image_rotation": 0}


def skip(workspace: Workspace, form: str, path: Path, name: str = "skipped") -> tuple[str, Imported]:
    project = make_project(workspace, name)
    user = ensure_local_user(workspace).id
    return project.id, import_set(workspace, project.id, form, path, user_id=user, skip_bad=True)


def region(label: str, x: float, y: float, width: float, height: float, **about: Any) -> dict[str, Any]:
    value = {"x": x, "y": y, "width": width, "height": height, "rectanglelabels": [label]}
    return {**TASK, "value": value, **about}


def tasks(folder: Path, *annotated: list[dict[str, Any]]) -> Path:
    """Write a set of Label Studio with a task for each list of annotations."""
    folder.mkdir(exist_ok=True)
    rows = []
    for at, annotations in enumerate(annotated):
        shade = Image.new("L", (100, 80), 100 + at)
        shade.save(folder / f"{at}.png")
        rows.append({"id": at + 1, "data": {"image": f"{at}.png"}, "annotations": annotations})
    (folder / "tasks.json").write_text(json.dumps(rows))
    return folder


def spoil_lines(file: Path) -> None:
    lines = file.read_text().splitlines()
    file.write_text("\n".join(["no json", *lines]))


SPOILT: dict[str, Callable[[Path], object]] = {
    "coco": lambda folder: edit(folder / "annotations.json", lambda s: s["annotations"][0].update(category_id=99)),
    "label-studio": lambda folder: edit(folder / "tasks.json", lambda s: s.append({"id": 99})),
    "grounded": lambda folder: spoil_lines(folder / "pages.jsonl"),
    "boundingdocs": lambda folder: spoil_lines(folder / "documents.jsonl"),
    "png": lambda folder: spoil_lines(folder / "answers.jsonl"),
    "page-xml": lambda folder: (folder / "page" / "cut.xml").write_text("<PcGts>"),
    "funsd": lambda folder: (next(folder.rglob("annotations")) / "cut.json").write_text("{"),
}


@pytest.mark.parametrize("form", [form for form in READERS if form != "parquet"])
def test_the_rest_of_a_set_comes_in_and_what_does_not_is_named(exported: tuple[Workspace, Exported], form: str) -> None:
    workspace, folder = exported
    SPOILT[form](folder / form)
    with pytest.raises(BadEntry, match=r"Nothing was imported\. Skip bad entries to import the rest\."):
        project = make_project(workspace, "strict")
        import_set(workspace, project.id, form, folder / form, user_id=ensure_local_user(workspace).id)
    project_id, done = skip(workspace, form, folder / form)
    documents = 3 if form == "funsd" else 2  # there a page is a document
    assert (done.bad, len(done.bad_entries), done.documents) == (1, 1, documents)
    assert counted(workspace, project_id)[0] == documents
    again = import_set(
        workspace, project_id, form, folder / form, user_id=ensure_local_user(workspace).id, skip_bad=True
    )
    assert (again.documents, again.known, again.answers) == (0, documents, 0)


def test_a_broken_picture_leaves_out_its_document_alone(exported: tuple[Workspace, Exported]) -> None:
    workspace, folder = exported
    lines = [json.loads(line) for line in (folder / "grounded" / "pages.jsonl").read_text().splitlines()]
    of_document = [line for line in lines if line["document"]["name"] == lines[-1]["document"]["name"]]
    assert len(of_document) > 1
    image = folder / "grounded" / of_document[-1]["image"]
    image.write_bytes(image.read_bytes()[:200])
    project, done = skip(workspace, "grounded", folder / "grounded")
    assert (done.bad, done.documents, counted(workspace, project)[0]) == (1, 1, 1)
    assert image.name in done.bad_entries[0]


def test_a_bad_mark_leaves_out_its_answer_and_no_part_of_it_comes_in(
    sqlite_workspace: Workspace, tmp_path: Path
) -> None:
    good, bad = region("Total?", 10, 10, 20, 10), region("Total?", 120, 10, 20, 10)
    folder = tasks(tmp_path / "set", [{"result": [good, bad, region("Date?", 50, 50, 10, 10)]}])
    project, done = skip(sqlite_workspace, "label-studio", folder)
    assert (done.bad, done.documents, done.answers) == (1, 1, 1)
    assert "lies outside its page, of 100 x 80 pixels" in done.bad_entries[0]
    answers = marked(sqlite_workspace, project)
    assert len(answers) == 1 and is_there(answers, "Date?", rasterise([(50, 40, 60, 48)], (80, 100)))


def test_all_bad_entries_are_counted_and_the_first_are_named(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    bad = [[{"result": [region(f"Question {at}?", 150, 0, 5, 5)]}] for at in range(MOST_NAMED + 5)]
    folder = tasks(tmp_path / "set", *bad, [{"result": [region("Total?", 1, 1, 5, 5)]}])
    project = make_project(sqlite_workspace, "strict")
    by = ensure_local_user(sqlite_workspace).id
    with pytest.raises(BadEntry, match=r"task 1.*25 entries are bad\. The others: .*task 20.*; and 5 more\. Skip"):
        import_set(sqlite_workspace, project.id, "label-studio", folder, user_id=by)
    assert counted(sqlite_workspace, project.id) == (0, 0, 0)
    done = import_set(sqlite_workspace, project.id, "label-studio", folder, user_id=by, skip_bad=True)
    assert (done.bad, len(done.bad_entries), done.documents, done.answers) == (MOST_NAMED + 5, MOST_NAMED, 26, 1)


def test_a_set_without_a_good_page_is_refused(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    folder = tasks(tmp_path / "set", [])
    (folder / "0.png").write_bytes(b"no picture")
    with pytest.raises(BadEntry, match=r"Nothing was imported\.$"):
        skip(sqlite_workspace, "label-studio", folder)


def test_a_second_annotation_of_a_task_is_counted_and_joins_no_other(
    sqlite_workspace: Workspace, tmp_path: Path
) -> None:
    first, second = region("Total?", 10, 10, 20, 10), region("Total?", 60, 10, 20, 10)
    folder = tasks(
        tmp_path / "set",
        [{"result": [first]}, {"result": [second, region("Date?", 0, 0, 10, 10)]}],
        [{"result": [first]}, {"result": [second], "ground_truth": True}],
    )
    project, done = skip(sqlite_workspace, "label-studio", folder)
    assert (done.answers, done.lost, done.bad) == (3, {"additional answers to the same question": 2}, 0)
    totals = [mask for question, mask in marked(sqlite_workspace, project) if question == "Total?"]
    boxes = [rasterise([(10, 8, 30, 16)], (80, 100)), rasterise([(60, 8, 80, 16)], (80, 100))]
    assert len(totals) == 2 and all(any(np.array_equal(mask, box) for mask in totals) for box in boxes)


def test_regions_drawn_on_a_turned_image_are_refused(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    folder = tasks(tmp_path / "set", [{"result": [region("Total?", 1, 1, 5, 5, image_rotation=90)]}])
    with pytest.raises(BadEntry, match="drawn on an image turned by 90 degrees"):
        skip_nothing = make_project(sqlite_workspace, "turned")
        import_set(
            sqlite_workspace, skip_nothing.id, "label-studio", folder, user_id=ensure_local_user(sqlite_workspace).id
        )


@pytest.mark.parametrize("box", [[500, 10, 20, 10], [-50, 10, 20, 10], [10, 80, 20, 10]])
@pytest.mark.parametrize("as_polygon", [False, True])
def test_a_shape_of_coco_outside_its_page_is_said_to_lie_outside(
    sqlite_workspace: Workspace, tmp_path: Path, box: list[int], as_polygon: bool
) -> None:
    Image.new("L", (100, 80), 200).save(tmp_path / "a.png")
    x, y, width, height = box
    ring = [x, y, x + width, y, x + width, y + height, x, y + height]
    about = {"id": 1, "image_id": 1, "category_id": 1, "bbox": box, "segmentation": [ring] if as_polygon else []}
    stored = {
        "images": [{"id": 1, "file_name": "a.png", "width": 100, "height": 80}],
        "categories": [{"id": 1, "name": "Total?"}],
        "annotations": [about],
    }
    (tmp_path / "annotations.json").write_text(json.dumps(stored))
    _, done = skip(sqlite_workspace, "coco", tmp_path)
    assert done.answers == 0 and "annotation 1: " in done.bad_entries[0]
    assert "lies outside its page, of 100 x 80 pixels" in done.bad_entries[0]


def funsd(folder: Path, box: list[int], links: tuple[list[list[int]], list[list[int]]]) -> Path:
    for name in ("images", "annotations"):
        (folder / name).mkdir(parents=True)
    Image.new("L", (100, 80), 200).save(folder / "images" / "a.png")
    entities = [
        {"id": 0, "label": "question", "text": "Date:", "box": [1, 1, 9, 9], "words": [], "linking": links[0]},
        {
            "id": 1, "label": "answer", "text": "1 May", "box": box, "linking": links[1],
            "words": [{"text": "1", "box": box}, {"text": "May", "box": [30, 20, 40, 30]}],
        },
    ]  # fmt: skip
    (folder / "annotations" / "a.json").write_text(json.dumps({"form": entities}))
    return folder


@pytest.mark.parametrize("links", [([[0, 1]], []), ([], [[0, 1]]), ([[0, 1]], [[0, 1]]), ([], [[1, 0]])])
def test_a_link_of_funsd_counts_on_either_side(
    sqlite_workspace: Workspace, tmp_path: Path, links: tuple[list[list[int]], list[list[int]]]
) -> None:
    project, done = skip(sqlite_workspace, "funsd", funsd(tmp_path / "set", [10, 20, 20, 30], links))
    assert (done.answers, done.lost) == (1, {})
    answers = marked(sqlite_workspace, project)
    assert is_there(answers, "What is the Date?", rasterise([(10, 20, 20, 30), (30, 20, 40, 30)], (80, 100)))


def test_a_word_of_funsd_outside_its_page_is_refused(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(BadEntry, match=r"the box \[120, 20, 130, 30\] lies outside its page"):
        skip(sqlite_workspace, "funsd", funsd(tmp_path / "set", [120, 20, 130, 30], ([[0, 1]], [])))
