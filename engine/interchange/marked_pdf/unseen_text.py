"""Text that is found and copied, but not seen: a layer of words above a page.

Its fonts (Type 3, ISO 32000-1, 9.6.5) have glyphs that draw nothing, and say the character of each code: every script
is found, and no font program goes into the file.
"""

from collections.abc import Iterator, Sequence

import pymupdf

_CODES = 256  # of a font
_GLYPH_WIDTH = 0.5  # of the height of the font
_DESCENT = 0.2  # of the height of a word, below its baseline


class UnseenText:
    """Layers of words for the pages of one document.

    Args:
        document: An empty PDF, which holds the layers until they are shown on the pages of another.
    """

    def __init__(self, document: pymupdf.Document) -> None:
        self._document = document
        self._codes: dict[str, tuple[int, int]] = {}  # from a character to its font and its code
        self._fonts: list[int] = []

    def prepare(self, texts: Sequence[str]) -> None:
        """Make the fonts for all characters of these texts; called once, before the first layer."""
        characters = sorted({character for text in texts for character in text} - {" "})
        share = _CODES - 1  # a space stands in each font
        for number, first in enumerate(range(0, len(characters), share)):
            some = [" ", *characters[first : first + share]]
            for code, character in enumerate(some):
                self._codes.setdefault(character, (number, code))
            self._fonts.append(self._add_font(some))

    def layer(self, words: Sequence[tuple[str, pymupdf.Rect]], size: pymupdf.Rect, upright: pymupdf.Matrix) -> int:
        """Add a page with words, and return its number.

        Args:
            words: Texts with their places, in points of the page as it is shown.
            size: The page before its rotation.
            upright: From points as shown to points before the rotation.
        """
        page = self._document.new_page(width=size.width, height=size.height)
        to_pdf = upright * pymupdf.Matrix(1, 0, 0, -1, 0, size.height)  # upwards, from the lower left corner
        content = "\n".join(self._show(text, box, to_pdf) for text, box in words if text and not box.is_empty)
        xref = self._add_stream(f"BT\n{content}\nET")
        self._document.xref_set_key(page.xref, "Contents", f"{xref} 0 R")
        named = " ".join(f"/U{number} {xref} 0 R" for number, xref in enumerate(self._fonts))
        self._document.xref_set_key(page.xref, "Resources", f"<</Font<<{named}>>>>")
        return int(page.number)

    def _show(self, text: str, box: pymupdf.Rect, to_pdf: pymupdf.Matrix) -> str:
        """Return the operators that show a word as wide and as high as its box, and a space behind it."""
        wide = box.width / (len(text) * _GLYPH_WIDTH)
        place = pymupdf.Matrix(wide, 0, 0, -box.height, box.x0, box.y1 - _DESCENT * box.height) * to_pdf
        matrix = " ".join(f"{number:.4f}" for number in place)
        shown = " ".join(f"/U{font} 1 Tf <{codes}> Tj" for font, codes in self._runs(text))
        return f"{matrix} Tm {shown}"

    def _runs(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield runs of characters of one font, as the hexadecimal codes; the last one ends with a space."""
        font, codes = -1, ""
        for character in text:
            its_font, code = self._codes[character]
            if its_font != font and codes:
                yield font, codes
                codes = ""
            font, codes = its_font, codes + f"{code:02x}"
        yield font, codes + "00"

    def _add_font(self, characters: Sequence[str]) -> int:
        # With its box: viewers highlight what they find by it.
        wide, low, high = (round(share * 1000) for share in (_GLYPH_WIDTH, -_DESCENT, 1 - _DESCENT))
        glyph = self._add_stream(f"{wide} 0 0 {low} {wide} {high} d1")
        names = [f"/g{code}" for code in range(len(characters))]
        rows = [f"<{code:02x}> <{character.encode('utf-16-be').hex()}>" for code, character in enumerate(characters)]
        blocks = [rows[first : first + 100] for first in range(0, len(rows), 100)]
        mapped = "\n".join("\n".join([f"{len(block)} beginbfchar", *block, "endbfchar"]) for block in blocks)
        to_unicode = self._add_stream(
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Unseen def /CMapType 2 def\n"
            f"1 begincodespacerange <00> <ff> endcodespacerange\n{mapped}\n"
            "endcmap CMapName currentdict /CMap defineresource pop end end"
        )
        widths = " ".join([str(wide)] * len(characters))
        return self._add_object(
            f"<</Type/Font/Subtype/Type3/FontBBox[0 {low} {wide} {high}]"
            f"/FontMatrix[.001 0 0 .001 0 0]/FirstChar 0/LastChar {len(characters) - 1}/Widths[{widths}]"
            f"/Encoding<</Type/Encoding/Differences[0 {' '.join(names)}]>>"
            f"/CharProcs<<{' '.join(f'{name} {glyph} 0 R' for name in names)}>>"
            f"/Resources<<>>/ToUnicode {to_unicode} 0 R>>"
        )

    def _add_object(self, text: str) -> int:
        xref = int(self._document.get_new_xref())
        self._document.update_object(xref, text)
        return xref

    def _add_stream(self, content: str) -> int:
        xref = self._add_object("<<>>")
        self._document.update_stream(xref, content.encode("ascii"), new=True)
        return xref
