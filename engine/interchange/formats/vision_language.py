"""Training sets for vision-language models that answer with coordinates: a conversation for each answer on a page.

The question is asked of the page's image, and the reply is JSON with a box and the words of each value, as the models
write it. They differ in the coordinates:

- Qwen2.5-VL (arXiv:2502.13923, section 2.1.2): pixels of the image as the model sees it. Its processor makes both sides
  multiples of 28 and keeps the number of pixels within limits; `resized` is that size under the limits of the released
  processors. Who trains with other limits has to scale the boxes by them.
- Qwen3-VL (arXiv:2511.21631): thousandths of the image, whatever its size.
- ms-swift (Custom-dataset.md, "Grounding"): pixels of the file in `objects`, and a placeholder for each in the reply;
  the trainer scales them for its model.

A mark is the box around it; pages and answers without marks are left out.
"""

import json
import math
from collections.abc import Callable
from typing import Any

from engine.datasets.manifest import FrozenDocument, FrozenPage
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.outcome import Likeness, Outcome, Tick
from engine.interchange.release import IMAGES_FOLDER, Marked, Release, image_name, licence_of
from engine.interchange.snapshot_figures import SPLITS
from model.boxes import Box
from model.masks import iou, rasterise

_FACTOR = 28  # of both sides, Qwen2.5-VL: patches of 14 pixels, merged two by two
_LEAST_PIXELS, _MOST_PIXELS = 56 * 56, 16_384 * 28 * 28  # of an image, preprocessor_config.json of the released models
_THOUSANDTHS = 1000
Line = Callable[[str, str, list[tuple[Marked, Box]]], dict[str, Any]]  # of an image, a question and its boxes


def resized(width: int, height: int) -> tuple[int, int]:
    """Return the width and height to which Qwen2.5-VL's processor brings an image of this size, in pixels.

    Both sides become the nearest multiples of 28. Where that has too many pixels, or too few, the image is scaled
    first, and the sides are rounded down, or up.
    """
    wide, high = (max(_FACTOR, round(side / _FACTOR) * _FACTOR) for side in (width, height))
    if wide * high > _MOST_PIXELS:
        shrink = math.sqrt(width * height / _MOST_PIXELS)
        wide, high = (max(_FACTOR, math.floor(side / shrink / _FACTOR) * _FACTOR) for side in (width, height))
    elif wide * high < _LEAST_PIXELS:
        stretch = math.sqrt(_LEAST_PIXELS / (width * height))
        wide, high = (math.ceil(side * stretch / _FACTOR) * _FACTOR for side in (width, height))
    return wide, high


def scaled(box: Box, size: tuple[int, int], to: tuple[int, int]) -> Box:
    """Return a box of an image of one size (width, height) on the same image of another; a pixel wide at least."""
    wide, high = to[0] / size[0], to[1] / size[1]
    x0, y0, x1, y1 = round(box[0] * wide), round(box[1] * high), round(box[2] * wide), round(box[3] * high)
    x0, y0 = min(x0, to[0] - 1), min(y0, to[1] - 1)
    return x0, y0, max(x1, x0 + 1), max(y1, y0 + 1)


def write_qwen25(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write qwen2.5-vl.jsonl and images/."""
    return _write(release, to, tick, "qwen2.5-vl.jsonl", _resized_size, _conversation)


def write_qwen3(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write qwen3-vl.jsonl and images/."""
    return _write(release, to, tick, "qwen3-vl.jsonl", lambda _: (_THOUSANDTHS, _THOUSANDTHS), _conversation)


def write_swift(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write ms-swift.jsonl and images/."""
    return _write(release, to, tick, "ms-swift.jsonl", lambda page: (page.width, page.height), _messages)


def _resized_size(page: FrozenPage) -> tuple[int, int]:
    return resized(page.width, page.height)


def _write(
    release: Release,
    to: Destination,
    tick: Tick,
    name: str,
    size_of: Callable[[FrozenPage], tuple[int, int]],
    line_of: Line,
) -> Outcome:
    """Write a line for each answer on a page; `size_of`: the size in whose units the boxes are."""
    counts = {"documents": 0, "images": 0, "answers": 0, "no_answer": 0}
    likeness = Likeness()
    with to.text(name) as lines:
        for document, items in release.documents():
            counts["documents"] += 1
            by_page, unanswered = release.by_page(items, tick)
            counts["no_answer"] += len(unanswered)
            for page in document.pages:
                if page.id not in by_page:
                    continue
                image = f"{IMAGES_FOLDER}/{image_name(document, page)}"
                to.blob(image, page.image_sha256)
                counts["images"] += 1
                size = size_of(page)
                answers: dict[str, list[tuple[Marked, Box]]] = {}
                for marked in by_page[page.id]:
                    box = scaled(marked.box, (page.width, page.height), size)
                    likeness.add(_likeness(marked, box, size))
                    answers.setdefault(marked.item.annotation_id, []).append((marked, box))
                for boxes in answers.values():
                    counts["answers"] += 1
                    line = line_of(image, boxes[0][0].item.question, boxes)
                    lines.write(json.dumps({**line, **_about(document, page, size)}, ensure_ascii=False) + "\n")
    return Outcome(counts, {**likeness.figures(), "no_answer_left_out": counts["no_answer"]})


def _likeness(marked: Marked, box: Box, size: tuple[int, int]) -> float:
    """Return the IoU of a mark and of its box as it is read back."""
    page = marked.page
    back = scaled(box, size, (page.width, page.height))
    return iou(marked.mask, rasterise([back], (page.height, page.width)))


def _conversation(image: str, question: str, boxes: list[tuple[Marked, Box]]) -> dict[str, Any]:
    """Return a line as the fine-tuning code of the Qwen models reads it."""
    reply = [{"bbox_2d": list(box), "label": marked.text} for marked, box in boxes]
    return {
        "image": image,
        "conversations": [
            {"from": "human", "value": f"<image>\n{question}"},
            {"from": "gpt", "value": json.dumps(reply, ensure_ascii=False)},
        ],
    }


def _messages(image: str, question: str, boxes: list[tuple[Marked, Box]]) -> dict[str, Any]:
    """Return a line as ms-swift reads it: it puts the boxes in place of the placeholders."""
    parts = [f'{{"bbox_2d": <bbox>, "label": {json.dumps(marked.text, ensure_ascii=False)}}}' for marked, _ in boxes]
    return {
        "messages": [
            {"role": "user", "content": f"<image>{question}"},
            {"role": "assistant", "content": f"[{', '.join(parts)}]"},
        ],
        "images": [image],
        "objects": {"ref": [], "bbox": [list(box) for _, box in boxes]},
    }


def _about(document: FrozenDocument, page: FrozenPage, size: tuple[int, int]) -> dict[str, Any]:
    return {
        "document": document.name,
        "page": page.number,
        "split": SPLITS[document.split],
        "licence": licence_of(document),
        "size": [page.width, page.height],
        "resized": list(size),
    }


_LOSSY = "Masks become boxes. Words beside the answers, people and unanswered questions are left out."
FORMATS = (
    Format("qwen2.5-vl", "Conversations for Qwen2.5-VL", write_qwen25, lossy=_LOSSY, marks_automatic=False),
    Format("qwen3-vl", "Conversations for Qwen3-VL", write_qwen3, lossy=_LOSSY, marks_automatic=False),
    Format("ms-swift", "Conversations with objects for ms-swift", write_swift, lossy=_LOSSY, marks_automatic=False),
)
