"""Tables of the values of documents, derived from their answers (engine.followers.field_values)."""

from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from db.base import Base, Reference

LONGEST_SHOWN = 300  # characters of a text in a row of the table
LONGEST_SORT_KEY = 80  # characters
ANY_FIELD = ""  # in place of a question


class FieldValue(Base):
    """Value of a document for a field: what the answer that counts says.

    `status`: of that answer; "automatic", "proposal" (of a survey), or "" without any. `state`: "value", "absent" (the
    answer says that the document has none), "empty" (no answer), "ambiguous" or "unreadable". `sort_key`: sorts as the
    values do; "" without a value. `validated_by`: "person", "rule" (all rules of the field are kept) or "nothing".
    """

    __tablename__ = "field_values"
    __table_args__ = (Index("ix_field_values_sorted", "question_id", "sort_key", "document_id"),)

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    question_id: Mapped[Reference] = mapped_column(ForeignKey("questions.id"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    annotation_id: Mapped[Reference | None]
    page_id: Mapped[Reference | None]  # first marked page
    status: Mapped[str] = mapped_column(String(10))
    state: Mapped[str] = mapped_column(String(10))
    printed: Mapped[str] = mapped_column(String(LONGEST_SHOWN))  # words of the marks
    text: Mapped[str] = mapped_column(String(LONGEST_SHOWN))  # the same, or as a person corrected it
    shown: Mapped[str] = mapped_column(String(LONGEST_SHOWN))  # normalised values, for people
    content: Mapped[list[Any]]  # normalised values in order; null for one that cannot be read
    sort_key: Mapped[str] = mapped_column(String(LONGEST_SORT_KEY))
    changed: Mapped[bool]  # a person changed the mark or the text
    broken: Mapped[bool]  # a rule of the field is broken
    confidence: Mapped[float | None]  # of a proposal or an automatic answer, 0..1
    validated_by: Mapped[str] = mapped_column(String(10))


class ValueFlag(Base):
    """A document that a filter of the table finds, by a field; question "": by any field.

    Of any field, "accepted" says that all of them are.
    """

    __tablename__ = "value_flags"
    __table_args__ = (Index("ix_value_flags_found", "project_id", "question_id", "flag", "document_id"),)

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    question_id: Mapped[Reference] = mapped_column(primary_key=True)
    flag: Mapped[str] = mapped_column(String(10), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))


class ValueCount(Base):
    """Number of a project's documents with a flag; question "": by any field."""

    __tablename__ = "value_counts"

    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"), primary_key=True)
    question_id: Mapped[Reference] = mapped_column(primary_key=True)
    flag: Mapped[str] = mapped_column(String(10), primary_key=True)
    documents: Mapped[int]


class BrokenRules(Base):
    """A document whose values break rules: how many, and the first of them as sentences."""

    __tablename__ = "broken_rules"

    document_id: Mapped[Reference] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True)
    project_id: Mapped[Reference] = mapped_column(ForeignKey("projects.id"))
    number: Mapped[int]
    sentences: Mapped[list[Any]]  # {"field", "sentence"}
