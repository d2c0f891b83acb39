"""A paper whose fields are asked: its pages, its words and its form, stored or in memory alone."""

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PIL import Image
from sqlalchemy import select

from db.blobs import sha256_of
from db.tables import Document, Page, PageWord
from engine.annotation.answer_service import AnswerService
from engine.annotation.form_answers import FormLayer
from engine.annotation.page_cache import CachedPage, PageWords, words_of
from engine.annotation.page_prefilter import PAGES_ASKED, rank_texts
from engine.annotation.predictors import Loaded
from engine.documents.form_layer.stored_widgets import widgets_of_document
from engine.documents.ingest import limits_of
from engine.documents.reading.open import read_document
from engine.documents.reading.page import ReadPage
from engine.documents.reading.page_stream import AT_ONCE
from engine.extraction.view import ExtractedPaper
from engine.queries import existing
from engine.workspace import Workspace
from model.examples import Word

Encode = Callable[[], CachedPage]


@dataclass(frozen=True, slots=True)
class PaperPage:
    """Page of a paper.

    Attributes:
        id: Its key among the pages of the paper.
        number: From 1.
        width: Pixels.
        height: Pixels.
        words: In reading order.
        confidence: Of reading, 0..1, by the number of the word; words of a text layer are left out.
        encode: Encodes the page for the model; None: a stored page, which the page cache encodes.
    """

    id: str
    number: int
    width: int
    height: int
    words: PageWords
    confidence: Mapping[int, float]
    encode: Encode | None = None


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper that was read."""

    about: ExtractedPaper
    pages: Mapping[str, PaperPage]
    form: FormLayer
    warnings: Sequence[str]

    def rank_pages(self, questions: Sequence[str]) -> list[list[str]]:
        """Return the pages to ask for each question, likeliest first; PAGES_ASKED at most."""
        if len(self.pages) <= PAGES_ASKED:
            return [list(self.pages) for _ in questions]
        texts = {key: " ".join(word.text for word in page.words.words) for key, page in self.pages.items()}
        return [ranked[:PAGES_ASKED] for ranked in rank_texts(texts, questions)]


@contextlib.contextmanager
def read_paper(service: AnswerService, loaded: Loaded, source: Path, name: str) -> Iterator[Paper]:
    """Read a file of which nothing is stored; its pages exist until the end of the context.

    Raises:
        DocumentRefused: The file cannot be read.
    """
    settings = service.workspace.settings
    with tempfile.TemporaryDirectory(prefix="glossator-") as folder:
        with AT_ONCE:
            read = read_document(source, name=name, limits=limits_of(settings), out_dir=Path(folder))
        pages = {str(page.number): _read_page(service, loaded, page) for page in read.pages}
        form = FormLayer(
            {str(page.number): page.widgets for page in read.pages if page.widgets},
            {str(page.number): (page.height, page.width) for page in read.pages},
            lambda key: pages[key].words,
        )
        about = ExtractedPaper(id=None, name=name, sha256=sha256_of(source), pages=len(pages))
        yield Paper(about, pages, form, read.warnings)


def load_paper(workspace: Workspace, document_id: str) -> Paper:
    """Return a stored document as a paper. Raises NotFound."""
    with workspace.database.read() as session:
        document = existing(session, Document, document_id)
        rows = session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number)).all()
        widgets = widgets_of_document(session, document_id)
        confidence: dict[str, dict[int, float]] = {row.id: {} for row in rows}
        columns = select(PageWord.page_id, PageWord.number, PageWord.confidence)
        chosen = PageWord.page_id.in_(list(confidence)), PageWord.confidence.is_not(None)
        for page_id, number, sure in session.execute(columns.where(*chosen)):
            confidence[page_id][number] = float(sure or 0)
    pages = {
        row.id: PaperPage(row.id, row.number, row.width, row.height, words_of(workspace, row.id), confidence[row.id])
        for row in rows
    }
    form = FormLayer(
        widgets, {row.id: (row.height, row.width) for row in rows if row.id in widgets}, lambda key: pages[key].words
    )
    about = ExtractedPaper(id=document.id, name=document.name, sha256=document.sha256, pages=len(pages))
    return Paper(about, pages, form, document.warnings.splitlines())


def _read_page(service: AnswerService, loaded: Loaded, page: ReadPage) -> PaperPage:
    words = PageWords(
        list(range(len(page.words))),
        [Word(word.text, word.box) for word in page.words],
        [word.line for word in page.words],
    )
    confidence = {at: word.confidence for at, word in enumerate(page.words) if word.confidence is not None}
    encode = partial(_encode, service, loaded, page.image_path, words)
    return PaperPage(str(page.number), page.number, page.width, page.height, words, confidence, encode)


def _encode(service: AnswerService, loaded: Loaded, path: Path, words: PageWords) -> CachedPage:
    with Image.open(path) as image:
        picture = image.convert("RGB")
    return service.pages.encode(picture, words, loaded)
