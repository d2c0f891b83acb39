"""Label Studio JSON: one task a page; a label is a question.

Rectangles hold the words of an answer; brush strokes hold other pixels.
Export: `interface.xml` is the labelling interface to import the tasks into. Images are named as Label Studio's local
storage serves them: point LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT at the folder that holds the export.
"""

import json
import math
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.sax.saxutils import quoteattr

import numpy as np

from db.statuses import AUTOMATIC
from engine.interchange.bad_entries import BadEntries, bad
from engine.interchange.brush import decode_brush, encode_brush
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.image_files import image_within
from engine.interchange.import_entries import (
    MOST_POINTS,
    IncomingAnswer,
    IncomingPage,
    IncomingProposal,
    Set,
    box_of,
    check_any,
    check_list,
    check_object,
    text_of,
    whole,
)
from engine.interchange.json_entries import ALONE, entries
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.pictures import size_of
from engine.interchange.polygons import fill_inside
from engine.interchange.release import IMAGES_FOLDER, Marked, Release, image_name, licence_of
from engine.interchange.snapshot_figures import SPLITS
from model.masks import Mask, rasterise

TASKS_FILE, INTERFACE_FILE = "tasks.json", "interface.xml"
UNNAMED_MODEL = "a model without a name"
_LOCAL = "/data/local-files/?d="


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write tasks.json, interface.xml and images/.

    A task's data lists the questions that its document does not answer as "no_answer".
    """
    counts = {"documents": 0, "tasks": 0, "answers": 0, "no_answer": 0}
    with to.text(INTERFACE_FILE) as file:
        file.write(_interface(release.questions))
    with to.text(TASKS_FILE) as file:
        for document, items in release.documents():
            counts["documents"] += 1
            by_page, unanswered = release.by_page(items, tick)
            counts["answers"] += len(items) - len(unanswered)
            counts["no_answer"] += len(unanswered)
            not_there = sorted({item.question for item in unanswered})
            for page in document.pages:
                if page.id not in by_page and not not_there:
                    continue
                image, marked = image_name(document, page), by_page.get(page.id, [])
                answers = [list(of_answer) for _, of_answer in groupby(marked, key=lambda one: one.item.annotation_id)]
                to.blob(f"{IMAGES_FOLDER}/{image}", page.image_sha256)
                counts["tasks"] += 1
                task = {
                    "id": counts["tasks"],
                    "data": {
                        "image": _LOCAL + quote(f"{to.out.name}/{IMAGES_FOLDER}/{image}"),
                        "document": document.name,
                        "document_sha256": document.sha256,
                        "page": page.number,
                        "split": SPLITS[document.split],
                        "licence": licence_of(document),
                        "no_answer": not_there,
                    },
                    "annotations": [
                        _annotation(of_answer) for of_answer in answers if of_answer[0].item.status != AUTOMATIC
                    ],
                }
                automatic = [_prediction(of_answer) for of_answer in answers if of_answer[0].item.status == AUTOMATIC]
                if automatic:
                    task["predictions"] = automatic
                file.write(("[\n" if counts["tasks"] == 1 else ",\n") + _json(task))
        file.write("\n]\n")
    return Outcome(counts)


def _annotation(values: list[Marked]) -> dict[str, Any]:
    """Return the annotation for the values of one answer of a person."""
    regions, item = [region for marked in values for region in _regions_of(marked)], values[0].item
    return {
        "unique_id": item.annotation_id,
        "completed_by": {"first_name": item.author},
        "result": regions,
        "result_count": len(regions),
    }


def _prediction(values: list[Marked]) -> dict[str, Any]:
    """Return the prediction for one automatic answer; a person may accept it in Label Studio."""
    regions, item = [region for marked in values for region in _regions_of(marked)], values[0].item
    return {"model_version": item.model_version, "score": item.weight, "result": regions}


def _regions_of(marked: Marked) -> list[dict[str, Any]]:
    """Return the regions of an answer; its question is the label of each."""
    label, name = marked.item.question, marked.key
    if marked.by_words:
        return [
            _region(
                marked,
                f"{name}-{word.number}",
                "rectanglelabels",
                _rectangle(marked, word.box) | {"rectanglelabels": [label]},
                word.text,
            )
            for word in marked.words
        ]
    brush = {"format": "rle", "rle": encode_brush(marked.mask), "brushlabels": [label]}
    return [_region(marked, f"{name}-0", "brushlabels", brush, marked.text)]


def _region(marked: Marked, number: str, kind: str, value: dict[str, Any], text: str) -> dict[str, Any]:
    return {
        "id": number,
        "type": kind,
        "from_name": "words" if kind == "rectanglelabels" else "brush",
        "to_name": "image",
        "original_width": marked.page.width,
        "original_height": marked.page.height,
        "image_rotation": 0,
        "value": value,
        "meta": {"text": [text], **({"value": [str(marked.value)]} if marked.value else {})},
    }


def _rectangle(marked: Marked, box: tuple[int, int, int, int]) -> dict[str, float]:
    """Return the box in per cent of the page, not rounded, so that an import returns the same pixels."""
    x0, y0, x1, y1 = box
    width, height = marked.page.width, marked.page.height
    return {
        "x": 100 * x0 / width,
        "y": 100 * y0 / height,
        "width": 100 * (x1 - x0) / width,
        "height": 100 * (y1 - y0) / height,
        "rotation": 0,
    }


def _interface(questions: list[str]) -> str:
    labels = "".join(f"    <Label value={quoteattr(text)}/>\n" for text in questions)
    return (
        '<View>\n  <Image name="image" value="$image" zoom="true"/>\n'
        f'  <RectangleLabels name="words" toName="image">\n{labels}  </RectangleLabels>\n'
        f'  <BrushLabels name="brush" toName="image">\n{labels}  </BrushLabels>\n</View>\n'
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)


_MOST_DEGREES = 360
_MOST_PER_CENT = 10_000  # of the page; a box that leaves the page is cut, one outside is said to be outside
_KINDS = ("rectanglelabels", "brushlabels", "polygonlabels")
_Regions = list[tuple[str, dict[str, Any]]]  # where each stands, and the region


def open_set(path: Path, bad_entries: BadEntries) -> Set:
    """Open an export of tasks, or a folder with tasks.json; images are found beside it by their names.

    Regions of one label in one annotation are one answer. Where several annotations of a task answer the same question,
    the one that Label Studio calls the ground truth comes in, else the first; the others are counted. Regions of other
    kinds are counted as lost. Predictions become proposals, because no person has looked at them.

    Raises:
        BadEntry: There is no such file, or it is no list of tasks.
    """
    file = path / TASKS_FILE if path.is_dir() else path
    lost: dict[str, int] = {}
    count = 0
    for count, (_, task) in enumerate(_tasks(file), 1):  # noqa: B007
        for region in _regions_read(task) if isinstance(task, dict) else ():
            kind = str(region.get("type")) if isinstance(region, dict) else "?"
            if kind not in _KINDS:
                lost[kind] = lost.get(kind, 0) + 1

    def pages() -> Iterator[IncomingPage]:
        seen: set[int] = set()
        for at, stored in _tasks(file):
            where, page = f"{file.name}, task {at}", None
            with bad_entries.leave_out(where, document=_document_named(stored)):
                task = check_object(stored, "it", where)
                number = whole(task.get("id", at), '"id"', where)
                if number in seen:
                    bad(where, f"its id {number} occurs twice")
                seen.add(number)
                page = _page(file.parent, task, f"{file.name}, task {number}", bad_entries)
            if page is not None:
                yield page

    return Set(pages, count, lost)


def _tasks(file: Path) -> Iterator[tuple[int, Any]]:
    for name, at, task in entries(file):
        if name:
            bad(file.name, "its content must be a list of tasks, and is an object")
        if at != ALONE:
            yield at, task


def _regions_read(task: dict[str, Any]) -> Iterator[Any]:
    sources = [task.get(name) for name in ("annotations", "predictions")]
    for annotation in [entry for source in sources if isinstance(source, list) for entry in source]:
        result = annotation.get("result") if isinstance(annotation, dict) else None
        yield from result if isinstance(result, list) else []


def _stated_size(task: dict[str, Any]) -> tuple[int, int] | None:
    """Return the size of the image that the first region of a task gives; None without one."""
    for region in _regions_read(task):
        if isinstance(region, dict) and {"original_width", "original_height"} <= region.keys():
            return region["original_width"], region["original_height"]
    return None


def _document_named(task: object) -> str | None:
    """Return the document that an export of Glossator names for a task; None for other tasks."""
    data = task.get("data") if isinstance(task, dict) else None
    named = data.get("document_sha256") if isinstance(data, dict) else None
    return str(named) if named else None


def _page(folder: Path, task: dict[str, Any], where: str, bad_entries: BadEntries) -> IncomingPage:
    data = check_object(task.get("data"), '"data"', where)
    image = _image(folder, data, where)
    width, height = size_of(image, where, _stated_size(task))
    by_label, alternatives = _regions_by_label(task, where, bad_entries)
    answers = [
        IncomingAnswer(label, regions[0][0], mask=partial(_mask, regions, (height, width)), value=value)
        for (label, value), regions in by_label.items()
    ]
    for text in check_list(data.get("no_answer") or [], '"no_answer"', where):
        answers.append(IncomingAnswer(text_of(text, "a question", where), where))
    return IncomingPage(
        document=str(data.get("document_sha256") or image.name),
        number=whole(data.get("page") or 1, '"page"', where, 1),
        image=image,
        width=width,
        height=height,
        where=where,
        name=str(data.get("document") or image.name),
        answers=tuple(answers),
        licence=data.get("licence") if isinstance(data.get("licence"), str) else None,
        proposals=_proposals(task, (height, width), where, bad_entries),
        alternatives=alternatives,
    )


def _proposals(
    task: dict[str, Any], size: tuple[int, int], where: str, bad_entries: BadEntries
) -> tuple[IncomingProposal, ...]:
    """Return a proposal for each label of each prediction; the most confident come last."""
    proposals: list[IncomingProposal] = []
    for at, stored in enumerate(check_list(task.get("predictions") or [], '"predictions"', where)):
        of_prediction = f"{where}, prediction {at}"
        with bad_entries.leave_out(of_prediction):
            prediction = check_object(stored, "it", of_prediction)
            score = prediction.get("score")
            stated = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
            by_label: dict[str, _Regions] = {}
            for (label, _), regions in _regions_by_name(prediction, of_prediction, bad_entries).items():
                by_label.setdefault(label, []).extend(regions)
            proposals += [
                IncomingProposal(
                    label,
                    of_prediction,
                    mask=partial(_mask, regions, size),
                    by_words=all(region.get("type") != "brushlabels" for _, region in regions),
                    model=str(prediction.get("model_version") or UNNAMED_MODEL),
                    confidence=float(score) if stated and score is not None else 1.0,
                )
                for label, regions in by_label.items()
            ]
    return tuple(sorted(proposals, key=lambda proposal: proposal.confidence))


def _regions_by_label(
    task: dict[str, Any], where: str, bad_entries: BadEntries
) -> tuple[dict[tuple[str, str], _Regions], int]:
    """Return the regions of each label and value, and the number of answers of further annotations to the labels."""
    annotations = check_list(task.get("annotations", []), '"annotations"', where)
    numbered = [(at, check_object(one, f"annotation {at}", where)) for at, one in enumerate(annotations)]
    by_label: dict[tuple[str, str], _Regions] = {}
    alternatives = 0
    for at, annotation in sorted(numbered, key=lambda pair: pair[1].get("ground_truth") is not True):
        if annotation.get("was_cancelled"):
            continue
        own = _regions_by_name(annotation, f"{where}, annotation {at}", bad_entries)
        taken = {label for label, _ in by_label}
        alternatives += len({label for label, _ in own} & taken)
        by_label |= {key: regions for key, regions in own.items() if key[0] not in taken}
    return by_label, alternatives


def _regions_by_name(result: dict[str, Any], where: str, bad_entries: BadEntries) -> dict[tuple[str, str], _Regions]:
    """Return the regions of an annotation or a prediction by label and value."""
    by_label: dict[tuple[str, str], _Regions] = {}
    for place, stored in enumerate(check_list(result.get("result", []), '"result"', where)):
        at_region = f"{where}, region {place}"
        with bad_entries.leave_out(at_region):
            region = check_object(stored, "it", at_region)
            kind = region.get("type")
            value = check_object(region.get("value"), '"value"', at_region) if kind in _KINDS else {}
            for label in check_list(value.get(kind), f'"{kind}"', at_region) if kind in _KINDS else ():
                key = text_of(label, "a label", at_region), _value_of(region)
                by_label.setdefault(key, []).append((at_region, region))
    return by_label


def _value_of(region: dict[str, Any]) -> str:
    """Return the name of the value that a region belongs to; "" for an answer with a single value."""
    meta = region.get("meta")
    value = meta.get("value") if isinstance(meta, dict) else None
    return str(value[0]) if isinstance(value, list) and value else ""


def _image(folder: Path, data: dict[str, Any], where: str) -> Path:
    """Return the image of a task.

    It is looked for by the path that local storage serves, then by its name in the folder, images/ and upload/.
    """
    address = data.get("image") or data.get("ocr") or data.get("img")
    if not isinstance(address, str):
        bad(where, 'its "data" has no "image"')
    parts = urlsplit(address)
    name = parse_qs(parts.query).get("d", [unquote(parts.path)])[0]
    file = Path(name.replace("\\", "/")).name
    places = [name.replace("\\", "/").split("/", 1)[-1], f"images/{file}", f"upload/{file}", file]
    # Label Studio puts random letters before the name of an upload.
    return image_within(folder, [*places, file.split("-", 1)[-1]], where)


def _mask(regions: _Regions, size: tuple[int, int]) -> Mask:
    mask = np.zeros(size, bool)
    for where, region in regions:
        mask |= _shape(where, region, size)
    return mask


def _shape(where: str, region: dict[str, Any], size: tuple[int, int]) -> Mask:
    height, width = size
    for side, length in (("original_width", width), ("original_height", height)):
        if side in region and region[side] != length:
            bad(where, f'"{side}" is {region[side]!r}, and its image has {length}')
    if region.get("image_rotation"):
        bad(
            where,
            f"it was drawn on an image turned by {region['image_rotation']!r} degrees; turn the image back in Label "
            "Studio, or save it turned",
        )
    kind, value = str(region["type"]), region["value"]
    if kind == "brushlabels":
        try:
            return decode_brush(value.get("rle") or [], size)
        except ValueError as error:
            bad(where, str(error))
    if kind == "polygonlabels":
        points = [(_share(x, where) * width, _share(y, where) * height) for x, y in _pairs(value.get("points"), where)]
        return check_any(fill_inside([points], size), where)
    x, y, across, down = (_share(value.get(name), where) for name in ("x", "y", "width", "height"))
    if value.get("rotation"):
        corners = _turn((x * width, y * height), (across * width, down * height), value, where)
        return check_any(fill_inside([corners], size), where)
    box = box_of([x * width, y * height, (x + across) * width, (y + down) * height], (width, height), where)
    return rasterise([box], size)


def _turn(
    corner: tuple[float, float], sides: tuple[float, float], value: dict[str, Any], where: str
) -> list[tuple[float, float]]:
    """Return the corners of a rectangle in pixels, turned clockwise about its first corner as Label Studio turns it."""
    degrees = value["rotation"]
    if isinstance(degrees, bool) or not isinstance(degrees, int | float) or not abs(degrees) <= _MOST_DEGREES:
        bad(where, f"a rotation must be a number of degrees, and is {degrees!r}")
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    (x, y), (across, down) = corner, sides
    offsets = ((0.0, 0.0), (across, 0.0), (across, down), (0.0, down))
    return [(x + dx * cosine - dy * sine, y + dx * sine + dy * cosine) for dx, dy in offsets]


def _pairs(points: Any, where: str) -> list[tuple[Any, Any]]:
    rows = check_list(points, '"points"', where)
    if len(rows) > MOST_POINTS:
        bad(where, f"a polygon has {len(rows):,} points; at most {MOST_POINTS:,} are allowed")
    if len(rows) < 3 or not all(isinstance(row, list) and len(row) == 2 for row in rows):
        bad(where, "a polygon must be x and y of three points or more")
    return [(row[0], row[1]) for row in rows]


def _share(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _MOST_PER_CENT:
        bad(where, f"a position must be a percentage of the page, and is {value!r}")
    return value / 100


FORMATS = (Format("label-studio", "Label Studio JSON", write, open_set, words=False, files=(TASKS_FILE,)),)
