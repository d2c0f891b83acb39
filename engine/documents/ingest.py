"""Ingestion of a file as a document: read in a child process, blobs stored, then rows in one commit."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from db.blobs import sha256_of
from db.tables import Document, Page, PageWord, Project
from engine import quotas
from engine.accounts import visibility
from engine.documents.duplicates import signature_index
from engine.documents.duplicates.groups import group_for, home_of, settle
from engine.documents.duplicates.page_signature import Signature, signature_of
from engine.documents.form_layer.stored_widgets import add_widgets
from engine.documents.limits import ReadLimits
from engine.documents.ocr.unread import promise_another
from engine.documents.reading.open import read_document
from engine.documents.reading.page import Beginning, ReadPage
from engine.documents.reading.reading_state import ReadingState, read_later, state_of
from engine.errors import Archived, NotFound, Refused
from engine.queries import existing
from engine.settings import MEGABYTE, Settings
from engine.tasks.opening.open_tasks import open_missing
from engine.text import clean_file_name, quote_file_name, storable
from engine.workspace import Workspace

# Generous bound on the disk space of a rendered document; with less free space nothing is started.
SPARE_BYTES = 200 * MEGABYTE


@dataclass(frozen=True, slots=True)
class Ingested:
    """Document that is now in the project.

    `created` is False when it existed before; `whole` is False while further pages are being read.
    """

    document_id: str
    name: str
    created: bool
    pages: int
    words: int
    warnings: tuple[str, ...]
    whole: bool = True


def limits_of(settings: Settings) -> ReadLimits:
    """Return the limits on reading files from the settings."""
    return ReadLimits(
        seconds=settings.max_read_seconds,
        ocr_seconds=settings.max_ocr_seconds,
        memory_mb=settings.max_read_memory_mb,
        pages=settings.max_pages,
        pixels=settings.max_page_pixels,
        bytes=int(settings.max_upload_mb * MEGABYTE),
        dpi=settings.render_dpi,
        ocr=settings.ocr,
        ocr_language=settings.ocr_language,
        confinement=settings.reader_confinement,
    )


def ingest(
    workspace: Workspace,
    source: Path,
    *,
    name: str,
    project_id: str,
    user_id: str | None,
    origin: str = "upload",
    licence: str | None = None,
    on_page: Callable[[int, int], None] | None = None,
) -> Ingested:
    """Read the file `source` and store it as a document of the project.

    Equal bytes are one document.

    Args:
        workspace: Open workspace.
        source: File to read.
        name: File name given by its owner.
        project_id: Project of the document.
        user_id: Person who uploads; None for commands.
        origin: Source of the document, such as "upload".
        licence: Licence of the document, if known.
        on_page: Called as on_page(done, all) for each page.

    Raises:
        DocumentRefused: The file cannot be read; nothing of it is kept.
        Refused: The disk is almost full, or the file changed meanwhile.
        OverQuota: The project or the person has as many documents as a quota allows.
        NotFound: The project does not exist.
    """
    limits = limits_of(workspace.settings)
    stored = there_already(workspace, source, name, project_id, user_id)
    if stored is not None:
        return stored
    content = sha256_of(source)
    with tempfile.TemporaryDirectory(prefix="glossator-") as folder:
        signed: dict[int, Signature] = {}

        def sign(page: ReadPage, _: Beginning) -> None:  # while the child reads the next page
            """Compute the page's signature."""
            signed[page.number] = signature_of_page(page)

        read = read_document(source, name=name, limits=limits, out_dir=Path(folder), on_page=on_page, on_read=sign)
        # Blobs first, rows second: a row never names a missing file.
        sha256 = workspace.blobs.put_file(source)
        if sha256 != content:  # by a scanner or a copy still running: its pages would be those of another file
            raise Refused(f"{name!r} changed while it was read; upload it again when it is complete.")
        images = [workspace.blobs.put_file(page.image_path) for page in read.pages]
        signatures = [signed[page.number] for page in read.pages]
    try:
        with workspace.database.write() as session:
            document = new_document(
                session,
                project_id,
                sha256,
                Beginning(read.media_type, read.title, len(read.pages)),
                name=name,
                byte_count=source.stat().st_size,
                user_id=user_id,
                origin=origin,
                licence=licence,
                signatures=signatures,
            )
            for page, image_sha256, signature in zip(read.pages, images, signatures, strict=True):
                add_page(session, document, page, image_sha256, signature)
            warnings = finish(session, document, read.warnings, read.try_again)
            open_missing(session, project_id, document.id)  # last: it locks the project until the commit
            words = sum(len(page.words) for page in read.pages)
            return Ingested(document.id, document.name, True, len(read.pages), words, warnings)
    except IntegrityError:  # the same file was uploaded at the same time and stored first
        stored = with_content(workspace, project_id, sha256)
        if stored is None:
            raise
        return stored


def there_already(
    workspace: Workspace, source: Path, name: str, project_id: str, user_id: str | None
) -> Ingested | None:
    """Return the project's document of this file, if any.

    Raises:
        Refused: The disk is almost full.
        OverQuota: The file is new, and the project or the person has as many documents as a quota allows.
    """
    if workspace.blobs.free_bytes() < SPARE_BYTES:
        raise Refused(
            f"{quote_file_name(name)} was not stored: the disk of the documents is almost full. Free some space."
        )
    if not source.is_file() or source.stat().st_size > workspace.settings.max_upload_mb * MEGABYTE:
        return None
    stored = with_content(workspace, project_id, sha256_of(source))
    if stored is None:  # before the file is read, which takes longest
        with workspace.database.read() as session:
            quotas.check_space(session, workspace.settings, project_id, user_id, source.stat().st_size)
    return stored


def new_document(
    session: Session,
    project_id: str,
    sha256: str,
    beginning: Beginning,
    *,
    name: str,
    byte_count: int,
    user_id: str | None,
    origin: str = "upload",
    licence: str | None = None,
    signatures: Sequence[Signature] = (),
) -> Document:
    """Add the row of a document, in the group of the pages read so far; further pages follow.

    Raises NotFound for an unknown project, or one that was removed while the file was read; Archived likewise.
    """
    project = existing(session, Project, project_id, with_for_update={"read": True, "key_share": True})
    if project.bin_of is not None:
        raise NotFound(visibility.PROJECT_IN_BIN)
    if project.archived_at is not None:
        raise Archived
    document = Document(
        project_id=project_id,
        group_id=group_for(session, project_id, sha256, signatures).id,
        sha256=sha256,
        name=_shorten_name(name),
        media_type=beginning.media_type,
        byte_count=byte_count,
        title=storable(beginning.title) if beginning.title else None,
        licence=licence,
        source=origin,
        created_by=user_id,
    )
    session.add(document)
    session.flush()
    return document


def signature_of_page(read: ReadPage) -> Signature:
    """Return the signature of a page that was read; takes about ten milliseconds, so not in a transaction."""
    with Image.open(read.image_path) as image:
        return signature_of(image, (word.text for word in read.words))


def finish(
    session: Session,
    document: Document,
    warnings: Sequence[str],
    try_again: Sequence[int] = (),
    *,
    may_move: bool = True,
) -> tuple[str, ...]:
    """Settle the group of a completely read document; store and return its warnings.

    Pages that OCR did not read are read again later, by a job.

    Args:
        session: Of the unit of work that adds the last pages.
        document: The document.
        warnings: Sentences about its reading.
        try_again: Numbers of the pages that OCR may read later.
        may_move: Whether no snapshot can hold the document yet (see `settle`).
    """
    quarantined = settle(session, document, may_move=may_move)
    if try_again and document.created_by is not None:
        warnings = promise_another(warnings)
    sentences = (*warnings, *([quarantined] if quarantined else []))
    document.warnings = "\n".join(sentences)
    if try_again:
        session.flush()
        unread = (
            select(Page.id).where(Page.document_id == document.id, Page.number.in_(try_again)).order_by(Page.number)
        )
        read_later(session, document, session.scalars(unread).all())
    return sentences


def add_page(session: Session, document: Document, read: ReadPage, image_sha256: str, signature: Signature) -> None:
    """Add the rows of a page, its words, its widgets and its signature; its image is a blob already."""
    page = Page(
        document_id=document.id,
        number=read.number,
        width=read.width,
        height=read.height,
        image_sha256=image_sha256,
        image_media_type="image/jpeg" if read.image_path.suffix in (".jpg", ".jpeg") else "image/png",
        rotation=read.rotation,
        text_source=read.text_source,
        word_count=len(read.words),
    )
    session.add(page)
    session.flush()
    signature_index.remember(session, home_of(session, document), document.group_id, document.id, page.id, signature)
    add_widgets(session, page.id, read.widgets)
    if read.words:
        session.execute(
            insert(PageWord),
            [
                {
                    "page_id": page.id,
                    "number": position,
                    "position": position,
                    "line": word.line,
                    "text": storable(word.text),
                    "x0": word.box[0],
                    "y0": word.box[1],
                    "x1": word.box[2],
                    "y1": word.box[3],
                    "confidence": word.confidence,
                }
                for position, word in enumerate(read.words)
            ],
        )


def with_content(workspace: Workspace, project_id: str, sha256: str) -> Ingested | None:
    """Return the project's document with this content, if any; not `whole` while pages can still be read."""
    with workspace.database.read() as session:
        document = session.scalar(select(Document).where(Document.project_id == project_id, Document.sha256 == sha256))
        if document is None:
            return None
        pages, words = session.execute(
            select(func.count(Page.id), func.coalesce(func.sum(Page.word_count), 0)).where(
                Page.document_id == document.id
            )
        ).one()
        whole = state_of(session, document.id) == ReadingState()
    return Ingested(document.id, document.name, False, pages, int(words), tuple(document.warnings.splitlines()), whole)


def _shorten_name(name: str) -> str:
    """Shorten a name to its column, without invisible characters; keeps the file extension."""
    name = clean_file_name(storable(name), "document")
    return name if len(name) <= 255 else f"{name[:200]}...{name[-50:]}"
