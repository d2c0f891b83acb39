"""Tables of documents, their groups with the immutable split, pages, and words."""

import unicodedata
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference, Sha256

Split = Literal["train", "recent", "frozen"]
LONGEST_KEY = 512  # characters; an index of PostgreSQL holds 2,700 bytes


def search_key(text: str) -> str:
    """Return a text as searches compare it: without differences of case, ligatures and composed letters.

    Source: Unicode Standard, 3.13, compatibility caseless matching.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def key_of_name(name: str) -> str:
    """Return the key of a document's name, which is stored with it."""
    return search_key(name)[:LONGEST_KEY]


def _key_of_name(context: Any) -> str:
    return key_of_name(context.get_current_parameters()["name"])


_QUARANTINED = text("quarantined_at IS NOT NULL")


class DocumentGroup(Base):
    """Documents with the same content.

    The split is decided when the first of them arrives and never changes.
    """

    __tablename__ = "document_groups"
    __table_args__ = (
        CheckConstraint("split in ('train', 'recent', 'frozen')", name="split"),
        UniqueConstraint("project_id", "sequence"),
        Index("ix_document_groups_quarantined", "project_id", sqlite_where=_QUARANTINED, postgresql_where=_QUARANTINED),
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    sequence: Mapped[int]  # number of the group in its project, from 0; decides the split
    split: Mapped[str] = mapped_column(String(10))
    quarantined_at: Mapped[datetime | None]  # joins groups of different splits, so it neither trains nor judges
    created_at: Mapped[Moment]


class Document(Base):
    """An uploaded file of a project; the same bytes twice are one document."""

    __tablename__ = "documents"
    __table_args__ = (
        UniqueConstraint("project_id", "sha256"),
        Index("ix_documents_project_id_id", "project_id", "id"),
        # Holds all that a search in names and a list by name look at, so neither reads the table.
        Index("ix_documents_project_id_name_key_id", "project_id", "name_key", "id"),
        Index("ix_documents_sha256", "sha256"),  # who else has a file, before it is deleted
    )

    id: Mapped[Id]
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    group_id: Mapped[Reference] = mapped_column(ForeignKey("document_groups.id"), index=True)
    sha256: Mapped[Sha256]  # of the file: its blob
    name: Mapped[str] = mapped_column(String(255))
    name_key: Mapped[str] = mapped_column(String(LONGEST_KEY), default=_key_of_name)
    media_type: Mapped[str] = mapped_column(String(60))
    byte_count: Mapped[int] = mapped_column(BigInteger)
    title: Mapped[str | None] = mapped_column(Text)
    warnings: Mapped[str] = mapped_column(Text, default="")  # one sentence a line
    licence: Mapped[str | None] = mapped_column(String(60))
    source: Mapped[str] = mapped_column(String(200), default="upload")
    created_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[Moment]


class Page(Base):
    """A rendered page; all boxes and masks are in pixels of this rendering."""

    __tablename__ = "pages"
    __table_args__ = (
        CheckConstraint("width > 0 and height > 0", name="size"),
        CheckConstraint("text_source in ('layer', 'ocr', 'given', 'none', 'layer+ocr')", name="text_source"),
        UniqueConstraint("document_id", "number"),
        Index("ix_pages_image_sha256", "image_sha256"),
    )

    id: Mapped[Id]
    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id"))
    number: Mapped[int]  # from 1
    width: Mapped[int]
    height: Mapped[int]
    image_sha256: Mapped[Sha256]
    image_media_type: Mapped[str] = mapped_column(String(60))
    rotation: Mapped[int] = mapped_column(default=0)  # degrees clockwise by which the page was turned when read
    turned_by: Mapped[Reference | None] = mapped_column(ForeignKey("users.id"))  # by hand; then OCR does not
    text_source: Mapped[str] = mapped_column(String(10))
    word_count: Mapped[int]
    words_version: Mapped[int] = mapped_column(default=0)  # number of saved corrections of the words


class ReplacedImage(Base):
    """An image that a page had before it was turned; it stays as long as the page, because snapshots may name it."""

    __tablename__ = "replaced_images"
    __table_args__ = (Index("ix_replaced_images_image_sha256", "image_sha256"),)

    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"), primary_key=True)
    image_sha256: Mapped[Sha256] = mapped_column(primary_key=True)


class PageWord(Base):
    """A word of a page; `number` never changes, `position` is its place in reading order."""

    __tablename__ = "words"
    __table_args__ = (Index("ix_words_page_id_position", "page_id", "position"),)

    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    position: Mapped[int]
    line: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    x0: Mapped[int]
    y0: Mapped[int]
    x1: Mapped[int]  # exclusive
    y1: Mapped[int]  # exclusive
    confidence: Mapped[float | None]  # of the OCR, 0..1
    retired_at: Mapped[datetime | None]  # time it was split or merged; revisions may still name it


class PageWidget(Base):
    """A place of a page where a field of its file's form is filled in, as engine.documents.form_layer reads it."""

    __tablename__ = "form_widgets"
    __table_args__ = (
        CheckConstraint("kind in ('text', 'checkbox', 'radio', 'choice', 'list', 'signature')", name="kind"),
    )

    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)  # order in the file, from 0
    kind: Mapped[str] = mapped_column(String(10))
    x0: Mapped[int]
    y0: Mapped[int]
    x1: Mapped[int]  # exclusive
    y1: Mapped[int]  # exclusive
    name: Mapped[str] = mapped_column(Text)
    label: Mapped[str] = mapped_column(Text)
    value: Mapped[str] = mapped_column(Text)
    ticked: Mapped[bool | None]
    on_state: Mapped[str] = mapped_column(Text)
    options: Mapped[list[Any]] = mapped_column(default=list)
    read_only: Mapped[bool]
    printed: Mapped[str] = mapped_column(Text)
    asked: Mapped[str] = mapped_column(Text)


class WordEdit(Base):
    """One saved correction of a page's words; `version` is that of the words after it."""

    __tablename__ = "word_edits"
    __table_args__ = (UniqueConstraint("page_id", "version"), UniqueConstraint("page_id", "idempotency_key"))

    id: Mapped[Id]
    page_id: Mapped[Reference] = mapped_column(ForeignKey("pages.id"))
    version: Mapped[int]
    author_id: Mapped[Reference] = mapped_column(ForeignKey("users.id"))
    idempotency_key: Mapped[str] = mapped_column(String(64))
    edits: Mapped[list[Any]] = mapped_column(default=list)
    before: Mapped[list[Any]] = mapped_column(default=list)  # the changed words, as they were
    created_at: Mapped[Moment]


class BucketObject(Base):
    """An object of a bucket as it was taken in last: the same mark again is not read again."""

    __tablename__ = "bucket_objects"
    __table_args__ = (CheckConstraint("outcome in ('document', 'refused')", name="outcome"),)

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    place: Mapped[str] = mapped_column(String(64), primary_key=True)  # hash of address and key: keys have 1,024 bytes
    mark: Mapped[str] = mapped_column(String(200))  # ETag, or time and size
    outcome: Mapped[str] = mapped_column(String(10))
    document_id: Mapped[Reference | None] = mapped_column(ForeignKey("documents.id"), index=True)
    created_at: Mapped[Moment]
