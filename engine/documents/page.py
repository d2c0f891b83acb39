"""What reading a document gives: pages, and words in the pixels of those pages."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

TextSource = Literal["layer", "ocr", "given", "none"]
Box = tuple[int, int, int, int]
READING = "reading:"  # and a document's id: the subject of the lease that stands while its pages come in


@dataclass(frozen=True, slots=True)
class ReadWord:
    """One word. `box` is (x0, y0, x1, y1) in pixels of the rendered page, x1 and y1 exclusive, never empty, never outside.

    `line` counts the page's lines in reading order from 0; words follow each other in reading order. `confidence` is the OCR
    engine's, 0..1; words of a text layer have none.
    """

    text: str
    box: Box
    line: int
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class ReadPage:
    """One page. `number` counts from 1; `width` and `height` are pixels of the file at `image_path` (PNG or JPEG).

    `rotation` is how far, clockwise in degrees, the page as stored was turned to give that picture: the file's own
    rotation and what was found by looking at the text, together. `text_source` is "none" for a page without words, "given" where a set brought them.
    """

    number: int
    width: int
    height: int
    image_path: Path
    rotation: int
    text_source: TextSource
    words: tuple[ReadWord, ...]


@dataclass(frozen=True, slots=True)
class Beginning:
    """What is known of a document when it has been opened and no page is read yet. `pages`: how many there are to be."""

    media_type: str
    title: str | None
    pages: int


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A whole document. `warnings` are sentences for the person who uploaded it."""

    media_type: str
    pages: tuple[ReadPage, ...]
    title: str | None
    warnings: tuple[str, ...]


def page_to_wire(page: ReadPage) -> dict[str, Any]:
    """The page as JSON on its way out of the reading process."""
    return {
        "number": page.number,
        "size": [page.width, page.height],
        "image": page.image_path.name,
        "rotation": page.rotation,
        "text_source": page.text_source,
        "words": [[word.text, *word.box, word.line, word.confidence] for word in page.words],
    }


def page_from_wire(sent: dict[str, Any], folder: Path) -> ReadPage:
    """The page again; the picture's name is taken as a name inside `folder` and as nothing else."""
    width, height = sent["size"]
    return ReadPage(
        number=sent["number"],
        width=width,
        height=height,
        image_path=folder / Path(sent["image"]).name,
        rotation=sent["rotation"],
        text_source=sent["text_source"],
        words=tuple(ReadWord(text, (x0, y0, x1, y1), line, sure) for text, x0, y0, x1, y1, line, sure in sent["words"]),
    )
