"""Table of the search in documents: tokens of their names and of the words printed on them (db.document_texts)."""

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, ForeignKey, Index, Integer, Text, TypeDecorator, func, type_coerce
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Reference

SEVERAL = 2**40  # ids from here on: rows of documents that have several


class _Lexemes(TypeDecorator[str]):
    """Tokens with spaces between them, in PostgreSQL's type of searched texts."""

    impl = TSVECTOR
    cache_ok = True

    def bind_expression(self, bindvalue: Any) -> ColumnElement[Any]:
        """Return the tokens as they are, without PostgreSQL's parsing of texts."""
        return func.array_to_tsvector(func.string_to_array(type_coerce(bindvalue, Text), " "))

    def column_expression(self, column: Any) -> ColumnElement[Any]:
        """Return the tokens as one text again."""
        return func.array_to_string(func.tsvector_to_array(column), " ", type_=Text)


class DocumentText(Base):
    """What a search finds a document by: tokens of its name and of some of its pages (db.search_tokens).

    On SQLite, triggers keep the index `document_search` (FTS5) in step with the rows; on PostgreSQL it is a GIN index.
    A document with few pages has one row. One with several has ids from SEVERAL on, and its words may stand in
    different rows.
    """

    __tablename__ = "document_texts"
    __table_args__ = (Index("ix_document_texts_document_id_part", "document_id", "part"),)

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    part: Mapped[int]  # of the document, from 0: some pages in a row
    tokens: Mapped[str] = mapped_column(Text().with_variant(_Lexemes(), "postgresql"))  # sorted, spaces between
