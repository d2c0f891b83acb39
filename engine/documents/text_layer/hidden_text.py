"""Text that a PDF holds and draws invisibly or without opacity: somebody's OCR, or an archive's own notes.

What is drawn and then covered by other content is found by `covered_text.py` beside this file.
"""

from typing import Any

_DRAWN = 8 | 16  # of MuPDF's flags of characters: stroked, filled


def mark_undrawn(raw: dict[str, Any]) -> None:
    """Set "hidden" in the characters of a page's "rawdict" that leave no ink by the way they are drawn."""
    for block in raw["blocks"]:
        for line in block.get("lines", ()):
            for span in line["spans"]:
                if not span["char_flags"] & _DRAWN or span["alpha"] == 0:
                    for character in span["chars"]:
                        character["hidden"] = True
