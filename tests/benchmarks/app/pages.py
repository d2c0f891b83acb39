"""Documents of known size, as PDFs with a text layer."""

from __future__ import annotations

import random

import pymupdf

WORDS = ("amount", "balance", "carrier", "delivery", "estimate", "freight", "gross", "handling", "invoice", "journal")


def document(pages: int, words: int, seed: int = 0) -> bytes:
    """A PDF of A4 pages with so many words each; the letters are as small as that takes."""
    rng = random.Random(seed)
    made = pymupdf.open()
    columns = max(6, round((words / 1.2) ** 0.5 * 0.6))
    lines = -(-words // columns)
    across, down = 535 / columns, 780 / lines
    size = min(11.0, down * 0.75, across / 5)
    for _ in range(pages):
        page = made.new_page(width=595, height=842)
        writer = pymupdf.TextWriter(page.rect)
        for at in range(words):
            text = rng.choice(WORDS) if at % 5 else f"{rng.randrange(10_000)}.{rng.randrange(100):02}"
            writer.append((30 + at % columns * across, 35 + at // columns * down), text[:8], fontsize=size)
        writer.write_text(page)
    return bytes(made.tobytes(deflate=True))
