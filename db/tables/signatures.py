"""What pages look like and say, so that one that comes in again is known (engine.documents.duplicates.page_signature)."""

from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Id, Moment, Reference


class PageSignature(Base):
    """The signature of a page. It outlives page and document, so that a file that was deleted comes back into its group."""

    __tablename__ = "page_signatures"

    id: Mapped[Id]
    page_id: Mapped[Reference] = mapped_column(unique=True)  # no foreign key: see above
    document_id: Mapped[Reference] = mapped_column(index=True)  # the same
    group_id: Mapped[Reference] = mapped_column(ForeignKey("document_groups.id"), index=True)
    picture: Mapped[str] = mapped_column(String(64))  # perceptual hash, 256 bits as hexadecimal digits; "": empty
    words: Mapped[list[Any]] = mapped_column(
        default=list
    )  # MinHash of pairs of words; empty where there are hardly any
    text: Mapped[str] = mapped_column(Text)  # the words, folded, as they were read
    created_at: Mapped[Moment]


class SignatureBand(Base):
    """A key under which pages that may be alike meet. The project is part of the key."""

    __tablename__ = "signature_bands"
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012  (the key is all there is: stored once)

    key: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    signature_id: Mapped[Reference] = mapped_column(ForeignKey("page_signatures.id"), primary_key=True)
