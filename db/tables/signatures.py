"""Tables of page signatures, by which a returning page is recognised (engine.documents.duplicates)."""

from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference


class PageSignature(Base):
    """Signature of a page; it outlives page and document, so that a deleted file returns to its group."""

    __tablename__ = "page_signatures"

    id: Mapped[Id]
    page_id: Mapped[Reference] = mapped_column(unique=True)  # no foreign key, because the signature outlives the page
    document_id: Mapped[Reference] = mapped_column(index=True)  # no foreign key either
    group_id: Mapped[Reference] = mapped_column(ForeignKey("document_groups.id"), index=True)
    picture: Mapped[str] = mapped_column(String(64))  # perceptual hash, 256 bits as hexadecimal digits; "": empty
    words: Mapped[list[Any]] = mapped_column(default=list)  # MinHash of word pairs; empty for too few words
    text: Mapped[str] = mapped_column(Text)  # the words as read, case-folded
    created_at: Mapped[Moment]


class SignatureBand(Base):
    """A key shared by pages that may be alike; the project is part of the key."""

    __tablename__ = "signature_bands"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012  (the key is the whole row: stored once)

    key: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    signature_id: Mapped[Reference] = mapped_column(ForeignKey("page_signatures.id"), primary_key=True, index=True)
