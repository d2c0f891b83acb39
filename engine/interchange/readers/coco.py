"""COCO: an annotation's category is what is asked, its segmentation the answer. What was exported from here comes back with its texts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from engine.interchange.incoming import (
    MOST_QUESTIONS,
    IncomingAnswer,
    IncomingPage,
    Set,
    bad,
    decoded,
    inside,
    listed,
    load_json,
    mapped,
    text_of,
    whole,
)
from engine.interchange.polygons import covered
from model.masks import Mask, rasterise

NAMES = ("annotations.json", "_annotations.coco.json", "instances.json")


def open_set(path: Path) -> Set:
    """Open a COCO file, or the one in a folder; images are found beside it, or in its folder images/. BadEntry when it is none."""
    file = path if path.is_file() else _found(path)
    stored = mapped(load_json(file), "what it holds", file.name)
    images = _by_id(stored, "images", file.name)
    categories = _by_id(stored, "categories", file.name)
    if len(categories) > MOST_QUESTIONS:
        bad(file.name, f"it has {len(categories):,} categories, and a project holds {MOST_QUESTIONS:,} questions")
    questions = {
        number: text_of(one.get("name"), "the name", f"{file.name}, category {number}")
        for number, one in categories.items()
    }
    licences = {
        str(one.get("id")): one["name"]
        for one in stored.get("licenses") or []
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    }
    by_image: dict[int, list[IncomingAnswer]] = {number: [] for number in images}
    for number, one in _by_id(stored, "annotations", file.name).items():
        where = f"{file.name}, annotation {number}"
        image = images.get(one.get("image_id", -1))
        if image is None:
            bad(where, f"there is no image {one.get('image_id')!r}")
        if one.get("category_id") not in questions:
            bad(where, f"there is no category {one.get('category_id')!r}")
        by_image[one["image_id"]].append(_answer(one, image, questions[one["category_id"]], where))
    for at, one in enumerate(listed(stored.get("no_answer", []), '"no_answer"', file.name)):
        where = f"{file.name}, no_answer {at}"
        row = mapped(one, "it", where)
        if row.get("category_id") not in questions:
            bad(where, f"there is no category {row.get('category_id')!r}")
        for number in listed(row.get("image_ids"), '"image_ids"', where):
            if number not in by_image:
                bad(where, f"there is no image {number!r}")
            by_image[number].append(IncomingAnswer(questions[row["category_id"]], where))

    def pages() -> Iterator[IncomingPage]:
        ordered = sorted(
            images.items(),
            key=lambda row: (
                str(row[1].get("document_sha256") or f"image {row[0]}"),
                row[1].get("page_number") or 1,
                row[0],
            ),
        )
        for number, image in ordered:
            where = f"{file.name}, image {number}"
            width, height = (whole(image.get(side), f'"{side}"', where, 1) for side in ("width", "height"))
            yield IncomingPage(
                document=str(image.get("document_sha256") or f"image {number}"),
                number=whole(image.get("page_number") or 1, '"page_number"', where, 1),
                image=_image(file.parent, image.get("file_name"), where),
                width=width,
                height=height,
                where=where,
                name=str(image.get("document_name") or image.get("file_name")),
                answers=tuple(by_image[number]),
                licence=licences.get(str(image.get("license"))),
            )

    return Set(pages, len(images))


def _found(folder: Path) -> Path:
    for name in NAMES:
        if (folder / name).is_file():
            return folder / name
    several = sorted(folder.glob("*.json"))
    others = [one for one in several if one.name != "manifest.json"]
    if len(others) == 1:
        return others[0]
    return bad(str(folder), f"it holds none of the files {', '.join(NAMES)}, and not one JSON file alone")


def _by_id(stored: dict[str, Any], name: str, file: str) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for at, one in enumerate(listed(stored.get(name), f'"{name}"', file)):
        where = f"{file}, {name}[{at}]"
        row = mapped(one, "it", where)
        number = whole(row.get("id"), '"id"', where)
        if number in found:
            bad(where, f"its id {number} was used before")
        found[number] = row
    return found


def _image(folder: Path, name: object, where: str) -> Path:
    if isinstance(name, str) and (folder / "images" / name).is_file() and not (folder / name).is_file():
        return inside(folder / "images", name, where)
    return inside(folder, name, where)


def _answer(one: dict[str, Any], image: dict[str, Any], question: str, where: str) -> IncomingAnswer:
    size = (
        whole(image.get("height"), '"height" of its image', where, 1),
        whole(image.get("width"), '"width" of its image', where, 1),
    )
    shape = one.get("segmentation")

    def mask() -> Mask:
        if isinstance(shape, dict):
            return decoded(shape, size, where)
        if shape:
            return covered(_rings(shape, where), size)
        return rasterise([_box(one.get("bbox"), where)], size)

    return IncomingAnswer(question, where, mask=mask)


def _rings(shape: object, where: str) -> list[list[tuple[float, float]]]:
    rings = []
    for ring in listed(shape, '"segmentation"', where):
        points = listed(ring, "a polygon", where)
        if len(points) < 6 or len(points) % 2 or not all(_number(one) for one in points):
            bad(where, "a polygon must be x and y of three points or more")
        rings.append(list(zip(points[::2], points[1::2], strict=True)))
    return rings


def _box(value: object, where: str) -> tuple[int, int, int, int]:
    edges = listed(value, 'without a segmentation, "bbox"', where)
    if len(edges) != 4 or not all(_number(one) for one in edges) or min(edges[2:]) < 0:
        bad(where, '"bbox" must be x, y, width and height')
    x, y, width, height = (round(float(one)) for one in edges)
    return x, y, x + width, y + height


def _number(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and bool(np.isfinite(value))
        and abs(value) < 2**31
    )
