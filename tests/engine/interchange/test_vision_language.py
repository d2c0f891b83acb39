"""Sets for vision-language models: their boxes, read back, lie where the marks lie."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import model.torchvision_fix  # noqa: F401 (before transformers)
from engine.interchange.exports import export
from engine.interchange.formats.vision_language import resized, scaled
from engine.workspace import Workspace
from model.boxes import Box
from model.masks import iou, rasterise
from tests.support.exported_project import HEIGHT, WIDTH, brush
from tests.support.factories import bill

Answered = tuple[Workspace, str]
SIZES = [(1240, 1754), (400, 300), (10, 10), (5000, 7000), (28, 28), (2000, 35), (3507, 2480), (60, 50), (41, 43)]


def lines_of(answered: Answered, form: str, folder: Path) -> Iterator[dict[str, Any]]:
    workspace, project = answered
    written = export(workspace, project, form, folder)
    for text in (written.folder / f"{form}.jsonl").read_text("utf-8").splitlines():
        yield json.loads(text)


def boxes_of(line: dict[str, Any]) -> list[tuple[str, Box]]:
    """Boxes of a line in pixels of the page, with their words."""
    if "messages" in line:
        reply = line["messages"][1]["content"]
        for box in line["objects"]["bbox"]:
            reply = reply.replace("<bbox>", json.dumps(box), 1)
    else:
        reply = line["conversations"][1]["value"]
    values = [(value["label"], tuple(value["bbox_2d"])) for value in json.loads(reply)]
    width, height = line["resized"]
    assert all(0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height for _, (x0, y0, x1, y1) in values)
    return [(text, scaled(box, (width, height), (WIDTH, HEIGHT))) for text, box in values]


@pytest.mark.parametrize("form", ["qwen2.5-vl", "qwen3-vl", "ms-swift"])
def test_boxes_are_read_back_where_the_marks_lie(answered_on_file: Answered, tmp_path: Path, form: str) -> None:
    asked: dict[str, list[tuple[str, Box]]] = {}
    for line in lines_of(answered_on_file, form, tmp_path / "out"):
        assert (tmp_path / "out" / (line["image"] if "image" in line else line["images"][0])).is_file()
        turns = line["messages"] if "messages" in line else line["conversations"]
        question = turns[0]["content" if "messages" in line else "value"].removeprefix("<image>").strip()
        asked.setdefault(question, []).extend(boxes_of(line))
    assert set(asked) == {"What is the total due?", "Where is the stamp?"}  # what a page does not answer has no place
    first = [bill(1)[3][1], bill(1)[4][1]]
    around = (first[0][0], first[0][1], first[1][2], first[1][3])
    [(_, total)] = [answer for answer in asked["What is the total due?"] if answer[0] == "due: 11.50"]
    assert all(abs(here - there) <= 1 for here, there in zip(total, around, strict=True))
    [(words, stamp)] = asked["Where is the stamp?"]
    rows, columns = np.flatnonzero(brush().any(1)), np.flatnonzero(brush().any(0))
    there = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    size = (HEIGHT, WIDTH)
    assert words == "" and iou(rasterise([stamp], size), rasterise([there], size)) > 0.9


def test_a_box_at_the_edge_stays_on_the_image() -> None:
    assert scaled((2499, 10, 2500, 20), (2500, 100), (1000, 1000)) == (999, 100, 1000, 200)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_an_image_is_resized_as_the_processor_of_the_model_does_it(width: int, height: int) -> None:
    from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

    limits = {"factor": 28, "min_pixels": 56 * 56, "max_pixels": 16_384 * 28 * 28}
    assert resized(width, height) == tuple(reversed(smart_resize(height, width, **limits)))
