"""The COCO export: what pycocotools loads is, pixel for pixel, what was accepted."""

import json
from pathlib import Path

import numpy as np
import pytest
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO

from engine.errors import Refused
from engine.interchange import exports
from engine.run_lengths import decode_rle, encode_rle
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.exported_project import brush, hashes
from tests.support.factories import SIZE, bill, line, make_project

HEIGHT, WIDTH = SIZE[1], SIZE[0]


def export(workspace: Workspace, project_id: str, out: Path) -> exports.Export:
    return exports.export(workspace, project_id, "coco", out)


def test_pycocotools_loads_what_was_accepted_pixel_for_pixel(answered: tuple[Workspace, str], tmp_path: Path) -> None:
    workspace, project_id = answered
    written = export(workspace, project_id, tmp_path / "out")
    assert written.counts == {"documents": 2, "images": 3, "questions": 3, "annotations": 4, "no_answer": 1}
    loaded = COCO(str(tmp_path / "out" / "annotations.json"))
    by_text = {
        (loaded.cats[one["category_id"]]["name"], one["attributes"]["text"]): loaded.annToMask(one).astype(bool)
        for one in loaded.anns.values()
    }
    expected = {
        ("What is the total due?", "due: 11.50"): rasterise([bill(1)[3][1], bill(1)[4][1]], (HEIGHT, WIDTH)),
        ("What is the total due?", "12.50"): rasterise([bill(2)[4][1]], (HEIGHT, WIDTH)),
        ("What is the total due?", "7.00"): rasterise([line("Total due: 7.00")[2][1]], (HEIGHT, WIDTH)),
        ("Where is the stamp?", ""): brush(),
    }
    assert set(by_text) == set(expected)
    for key, mask in expected.items():
        one, other = encode_rle(mask), encode_rle(by_text[key])
        assert coco_mask.iou([one], [other], [False])[0][0] == 1.0
        assert np.array_equal(mask, by_text[key])
    for one in loaded.anns.values():
        mask = loaded.annToMask(one)
        assert one["area"] == mask.sum()
        assert one["bbox"] == coco_mask.toBbox(one["segmentation"]).tolist()


def test_attributes_say_who_in_which_split_and_under_which_licence(
    answered: tuple[Workspace, str], tmp_path: Path
) -> None:
    workspace, project_id = answered
    export(workspace, project_id, tmp_path / "out")
    loaded = COCO(str(tmp_path / "out" / "annotations.json"))
    stamp = next(one for one in loaded.anns.values() if loaded.cats[one["category_id"]]["name"].startswith("Where"))
    assert stamp["attributes"]["author"] == "anna"
    assert (stamp["attributes"]["status"], stamp["attributes"]["revision"]) == ("accepted", 1)
    assert stamp["attributes"]["image_licence"] == "CC0-1.0"
    assert {one["attributes"]["split"] for one in loaded.anns.values()} == {"train", "frozen"}
    image = loaded.imgs[stamp["image_id"]]
    assert image["document_sha256"] == stamp["attributes"]["document_sha256"]
    assert loaded.dataset["no_answer"][0]["image_ids"] == [image["id"]]


def test_page_images_are_the_stored_bytes_and_the_manifest_names_every_file(
    answered: tuple[Workspace, str], tmp_path: Path
) -> None:
    workspace, project_id = answered
    out = tmp_path / "out"
    written = export(workspace, project_id, out)
    manifest = json.loads((out / "manifest.json").read_text())
    named = {one["path"]: one["sha256"] for one in manifest["files"]}
    assert hashes(out) == {**named, "manifest.json": written.manifest_sha256}
    for one in manifest["files"]:
        content = (out / one["path"]).read_bytes()
        assert one["bytes"] == len(content)
        if one["path"].startswith("images/"):
            assert workspace.blobs.read(one["sha256"]) == content
    assert manifest["snapshot_sha256"] == written.snapshot_sha256


def test_the_same_answers_give_the_same_bytes(answered: tuple[Workspace, str], tmp_path: Path) -> None:
    workspace, project_id = answered
    one, two = (export(workspace, project_id, tmp_path / name) for name in ("one", "two"))
    assert hashes(one.folder) == hashes(two.folder)


def test_a_folder_with_files_in_it_is_refused_and_left_alone(answered: tuple[Workspace, str], tmp_path: Path) -> None:
    workspace, project_id = answered
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(Refused, match="is not empty"):
        export(workspace, project_id, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    export(workspace, project_id, tmp_path / "empty")
    assert (tmp_path / "empty" / "annotations.json").is_file()


def test_an_export_that_fails_leaves_nothing_behind(answered: tuple[Workspace, str], tmp_path: Path) -> None:
    workspace, project_id = answered
    written = export(workspace, project_id, tmp_path / "one")
    image = next(sha256 for name, sha256 in hashes(written.folder).items() if name.startswith("images/"))
    workspace.blobs.path(image).write_bytes(b"not the page any more")
    with pytest.raises(Refused, match="changed on disk"):
        export(workspace, project_id, tmp_path / "two")
    assert not [path for path in tmp_path.iterdir() if "two" in path.name]


def test_nothing_accepted_is_one_sentence(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    project = make_project(sqlite_workspace)
    with pytest.raises(Refused, match="no accepted answer"):
        export(sqlite_workspace, project.id, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_plain_and_compressed_run_lengths_say_the_same() -> None:
    mask = brush()
    flat = mask.T.ravel()
    edges = np.flatnonzero(np.diff(flat)) + 1
    counts = np.diff([0, *edges, flat.size]).tolist()
    assert np.array_equal(decode_rle({"size": [HEIGHT, WIDTH], "counts": counts}), mask)
    assert np.array_equal(decode_rle(encode_rle(mask)), mask)
    with pytest.raises(ValueError, match="do not sum"):
        decode_rle({"size": [HEIGHT, WIDTH], "counts": counts[:-1]})


@pytest.mark.parametrize("counts", ["5", "", "0"])
def test_run_lengths_that_do_not_fill_their_mask_are_refused(counts: str) -> None:
    with pytest.raises(ValueError, match="cannot be read as COCO run lengths"):
        decode_rle({"size": [300, 300], "counts": counts})
