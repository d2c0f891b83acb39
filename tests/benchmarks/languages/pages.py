"""Pages in other languages: typeset with the fonts inside MuPDF, rendered, and worn by the generator's scanners."""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from unicodedata import east_asian_width

import pymupdf
from PIL import Image

from engine.documents.limits import ReadLimits
from engine.documents.reading.open import read_document
from engine.grounded import GroundedPage, GroundedWord
from engine.synthetic.scan import apply_wear
from tests.benchmarks.languages.texts import Text

_WIDTH, _HEIGHT = 595, 842  # points, A4
_MARGIN, _SECOND_COLUMN = 64, 250  # points
_FACES = ("helv", "tiro", "cour")  # have Latin letters with all accents, and Greek
_FACE_OF_CHARACTERS = "japan"
_SIZES = (9.5, 11.0, 12.5)  # points


def made_pages(text: Text, folder: Path, count: int) -> Iterator[GroundedPage]:
    """Yield pages of a language with their given words; their images are written into `folder`.

    Typeface, size, order of the fields and wear differ from page to page, and are the same for each language; every
    third page is clean. Given words are those of the text layer, in pixels at the resolution of uploads.
    """
    for number in range(count):
        rng = random.Random(number)
        face = _FACE_OF_CHARACTERS if text.by_character else _FACES[number % len(_FACES)]
        name = f"{text.code}-{number}"
        typeset(text, folder / f"{name}.pdf", face, rng.choice(_SIZES), rng)
        read = read_document(folder / f"{name}.pdf", name=name, limits=ReadLimits(), out_dir=folder / f"{name}.read")
        layer = read.pages[0]
        with Image.open(layer.image_path) as stored:
            image = stored.convert("RGB")
        if number % 3:
            image = apply_wear(image, rng)
        image.save(folder / f"{name}.png")
        words = [GroundedWord(word.text, word.box) for word in layer.words]
        yield GroundedPage(name, f"{name}.png", layer.width, layer.height, words, [])


def typeset(text: Text, path: Path, face: str, size: float, rng: random.Random) -> None:
    """Write a PDF of one page: a title, fields in two columns, and prose."""
    font = pymupdf.Font(face)
    fields = list(text.fields)
    rng.shuffle(fields)
    with pymupdf.open() as document:
        page = document.new_page(width=_WIDTH, height=_HEIGHT)
        writer = pymupdf.TextWriter(page.rect)
        y = 84.0
        writer.append((_MARGIN, y), text.title, font=font, fontsize=1.5 * size)
        y += 3 * size
        for key, value in fields:
            writer.append((_MARGIN, y), key if text.by_character else f"{key}:", font=font, fontsize=size)
            writer.append((_SECOND_COLUMN, y), value, font=font, fontsize=size)
            y += 1.9 * size
        for paragraph in text.prose:
            y += 0.3 * size
            for line in _lines(paragraph.split(" "), font, size):
                writer.append((_MARGIN, y), line, font=font, fontsize=size)
                y += 1.5 * size
        assert y < _HEIGHT - _MARGIN, f"the {text.name} page is too long"
        writer.write_text(page)
        document.save(path)


def _lines(words: Sequence[str], font: pymupdf.Font, size: float) -> Iterator[str]:
    line = ""
    for word in words:
        longer = f"{line} {word}".lstrip()
        if line and font.text_length(longer, size) > _WIDTH - 2 * _MARGIN:
            yield line
            longer = word
        line = longer
    yield line


def by_characters(words: Sequence[GroundedWord]) -> list[GroundedWord]:
    """Cut words into their characters, whose boxes share the word's width; Latin ones take half of a Japanese one.

    Japanese has no spaces, so where an engine cuts its words says nothing about how well it reads them.
    """
    cut = []
    for word in words:
        x0, y0, x1, y1 = word.box
        edges = [0.0, *accumulate(1.0 if east_asian_width(one) in "WF" else 0.55 for one in word.text)]
        places = [round(x0 + (x1 - x0) * edge / edges[-1]) for edge in edges]
        for at, character in enumerate(word.text):
            cut.append(GroundedWord(character, (places[at], y0, places[at + 1], y1)))
    return cut
