"""One document as pretraining reads it: words and small page images in a file of its own.

The file is a ZIP archive with `pages.json` and one JPEG a page. It needs neither the original nor a database, so it can
be copied to another machine. It is written whole or not at all.
"""

import io
import json
import uuid
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PIL import Image

from engine.documents.duplicates.page_signature import Signature
from model.examples import Word

_PAGES = "pages.json"
_QUALITY = 85  # of JPEG
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class KeptPage:
    """Page of a kept document.

    `size`: width and height, in the pixels of the word boxes. `words` are in reading order; `lines` has the line of
    each, from 0.
    """

    size: tuple[int, int]
    words: tuple[Word, ...]
    lines: tuple[int, ...]
    signature: Signature


@dataclass(frozen=True, slots=True)
class KeptDocument:
    """Kept document.

    `refused`: the reason of a document without pages. `unread`: pages that OCR did not read and another reading may.
    `tries`: how often it was read.
    """

    name: str
    pages: tuple[KeptPage, ...] = ()
    refused: str | None = None
    unread: tuple[int, ...] = ()
    tries: int = 1


def write_document(path: Path, document: KeptDocument, images: Sequence[bytes]) -> None:
    """Write a document with the images of its pages, as `small_jpeg` makes them; without any, words alone are kept.

    Raises OSError when the disk is full; `path` then does not exist.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{uuid.uuid4().hex}.tmp")  # equal files may be read at once
    try:
        with zipfile.ZipFile(temporary, "w") as archive:
            for number, image in enumerate(images):
                archive.writestr(_image_name(number), image)
            archive.writestr(_PAGES, json.dumps(_to_json(document), ensure_ascii=False), zipfile.ZIP_DEFLATED)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_kept(path: Path) -> KeptDocument:
    """Return a kept document without its images. Raises ValueError for a file of another format, and OSError."""
    try:
        with zipfile.ZipFile(path) as archive:
            content = json.loads(archive.read(_PAGES))
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is damaged: {error}. Delete it, so that its document is read again.") from error
    if content.get("format") != _FORMAT:
        raise ValueError(f"{path} was kept by another version of Glossator. Delete it and read its document again.")
    pages = tuple(_page_of(row) for row in content["pages"])
    unread, tries = tuple(content.get("unread", ())), int(content.get("tries", 1))
    return KeptDocument(content["name"], pages, content["refused"], unread, tries)


def count_try(path: Path) -> None:
    """Count another reading of a kept document, from which nothing new came. Raises ValueError and OSError."""
    document = read_kept(path)
    with zipfile.ZipFile(path) as archive:
        images = [archive.read(name) for name in archive.namelist() if name != _PAGES]
    write_document(path, replace(document, tries=document.tries + 1), images)


def image_of(path: Path, page: int) -> Image.Image:
    """Return the image of a page, by its place in the document. Raises OSError."""
    with zipfile.ZipFile(path) as archive:
        image: Image.Image = Image.open(io.BytesIO(archive.read(_image_name(page)))).convert("RGB")
    return image


def small_jpeg(image: Image.Image, long_side: int) -> bytes:
    """Return the JPEG of an image scaled to a long side of at most `long_side` pixels."""
    scale = min(1.0, long_side / max(image.size))
    width, height = (max(1, round(side * scale)) for side in image.size)
    small = image if image.mode == "L" else image.convert("RGB")
    buffer = io.BytesIO()
    small.resize((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0).save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()


def _image_name(page: int) -> str:
    return f"{page}.jpg"


def _to_json(document: KeptDocument) -> dict[str, Any]:
    pages = [
        {
            "size": page.size,
            "words": [[word.text, *word.box, line] for word, line in zip(page.words, page.lines, strict=True)],
            "signature": [page.signature.picture, page.signature.words, page.signature.text],
        }
        for page in document.pages
    ]
    about = {"name": document.name, "refused": document.refused, "unread": document.unread, "tries": document.tries}
    return {"format": _FORMAT, **about, "pages": pages}


def _page_of(row: dict[str, Any]) -> KeptPage:
    picture, words, text = row["signature"]
    width, height = row["size"]
    return KeptPage(
        (width, height),
        tuple(Word(word, (x0, y0, x1, y1)) for word, x0, y0, x1, y1, _ in row["words"]),
        tuple(line for *_, line in row["words"]),
        Signature(picture, tuple(words), text),
    )
