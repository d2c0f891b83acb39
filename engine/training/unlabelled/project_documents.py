"""Keep the documents of a project for pretraining: their words and images are read already.

Documents that judge are left out: those of the splits "recent" and "frozen", quarantined ones, and all that have
accepted answers or are like one that has, which the folds of a retraining ask about.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from PIL import Image
from sqlalchemy import Select, select
from sqlalchemy.orm import aliased

from db.statuses import ACCEPTED, TRAIN
from db.tables import Annotation, Document, DocumentGroup, Page, PageSignature, PageWord
from engine.documents.duplicates.page_signature import Signature, signature_of
from engine.documents.duplicates.signature_index import signature_in
from engine.documents.reading.reading_state import is_being_read
from engine.errors import Refused
from engine.training.judging_files import judging_files
from engine.training.unlabelled.kept_document import KeptDocument, KeptPage, small_jpeg, write_document
from engine.training.unlabelled.reading import Reading, kept_file
from engine.workspace import Workspace
from model.examples import Word

_AT_ONCE = 100  # documents of one query


def keep_project(
    workspace: Workspace,
    project_id: str,
    cache: Path,
    *,
    long_side: int,
    first_pages: int | None = None,
    on_progress: Callable[[Reading], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[str] | None:
    """Keep the documents of a project that may be learned from; return their keys in order, None when cancelled.

    The key of a document follows from its content, its id and the corrections of its words, so unchanged documents are
    kept once. For the arguments see `reading.read_folders`.

    Raises Refused when no document is left, and OSError when the disk is full.
    """
    keys: list[str] = []
    done = pages = 0
    for documents in _documents_to_learn(workspace, project_id):
        for document in documents:
            if cancelled():
                return None
            done += 1
            if document.sha256 not in judging_files() and document.name not in judging_files().values():
                key, count = _keep_document(workspace, document, cache, long_side, first_pages)
                keys += [key] if count else []
                pages += count
            on_progress(Reading(done, done, pages, 0))
    if not keys:
        raise Refused(
            "The project has no document to learn from without labels: such a document belongs to the split"
            ' "train" and has no accepted answer. Add documents.'
        )
    return sorted(keys)


def without_labels(project_id: str) -> Select[Document]:
    """Return the statement for the documents of a project that may teach without labels, judging files included.

    A document whose pages still arrive is left out: it may move to another split.
    """
    labelled = select(Annotation.id).where(Annotation.document_id == Document.id, Annotation.status.in_(ACCEPTED))
    return (
        select(Document)
        .join(DocumentGroup, DocumentGroup.id == Document.group_id)
        .where(
            Document.project_id == project_id,
            DocumentGroup.split == TRAIN,
            DocumentGroup.quarantined_at.is_(None),
            ~labelled.exists(),
            ~is_being_read(),
        )
    )


def _documents_to_learn(workspace: Workspace, project_id: str) -> Iterator[Sequence[Document]]:
    alike = aliased(Document)
    labelled = (
        select(Annotation.id)
        .join(alike, alike.id == Annotation.document_id)
        .where(alike.group_id == Document.group_id, Annotation.status.in_(ACCEPTED))
    )
    wanted = without_labels(project_id).where(~labelled.exists()).order_by(Document.id).limit(_AT_ONCE)
    after = ""
    while True:
        with workspace.database.read() as session:
            documents = session.scalars(wanted.where(Document.id > after)).all()
        if not documents:
            return
        yield documents
        after = documents[-1].id


def _keep_document(
    workspace: Workspace, document: Document, cache: Path, long_side: int, first_pages: int | None
) -> tuple[str, int]:
    """Return key and number of pages of a document, which is then kept."""
    wanted = select(Page).where(Page.document_id == document.id).order_by(Page.number).limit(first_pages)
    with workspace.database.read() as session:
        pages = session.scalars(wanted).all()
        signatures = {
            row.page_id: signature_in(row)
            for row in session.scalars(select(PageSignature).where(PageSignature.document_id == document.id))
        }
        edited = sum(page.words_version for page in pages)
        key = hashlib.sha256(f"{document.sha256}:{document.id}:{len(pages)}:{edited}".encode()).hexdigest()
        target = kept_file(cache, key)
        if not pages or target.is_file():
            return key, len(pages)
        words = {page.id: _words(session.scalars(_in_order(page.id)).all()) for page in pages}
    content, images = [], []
    for page in pages:
        with workspace.blobs.open(page.image_sha256) as file, Image.open(file) as image:
            content.append(_page(page, words[page.id], signatures.get(page.id), image))
            images.append(small_jpeg(image, long_side))
    write_document(target, KeptDocument(document.name, tuple(content)), images)
    return key, len(pages)


def _in_order(page_id: str) -> Select[PageWord]:
    return (
        select(PageWord).where(PageWord.page_id == page_id, PageWord.retired_at.is_(None)).order_by(PageWord.position)
    )


def _words(rows: Sequence[PageWord]) -> list[tuple[Word, int]]:
    return [(Word(row.text, (row.x0, row.y0, row.x1, row.y1)), row.line) for row in rows]


def _page(page: Page, words: list[tuple[Word, int]], signature: Signature | None, image: Image.Image) -> KeptPage:
    return KeptPage(
        (page.width, page.height),
        tuple(word for word, _ in words),
        tuple(line for _, line in words),
        signature or signature_of(image, (word.text for word, _ in words)),
    )
