"""PNG masks: a picture of one bit a pixel for each answer on each page, and a line that says what it answers."""

import json

from PIL import Image

from engine.interchange.destination import Destination
from engine.interchange.outcome import Outcome, Tick
from engine.interchange.release import IMAGES_FOLDER, SPLITS, Release, attributes_of, image_name

MASKS_FOLDER, INDEX_FILE = "masks", "answers.jsonl"


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write images/, masks/ and answers.jsonl: a line an answer, with its masks page by page; none where the document does not answer.

    A mask is 1 (white) where the answer is, of its page's size; it is named after the page and the answer.
    """
    counts = {"documents": 0, "masks": 0, "answers": 0, "no_answer": 0}
    with to.text(INDEX_FILE) as index:
        for document, items in release.documents():
            counts["documents"] += 1
            for item in items:
                masks = []
                for marked in release.marked(item):
                    image = image_name(document, marked.page)
                    to.blob(f"{IMAGES_FOLDER}/{image}", marked.page.image_sha256)
                    path = f"{MASKS_FOLDER}/{image.rsplit('.', 1)[0]}-{item.annotation_id}.png"
                    with to.file(path) as target:
                        Image.fromarray(marked.mask).save(target, format="PNG", optimize=False)
                    masks.append(
                        {
                            "image": f"{IMAGES_FOLDER}/{image}",
                            "mask": path,
                            "page": marked.page.number,
                            "text": marked.text,
                        }
                    )
                if not masks:
                    for page in document.pages:
                        to.blob(f"{IMAGES_FOLDER}/{image_name(document, page)}", page.image_sha256)
                counts["masks"] += len(masks)
                counts["answers" if masks else "no_answer"] += 1
                row = {
                    "document": document.name,
                    "question": item.question,
                    "no_answer": not masks,
                    "masks": masks,
                    **attributes_of(item),
                    "split": SPLITS[document.split],
                }
                index.write(json.dumps(row, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n")
                tick()
    return Outcome(counts)
