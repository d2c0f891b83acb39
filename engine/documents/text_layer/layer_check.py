"""Check of a text layer by a quick reading: some of its lines are read by OCR, and compared with its words.

A layer that nobody sees can hold anything: good OCR, bad OCR, or an archive's own notes that are printed nowhere.
Reading a few of its lines costs a tenth of reading the page.
"""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from PIL import Image

from engine.documents.ocr.scripts import scripts_of
from engine.documents.reading.source_words import FoundLine, FoundWord, union

AGREES = 0.9  # similarity with a quick reading from which the words of a layer are those of the page
LOOKS_ALIKE = 0.7  # similarity from which a font's map to letters is right; with a wrong one, hardly a letter agrees
_LINES = 8  # that are read
_LETTERS = 8  # of a line, below which it tells little
_ENOUGH_OF_LINE = 24  # letters; the words behind them are left out
_AIR = 0.5  # of a line's height, around it and between two lines
_ODD = 0.25  # share of odd letters from which a text that is shown is checked, too
_FEW_VOWELS = 0.2  # of the letters of a Latin text
_ENOUGH = 40  # letters of a text whose letters are counted
_MOSTLY = 0.8  # share of Latin letters that makes a text Latin
_VOWELS = frozenset("aeiouyäöüéèêàâáíóúåøæœ")
_SIGNS = frozenset(".,:;!?()'\"-–—/%€$£&@#*+=•“”’‘[]_|§°")


@dataclass(frozen=True, slots=True)
class _Strip:
    """Line of a layer on the sheet of samples: its upper and lower edge there, in pixels, and its text."""

    top: int
    bottom: int
    text: str


@dataclass(frozen=True, slots=True)
class Samples:
    """Lines of a layer, cut out of the page's image and put below each other on a sheet for OCR."""

    image: Image.Image
    strips: tuple[_Strip, ...]

    def agreement(self, read: Iterable[FoundLine], similarity: Callable[[str, str], float]) -> float:
        """Return how well the text of the samples agrees with what OCR reads on their sheet, 0..1.

        Args:
            read: Lines in pixels of the sheet.
            similarity: Of two texts, 0..1.
        """
        words = [word for line in read for word in line.words]
        likeness = letters = 0.0
        for strip in self.strips:
            strip_words = [word for word in words if strip.top <= (word.box[1] + word.box[3]) / 2 < strip.bottom]
            text = "".join(word.text for word in sorted(strip_words, key=lambda word: word.box[0]))
            likeness += len(strip.text) * similarity(_normalise_text(strip.text), _normalise_text(text))
            letters += len(strip.text)
        return likeness / letters if letters else 0.0


def samples_of(lines: Sequence[FoundLine], grey: Image.Image) -> Samples | None:
    """Return some lines of a layer for a quick reading; None for a layer without words.

    Args:
        lines: Of the layer, in pixels of the page.
        grey: Image of the page, mode L.
    """
    pieces = [(line, "".join(word.text for word in line.words)) for line in _beginnings(lines)]
    long_ones = [piece for piece in pieces if len(piece[1]) >= _LETTERS] or pieces
    if not long_ones:
        return None
    long_ones.sort(key=lambda piece: (piece[0].words[0].box[1], piece[0].words[0].box[0]))
    step = max(1.0, len(long_ones) / _LINES)
    chosen = [long_ones[int(at * step)] for at in range(min(_LINES, len(long_ones)))]
    cuts = [(_crop_line(line, grey), text) for line, text in chosen]
    height = sum(cut.height + cut.height // 2 for cut, _ in cuts)
    sheet = Image.new("L", (max(cut.width for cut, _ in cuts), height), 255)
    strips = []
    top = 0
    for cut, text in cuts:
        sheet.paste(cut, (0, top))
        strips.append(_Strip(top, top + cut.height, text))
        top += cut.height + cut.height // 2
    return Samples(sheet, tuple(strips))


def is_odd(lines: Sequence[FoundLine]) -> bool:
    """Return whether the text of lines looks as if its font had no map to letters, or a wrong one."""
    return is_odd_text("".join(word.text for line in lines for word in line.words))


def is_odd_text(text: str) -> bool:
    """Return whether a text, without its spaces, has few vowels, or many odd signs."""
    text = text.lower()
    if len(text) < _ENOUGH:
        return False
    odd = sum(not c.isalnum() and c not in _SIGNS and not unicodedata.category(c).startswith("M") for c in text)
    letters = [c for c in text if c.isalpha()]
    latin = [c for c in letters if unicodedata.name(c, "").startswith("LATIN")]
    vowels = sum(c in _VOWELS for c in latin)
    is_latin = len(latin) >= max(_ENOUGH, _MOSTLY * len(letters))
    return odd > _ODD * len(text) or (is_latin and vowels < _FEW_VOWELS * len(latin))


def can_be_checked(lines: Sequence[FoundLine], language: str) -> bool:
    """Return whether OCR in `language` knows most letters of a text, so that its reading says something about it."""
    scripts = {script.upper() for script in scripts_of(language)}
    letters = [c for line in lines for word in line.words for c in word.text if c.isalpha()]
    known = sum(unicodedata.name(c, "?").split()[0] in scripts for c in letters)
    return 2 * known >= len(letters)


def _beginnings(lines: Iterable[FoundLine]) -> Iterable[FoundLine]:
    """Yield the first words of each line that runs to the right."""
    for line in lines:
        if line.heading == 0 and line.words:
            words: list[FoundWord] = []
            for word in sorted(line.words, key=lambda word: word.box[0]):
                if sum(len(earlier.text) for earlier in words) >= _ENOUGH_OF_LINE:
                    break
                words.append(word)
            yield FoundLine(tuple(words))


def _crop_line(line: FoundLine, grey: Image.Image) -> Image.Image:
    """Return the image of a line with a little air."""
    x0, y0, x1, y1 = union([word.box for word in line.words])
    air = _AIR * min(y1 - y0, max(word.box[3] - word.box[1] for word in line.words)) / 2
    box = (int(x0 - air), int(y0 - air), max(int(x0) + 1, round(x1 + air)), max(int(y0) + 1, round(y1 + air)))
    inside = (max(0, box[0]), max(0, box[1]), min(grey.width, box[2]), min(grey.height, box[3]))
    return grey.crop(inside)


def _normalise_text(text: str) -> str:
    """Return a text without what two readings write differently and both rightly: case, spaces, forms of signs."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in plain if c.isalnum())
