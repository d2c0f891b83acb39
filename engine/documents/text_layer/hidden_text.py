"""Text that a PDF holds and does not show: drawn invisibly, without opacity, or under an image.

Somebody's OCR puts its words so behind or before the picture of a page; archives put their own notes there.
"""

from typing import Any

import pymupdf

_DRAWN = 8 | 16  # of MuPDF's flags of characters: stroked, filled
_COVERED = 0.9  # share of a text's box under a later image


def mark_hidden(page: pymupdf.Page, raw: dict[str, Any]) -> None:
    """Set "hidden" in the characters of a page's "rawdict" that the page does not show.

    White text on white paper is not found here: it has no ink.
    """
    spans = [span for block in raw["blocks"] for line in block.get("lines", ()) for span in line["spans"]]
    for span in spans:
        if not span["char_flags"] & _DRAWN or span["alpha"] == 0:
            for character in span["chars"]:
                character["hidden"] = True
    covered = _find_covered(page) if spans and page.get_images() else frozenset()
    if covered:
        for span in spans:
            for character in span["chars"]:
                if _key(character["c"], character["origin"]) in covered:
                    character["hidden"] = True


def _find_covered(page: pymupdf.Page) -> frozenset[tuple[int, int, int]]:
    """Return the characters that an image covers which is drawn after them."""
    # In the order in which the page is drawn; the log is cheap, and the trace of all characters is not.
    drawn = [(kind, pymupdf.Rect(box)) for kind, box in page.get_bboxlog()]
    pictures = [(at, box) for at, (kind, box) in enumerate(drawn) if kind == "fill-image"]
    under = {
        at
        for at, (kind, box) in enumerate(drawn)
        if kind.endswith("text") and any(later > at and _lies_in(box, picture) for later, picture in pictures)
    }
    if not under:
        return frozenset()
    return frozenset(
        _key(chr(code), origin)
        for span in page.get_texttrace()
        if span["seqno"] in under
        for code, _, origin, _ in span["chars"]
    )


def _lies_in(box: pymupdf.Rect, picture: pymupdf.Rect) -> bool:
    area = float(abs(box))
    return area > 0 and float(abs(box & picture)) >= _COVERED * area


def _key(character: str, origin: tuple[float, float]) -> tuple[int, int, int]:
    return ord(character[:1] or " "), round(4 * origin[0]), round(4 * origin[1])
