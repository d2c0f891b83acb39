"""Fonts of a PDF whose characters may not be the letters that they look like.

A font has a map to Unicode (/ToUnicode), or an encoding by which its codes are letters, or neither: then what programs
copy out of its text is guessed. Its glyphs are printed rightly all the same, so OCR can read them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import pymupdf

from engine.documents.text_layer.layer_check import is_odd_text
from engine.documents.text_layer.legible import unreadable_characters

_SUBSET = 7  # characters of the tag in front of the name of an embedded part of a font: ABCDEF+
_UNREADABLE = 0.3  # share of a font's characters without a letter, from which the others are checked
_LEAST_LETTERS = 4  # of a font without a map; a few bullets are not worth a reading
_LONG_WORDS = 3.5  # mean length of the words of a text; shorter ones are formulas, which look odd by nature


def fonts_without_map(page: pymupdf.Page) -> frozenset[str]:
    """Return the names of the page's embedded fonts that say nowhere which letters their codes are."""
    names = set()
    document = page.parent
    for xref, extension, kind, base, _, encoding, *_ in page.get_fonts(full=True):
        embedded = xref > 0 and extension not in ("", "n/a")
        no_letters = (kind == "TrueType" and not encoding) or (kind == "Type0" and encoding.startswith("Identity"))
        if embedded and no_letters and document.xref_get_key(xref, "ToUnicode")[0] == "null":
            names.add(base[_SUBSET:] if base[_SUBSET - 1 : _SUBSET] == "+" else base)
    return frozenset(names)


def doubtful_fonts(words: Iterable[tuple[str, str]], without_map: frozenset[str]) -> frozenset[str]:
    """Return the names of a page's fonts whose text OCR should check.

    Args:
        words: The name of its font and the text of each word that the page shows.
        without_map: Names of fonts, by `fonts_without_map`.
    """
    texts: dict[str, list[str]] = {}
    for font, text in words:
        texts.setdefault(font, []).append(text)
    doubted = {font for font, some in texts.items() if _is_doubted(font, some, without_map)}
    # Where all look odd, the page as a whole is judged, by doubts.py.
    return frozenset(doubted if doubted != set(texts) else doubted & without_map)


def font_of(fonts: Sequence[str]) -> str:
    """Return the font of most characters of a word."""
    return Counter(fonts).most_common(1)[0][0]


def _is_doubted(font: str, texts: Sequence[str], without_map: frozenset[str]) -> bool:
    readable = [text for text in texts if not unreadable_characters(text)]
    text = "".join(readable)
    if font in without_map or sum(map(unreadable_characters, texts)) >= _UNREADABLE * sum(map(len, texts)):
        return sum(c.isalnum() for c in text) >= _LEAST_LETTERS
    return len(text) >= _LONG_WORDS * len(readable) and is_odd_text(text)
