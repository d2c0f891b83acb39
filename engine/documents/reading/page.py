"""Result of reading a document: pages, and words in pixels of those pages."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from engine.documents.form_layer.widgets import FormWidget, widget_from_wire
from model.boxes import Box

TextSource = Literal["layer", "ocr", "layer+ocr", "given", "none"]


@dataclass(frozen=True, slots=True)
class ReadWord:
    """Word of a page; `box` is (x0, y0, x1, y1) in pixels, x1 and y1 exclusive, inside the page.

    `line` counts the page's lines in reading order from 0; words are in reading order. `confidence` is the OCR
    engine's, 0..1; None in a text layer.
    """

    text: str
    box: Box
    line: int
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class ReadPage:
    """Page; `number` counts from 1, `width` and `height` are pixels of the image at `image_path`.

    `rotation`: clockwise degrees by which the stored page was turned, by the file's own rotation and by detection.
    `text_source`: "layer+ocr" where OCR read what the layer lacks, "none" for a page without words, "given" when
    imported with them. `widgets`: of the file's form, on this page.
    """

    number: int
    width: int
    height: int
    image_path: Path
    rotation: int
    text_source: TextSource
    words: tuple[ReadWord, ...]
    widgets: tuple[FormWidget, ...] = ()


@dataclass(frozen=True, slots=True)
class Beginning:
    """Facts known when a document has been opened, before its first page; `pages` is the expected number."""

    media_type: str
    title: str | None
    pages: int


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """Complete document; `warnings` are sentences for the person who uploaded it.

    `unread`: numbers of pages that OCR should have read and did not; another reading may. `try_again`: those of them
    that the same machine may read later, because time ran out or the engine failed.
    """

    media_type: str
    pages: tuple[ReadPage, ...]
    title: str | None
    warnings: tuple[str, ...]
    unread: tuple[int, ...] = ()
    try_again: tuple[int, ...] = ()


def page_to_wire(page: ReadPage) -> dict[str, Any]:
    """Return the page as JSON, for sending by the reading process."""
    return {
        "number": page.number,
        "size": [page.width, page.height],
        "image": page.image_path.name,
        "rotation": page.rotation,
        "text_source": page.text_source,
        "words": [[word.text, *word.box, word.line, word.confidence] for word in page.words],
        "widgets": [widget.to_wire() for widget in page.widgets],
    }


def page_from_wire(sent: dict[str, Any], folder: Path) -> ReadPage:
    """Rebuild a page from JSON; the image name is restricted to a file inside `folder`."""
    width, height = sent["size"]
    return ReadPage(
        number=sent["number"],
        width=width,
        height=height,
        image_path=folder / Path(sent["image"]).name,
        rotation=sent["rotation"],
        text_source=sent["text_source"],
        words=tuple(ReadWord(text, (x0, y0, x1, y1), line, sure) for text, x0, y0, x1, y1, line, sure in sent["words"]),
        widgets=tuple(map(widget_from_wire, sent.get("widgets", ()))),
    )
