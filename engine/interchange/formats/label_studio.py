"""Label Studio JSON: a task a page, rectangles for the words of an answer, a brush stroke where no words make it.

Import it into a project whose labelling interface is the file `interface.xml` beside it. Images are named as Label Studio's local storage
serves them: point LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT at the folder that holds this one.
"""

import json
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from engine.interchange.brush import encode_brush
from engine.interchange.destination import Destination
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.release import IMAGES_FOLDER, SPLITS, Marked, Release, image_name, licence_of
from engine.statuses import AUTOMATIC

TASKS_FILE, INTERFACE_FILE = "tasks.json", "interface.xml"
_LOCAL = "/data/local-files/?d="


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write tasks.json, interface.xml and images/. What a document does not answer stands in the task's data as "no_answer"."""
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
                    "annotations": [_annotation(one) for one in marked if one.item.status != AUTOMATIC],
                }
                automatic = [_prediction(one) for one in marked if one.item.status == AUTOMATIC]
                if automatic:
                    task["predictions"] = automatic
                file.write(("[\n" if counts["tasks"] == 1 else ",\n") + _json(task))
        file.write("\n]\n")
    return Outcome(counts)


def _annotation(marked: Marked) -> dict[str, Any]:
    """One answer of a person."""
    regions = _regions(marked)
    return {
        "unique_id": marked.item.annotation_id,
        "completed_by": {"first_name": marked.item.author},
        "result": regions,
        "result_count": len(regions),
    }


def _prediction(marked: Marked) -> dict[str, Any]:
    """One automatic answer, as Label Studio has it: a prediction, which a person may take over."""
    return {"model_version": marked.item.model_version, "score": marked.item.weight, "result": _regions(marked)}


def _regions(marked: Marked) -> list[dict[str, Any]]:
    """The regions of an answer, which all carry its question as their label."""
    label, name = marked.item.question, marked.item.annotation_id
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
        "meta": {"text": [text]},
    }


def _rectangle(marked: Marked, box: tuple[int, int, int, int]) -> dict[str, float]:
    """The box in per cent of the page, not rounded: the same pixels come back."""
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
