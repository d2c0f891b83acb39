"""Exports are read by other people's libraries, which know nothing of this project: what they find is what was accepted."""

import importlib
import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

from engine.interchange.exports import export
from engine.workspace import Workspace
from tests.conftest import needed
from tests.support.exported_project import HEIGHT, WIDTH, brush

Answered = tuple[Workspace, str]


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))


def library(name: str) -> Any:
    """A library of the extra "readers"."""
    try:
        return importlib.import_module(name)
    except ImportError:
        needed(f"{name} is not installed (make install-bench).")


def test_datasets_loads_the_folder_with_its_splits_and_opens_its_images(
    answered_on_file: Answered, tmp_path: Path, offline: None
) -> None:
    datasets = library("datasets")
    workspace, project = answered_on_file
    out = export(workspace, project, "parquet", tmp_path / "out").folder
    loaded = datasets.load_dataset(str(out), cache_dir=str(tmp_path / "cache"))
    assert {name: len(rows) for name, rows in loaded.items()} == {"train": 1, "test": 2}
    row = loaded["train"][0]
    assert row["image"].size == (WIDTH, HEIGHT) == (row["width"], row["height"])
    questions = {one["question"]: one for one in row["answers"]}
    assert set(questions) == {"What is the total due?", "Where is the stamp?", "Is it paid?"}
    assert questions["Where is the stamp?"]["mask"]["size"] == [HEIGHT, WIDTH]
    assert [row["words"][at]["text"] for at in questions["What is the total due?"]["words"]] == ["due:", "11.50"]


def test_label_studios_own_converter_decodes_the_brush(answered_on_file: Answered, tmp_path: Path) -> None:
    converter = library("label_studio_sdk.converter.brush")
    workspace, project = answered_on_file
    out = export(workspace, project, "label-studio", tmp_path / "out").folder
    tasks = json.loads((out / "tasks.json").read_text())
    strokes = [
        region["value"]["rle"]
        for task in tasks
        for annotation in task["annotations"]
        for region in annotation["result"]
        if region["type"] == "brushlabels"
    ]
    [stroke] = strokes
    pixels = converter.decode_rle(stroke).reshape(HEIGHT, WIDTH, 4)[:, :, 3]
    assert np.array_equal(pixels > 0, brush())


def test_supervision_reads_the_outlines(answered_on_file: Answered, tmp_path: Path) -> None:
    supervision = library("supervision")
    workspace, project = answered_on_file
    written = export(workspace, project, "yolo", tmp_path / "out")
    loaded = supervision.DetectionDataset.from_yolo(
        images_directory_path=str(written.folder / "images" / "train"),
        annotations_directory_path=str(written.folder / "labels" / "train"),
        data_yaml_path=str(written.folder / "data.yaml"),
        force_masks=True,
    )
    assert loaded.classes == ["Is it paid?", "What is the total due?", "Where is the stamp?"]
    [(_, _, found)] = list(loaded)
    stamp = np.any(found.mask[found.class_id == 2], axis=0)
    overlap = (stamp & brush()).sum() / (stamp | brush()).sum()
    told = 4 * written.loss["mean_iou"] - 3  # of the one answer of four that is no words
    assert overlap == pytest.approx(told, abs=0.03) and told < 0.8  # the ring's hole is filled


def test_page_xml_keeps_the_schema(answered_on_file: Answered, tmp_path: Path) -> None:
    found = importlib.util.find_spec("ocrd_validators")
    if found is None or found.submodule_search_locations is None:
        needed("The schema of PAGE comes with ocrd_validators.")
    schema = etree.XMLSchema(etree.parse(Path(found.submodule_search_locations[0]) / "page.xsd"))
    workspace, project = answered_on_file
    out = export(workspace, project, "page-xml", tmp_path / "out").folder
    files = sorted((out / "page").iterdir())
    assert len(files) == 3
    for path in files:
        schema.assertValid(etree.parse(path))
