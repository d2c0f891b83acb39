"""Documents that were read already: generated pages, stored as files are, without a child process each."""

import hashlib
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from PIL import Image
from sqlalchemy import func, select

from db.tables import Document, DocumentGroup, Page
from engine.documents.ingest import add_page, finish, new_document, signature_of_page
from engine.documents.reading.page import Beginning, ReadPage, ReadWord
from engine.synthetic import generate
from engine.synthetic.assemble import SyntheticPage
from engine.tasks.opening.open_tasks import open_missing
from engine.workspace import Workspace
from tests.support.rescans import clean, other_values, read_again, rescanned

WIDTH = 500  # pixels: small, so that a test can have many


@dataclass(frozen=True)
class Paper:
    """A page on its way in: as it is stored, and as it was printed."""

    image: Image.Image
    words: tuple[ReadWord, ...]
    printed: Image.Image


@cache
def _generated(seed: int) -> list[SyntheticPage]:
    return list(islice(generate(seed), 60))


def paper(number: int, *, seed: int = 7) -> Paper:
    """The `number`-th page, always the same, each different."""
    page = _generated(seed)[number]
    return _paper(clean(page), [word.text for word in page.page.words], [word.box for word in page.page.words])


def scanned_again(original: Paper, chance: int = 0) -> Paper:
    """The same page from another scanner, with some words misread."""
    drawn = random.Random(chance)
    factor = original.printed.width / WIDTH
    boxes = [(*(round(edge * factor) for edge in word.box),) for word in original.words]
    image = rescanned(original.printed, drawn).resize(original.printed.size)
    return _paper(image, read_again([word.text for word in original.words], 0.01, drawn), boxes)


def filled_anew(number: int, *, seed: int = 7) -> Paper:
    """The same print with other values."""
    page = _generated(seed)[number]
    canvas, texts = other_values(page, 1.0, random.Random(number))
    return _paper(clean(page, canvas), texts, [(1, 1, 9, 9)] * len(texts))


def store(workspace: Workspace, project_id: str, pages: Sequence[Paper], name: str = "paper.png") -> Document:
    """A document of these pages, in the group that they belong to."""
    with tempfile.TemporaryDirectory() as folder:
        read = [_read(page, number, Path(folder)) for number, page in enumerate(pages, 1)]
        images = [workspace.blobs.put_file(page.image_path) for page in read]
        signatures = [signature_of_page(page) for page in read]
    content = hashlib.sha256("".join([name, *images]).encode()).hexdigest()
    with workspace.database.write() as session:
        document = new_document(
            session,
            project_id,
            content,
            Beginning("image/png", None, len(read)),
            name=name,
            byte_count=1,
            user_id=None,
            signatures=signatures,
        )
        for page, image, signature in zip(read, images, signatures, strict=True):
            add_page(session, document, page, image, signature)
        finish(session, document, ())
        open_missing(session, project_id, document.id)
    return document


def read_on(workspace: Workspace, document_id: str, pages: Sequence[Paper], *, may_move: bool) -> None:
    """Add further pages to a document, as a reading that goes on does."""
    with tempfile.TemporaryDirectory() as folder, workspace.database.write() as session:
        document = session.get_one(Document, document_id)
        there = session.scalar(select(func.count()).where(Page.document_id == document_id)) or 0
        for number, page in enumerate(pages, there + 1):
            read = _read(page, number, Path(folder))
            add_page(session, document, read, workspace.blobs.put_file(read.image_path), signature_of_page(read))
        finish(session, document, (), may_move=may_move)


def group_of(workspace: Workspace, document_id: str) -> DocumentGroup:
    """The group that a document is in now."""
    with workspace.database.read() as session:
        return session.get_one(DocumentGroup, session.get_one(Document, document_id).group_id)


def _paper(image: Image.Image, texts: Sequence[str], boxes: Sequence[Sequence[int]]) -> Paper:
    factor = WIDTH / image.width
    small = image.resize((WIDTH, round(image.height * factor)), Image.Resampling.BICUBIC)
    words = []
    for text, box in zip(texts, boxes, strict=False):
        x0, y0, x1, y1 = (round(edge * factor) for edge in box)
        words.append(ReadWord(text, (x0, y0, max(x1, x0 + 1), max(y1, y0 + 1)), y0))
    return Paper(small, tuple(words), image)


def _read(page: Paper, number: int, folder: Path) -> ReadPage:
    path = folder / f"{number}.png"
    page.image.save(path)
    return ReadPage(number, *page.image.size, path, 0, "layer", page.words)
