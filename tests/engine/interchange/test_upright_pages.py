"""Pictures of sets come in as viewers show them: upright, on white, in 8 bits, with their marks on the ink."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sqlalchemy import select

from db.tables import Page
from engine.documents.reading.pictures import upright
from engine.interchange.bad_entries import BadEntry
from engine.interchange.upright_pages import turn_box, turn_mask
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.imported_sets import marked, take_in

WIDTH, HEIGHT = 120, 90
INK = 20, 30, 70, 50  # x0, y0, x1, y1 of the ink on the stored picture
TOTAL = "What is the total?"


def stored_picture(path: Path, orientation: int = 1, size: tuple[int, int] = (WIDTH, HEIGHT)) -> Path:
    image = Image.new("L", size, 255)
    image.paste(0, INK)
    exif = Image.Exif()
    exif[0x0112] = orientation
    image.save(path, "JPEG", quality=95, exif=exif)
    return path


def coco(folder: Path, name: str, size: tuple[int, int], box: tuple[int, int, int, int]) -> Path:
    x0, y0, x1, y1 = box
    (folder / "annotations.json").write_text(
        json.dumps(
            {
                "images": [{"id": 1, "file_name": name, "width": size[0], "height": size[1]}],
                "categories": [{"id": 1, "name": TOTAL}],
                "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [x0, y0, x1 - x0, y1 - y0]}],
            }
        )
    )
    return folder


def label_studio(folder: Path, name: str, size: tuple[int, int], box: tuple[int, int, int, int]) -> Path:
    (width, height), (x0, y0, x1, y1) = size, box
    value = {"x": x0 / width, "y": y0 / height, "width": (x1 - x0) / width, "height": (y1 - y0) / height}
    region = {
        "type": "rectanglelabels",
        "original_width": width,
        "original_height": height,
        "value": {**{side: 100 * part for side, part in value.items()}, "rotation": 0, "rectanglelabels": [TOTAL]},
    }
    task = {"id": 1, "data": {"image": name}, "annotations": [{"result": [region]}]}
    (folder / "tasks.json").write_text(json.dumps([task]))
    return folder


def page_and_mark(workspace: Workspace, form: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The imported page as grey, and the pixels of its answer."""
    project_id, _ = take_in(workspace, form, folder)
    with workspace.database.read() as session:
        page = session.scalars(select(Page)).one()
        content = workspace.blobs.read(page.image_sha256)
    with Image.open(io.BytesIO(content)) as image:
        assert not image.getexif().get(0x0112)
        assert image.size == (page.width, page.height)
        grey = np.asarray(image.convert("L"))
    [(_, mask)] = marked(workspace, project_id)
    return grey, mask


@pytest.mark.parametrize("write", [coco, label_studio])
@pytest.mark.parametrize("marks_on", ["stored", "shown"])
@pytest.mark.parametrize("orientation", [5, 6, 7, 8])
def test_a_turned_picture_comes_in_upright_with_its_marks_on_the_ink(
    sqlite_workspace: Workspace, tmp_path: Path, orientation: int, marks_on: str, write: Callable[..., Path]
) -> None:
    stored_picture(tmp_path / "photo.jpg", orientation)
    size, box = (WIDTH, HEIGHT), INK
    if marks_on == "shown":
        size, box = (HEIGHT, WIDTH), turn_box(INK, orientation, size)
    form = "coco" if write is coco else "label-studio"
    grey, mask = page_and_mark(sqlite_workspace, form, write(tmp_path, "photo.jpg", size, box))
    assert grey.shape == mask.shape == (WIDTH, HEIGHT)
    assert grey[mask].mean() < 10 and grey[~mask].mean() > 245


@pytest.mark.parametrize("orientation", [2, 3, 4])
def test_a_picture_of_which_nothing_says_how_its_marks_stand_is_refused(
    sqlite_workspace: Workspace, tmp_path: Path, orientation: int
) -> None:
    stored_picture(tmp_path / "photo.jpg", orientation)
    with pytest.raises(BadEntry, match=rf"photo\.jpg is turned or mirrored by its EXIF orientation \({orientation}\)"):
        take_in(sqlite_workspace, "coco", coco(tmp_path, "photo.jpg", (WIDTH, HEIGHT), INK))


@pytest.mark.parametrize("orientation", range(1, 9))
def test_masks_and_boxes_turn_as_the_picture_does(orientation: int) -> None:
    mask = rasterise([INK], (HEIGHT, WIDTH))
    image = Image.fromarray(mask)
    image.getexif()[0x0112] = orientation
    shown = np.asarray(upright(image))
    assert np.array_equal(turn_mask(mask, orientation), shown)
    assert np.array_equal(rasterise([turn_box(INK, orientation, (WIDTH, HEIGHT))], shown.shape), shown)


def test_transparent_pictures_and_those_of_many_bits_come_in_as_they_are_shown(
    sqlite_workspace: Workspace, tmp_path: Path
) -> None:
    ink = rasterise([INK], (HEIGHT, WIDTH))
    clear = np.zeros((HEIGHT, WIDTH, 4), np.uint8)
    clear[ink] = 0, 0, 0, 255
    for name, pixels in (("clear.png", clear), ("deep.png", np.where(ink, 0, 65_535).astype(np.uint16))):
        folder = tmp_path / name.removesuffix(".png")
        folder.mkdir()
        Image.fromarray(pixels).save(folder / name)
        project_id, _ = take_in(sqlite_workspace, "coco", coco(folder, name, (WIDTH, HEIGHT), INK), name)
        [(_, mask)] = marked(sqlite_workspace, project_id)
        with sqlite_workspace.database.read() as session:
            newest = session.scalars(select(Page).order_by(Page.id.desc())).first()
            assert newest is not None
            content = sqlite_workspace.blobs.read(newest.image_sha256)
        with Image.open(io.BytesIO(content)) as stored:
            assert stored.mode in ("L", "RGB")
            grey = np.asarray(stored.convert("L"))
        assert grey[mask].max() == 0 and grey[~mask].min() == 255, name


def test_a_webp_picture_of_a_set_comes_in(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    image = Image.new("L", (WIDTH, HEIGHT), 255)
    image.paste(0, INK)
    image.save(tmp_path / "page.webp", lossless=True)
    grey, mask = page_and_mark(sqlite_workspace, "coco", coco(tmp_path, "page.webp", (WIDTH, HEIGHT), INK))
    assert grey[mask].max() == 0 and grey[~mask].min() == 255
