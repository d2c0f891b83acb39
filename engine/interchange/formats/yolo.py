"""YOLO segmentation: a line for each detached part of an answer, with its class and its outline.

Format: docs.ultralytics.com/datasets/segment. Coordinates are shares of the page, and run along the edges between
pixels: a whole page is 0 0 1 0 1 1 0 1. Questions are the classes. Holes are lost; words, texts, people, and questions
that a document does not answer have no place in it.
"""

import json

from engine.datasets.manifest import FrozenPage
from engine.interchange.destination import Destination
from engine.interchange.edges import Ring
from engine.interchange.format import Format
from engine.interchange.outcome import Likeness, Outcome, Tick
from engine.interchange.release import IMAGES_FOLDER, Release, image_name
from engine.interchange.snapshot_figures import SPLITS

LABELS_FOLDER, DATA_FILE = "labels", "data.yaml"
_FOLDERS = {"train": "train", "validation": "val", "test": "test", "quarantined": "quarantined"}
_DECIMALS = 6  # a thousandth of a pixel on any page


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write data.yaml, images/SPLIT/ and labels/SPLIT/."""
    counts = {"documents": 0, "images": 0, "outlines": 0, "no_answer": 0}
    likeness = Likeness()
    classes = {text: number for number, text in enumerate(release.questions)}
    used: set[str] = set()
    for document, items in release.documents():
        counts["documents"] += 1
        folder = _FOLDERS[SPLITS[document.split]]
        by_page, unanswered = release.by_page(items, tick)
        counts["no_answer"] += len(unanswered)
        for page in document.pages:
            if page.id in by_page:
                used.add(folder)
                image = image_name(document, page)
                to.blob(f"{IMAGES_FOLDER}/{folder}/{image}", page.image_sha256)
                counts["images"] += 1
                with to.text(f"{LABELS_FOLDER}/{folder}/{image.rsplit('.', 1)[0]}.txt") as file:
                    for answer in by_page[page.id]:
                        outlines = [_shares(ring, page) for ring in answer.edge_rings]
                        likeness.add(answer.edge_likeness([_pixels(points, page) for points in outlines]))
                        counts["outlines"] += len(outlines)
                        for points in outlines:
                            shares = " ".join(f"{x} {y}" for x, y in points)
                            file.write(f"{classes[answer.item.question]} {shares}\n")
    # Without "path", Ultralytics takes the folder of this file; "." would be the folder that training is started in.
    with to.text(DATA_FILE) as file:  # JSON strings are YAML strings
        for folder in ("train", "val", "test"):
            if folder in used or folder in ("train", "val"):  # readers want both to be named
                file.write(f"{folder}: {IMAGES_FOLDER}/{folder if folder in used else 'train'}\n")
        file.write(f"nc: {len(classes)}\nnames:\n")
        file.writelines(f"  {number}: {json.dumps(text, ensure_ascii=False)}\n" for text, number in classes.items())
    return Outcome(counts, {**likeness.figures(), "no_answer_left_out": counts["no_answer"]})


def _shares(ring: Ring, page: FrozenPage) -> list[tuple[str, str]]:
    """Return the points of a ring as they are written: shares of the page's width and height."""
    return [(_share(x, page.width), _share(y, page.height)) for x, y in ring]


def _share(edge: int, length: int) -> str:
    return f"{edge / length:.{_DECIMALS}f}".rstrip("0").rstrip(".")


def _pixels(points: list[tuple[str, str]], page: FrozenPage) -> list[tuple[float, float]]:
    return [(float(x) * page.width, float(y) * page.height) for x, y in points]


FORMATS = (
    Format(
        "yolo",
        "YOLO segmentation",
        write,
        lossy="Masks become outlines without holes. Words, people and unanswered questions are left out.",
        marks_automatic=False,
    ),
)
