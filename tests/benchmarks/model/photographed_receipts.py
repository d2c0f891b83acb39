"""Photographs and scans of generated receipts: warped, shaded and worn, each asked the same questions.

    python -m tests.benchmarks.model.photographed_receipts OUT [--pages 60] [--seed 9993]
    python -m tests.benchmarks.model.by_question OUT --ocr --ocr-cache CACHE [--model WEIGHTS]

The words of the set are those that were printed; `--ocr` asks those that OCR reads in the picture.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord, write_pages
from engine.synthetic.assemble import assemble
from engine.synthetic.kinds.receipts import receipt
from engine.synthetic.kinds.receipts.words import ASKED
from engine.synthetic.ocr import Reading
from engine.synthetic.render import draw_clean
from engine.synthetic.scan import apply_wear
from model.boxes import Box

QUESTIONS = {
    "company": "What is the name of the store?",
    "address": "What is the address of the store?",
    "date": "What is the date of the receipt?",
    "time": "At what time was it issued?",
    "phone": "What is the phone number?",
    "number": "What is the receipt number?",
    "cashier": "Who was the cashier?",
    "subtotal": "What is the subtotal?",
    "tax": "How much is the tax?",
    "total": "What is the total amount?",
}
_GROUNDS = ((38, 36, 34), (120, 92, 66), (150, 152, 156), (70, 84, 100), (190, 180, 165))
_MARGIN, _CORNER, _TURN = 0.06, 0.035, 3.0  # of the width around the paper; of each corner's shift; degrees

Warp = NDArray[np.float64]  # [3, 3], from pixels of the paper to pixels of the photograph


def photographs(pages: int, seed: int) -> Iterator[tuple[GroundedPage, Image.Image]]:
    """Yield receipts with their pictures; the boxes of words are those around their warped corners."""
    phrasings = ASKED | {name: (text,) for name, text in QUESTIONS.items()}
    made = number = 0
    while made < pages:
        name = f"{seed} photograph {number}"
        number += 1
        draft = receipt.lay_out(random.Random(name), phrasings)
        page = assemble(draft.canvas, "receipt", name, f"photograph-{number}", draft.absent, reading=Reading())
        asked = [one for one in page.page.questions if one.answers and one.question in QUESTIONS.values()]
        if not asked:
            continue
        made += 1
        clean = draw_clean(page.canvas, page.page.width, page.page.height, random.Random(name))
        yield _photograph(page.page, asked, clean, random.Random(f"{name} camera"))


def _photograph(
    page: GroundedPage, asked: list[GroundedQuestion], clean: Image.Image, rng: random.Random
) -> tuple[GroundedPage, Image.Image]:
    margin = round(_MARGIN * page.width)
    size = (page.width + 2 * margin, page.height + 2 * margin)
    warp = _warp(page.width, page.height, margin, rng)
    pixels = cv2.warpPerspective(
        np.asarray(clean), warp, size, flags=cv2.INTER_AREA, borderValue=rng.choice(_GROUNDS)
    )  # fmt: skip
    words = [GroundedWord(word.text, _warped(word.box, warp, size)) for word in page.words]
    return GroundedPage(page.page_id, None, *size, words, asked), apply_wear(Image.fromarray(pixels), rng)


def _warp(width: int, height: int, margin: int, rng: random.Random) -> Warp:
    """Return a small turn and a camera that is not quite above the paper."""
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    reach = _CORNER * width
    shifted = corners + margin + np.array([(rng.uniform(-reach, reach), rng.uniform(-reach, reach)) for _ in corners])
    # A long slip turned by three degrees would leave the picture.
    angle = np.radians(rng.uniform(-_TURN, _TURN)) * min(1.0, 1.2 * width / height)
    turn = np.array([(np.cos(angle), -np.sin(angle)), (np.sin(angle), np.cos(angle))])
    middle = shifted.mean(axis=0)
    return np.asarray(cv2.getPerspectiveTransform(corners, ((shifted - middle) @ turn.T + middle).astype(np.float32)))


def _warped(box: Box, warp: Warp, size: tuple[int, int]) -> Box:
    x0, y0, x1, y1 = box
    corners = np.array([[(x0, y0), (x1, y0), (x1, y1), (x0, y1)]], np.float64)
    moved = cv2.perspectiveTransform(corners, warp)[0]
    left, top = np.clip(moved.min(axis=0).round(), 0, (size[0] - 1, size[1] - 1)).astype(int)
    right, bottom = np.clip(moved.max(axis=0).round(), (left + 1, top + 1), size).astype(int)
    return (int(left), int(top), int(right), int(bottom))


def main() -> None:
    """Write the set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder for pages.jsonl and images")
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--seed", type=int, default=9993)
    chosen = parser.parse_args()
    print(f"{write_pages(chosen.out, photographs(chosen.pages, chosen.seed))} photographs in {chosen.out}")


if __name__ == "__main__":
    main()
