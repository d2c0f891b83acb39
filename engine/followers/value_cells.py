"""Cells of the table of values: what the answer that counts says, as the type of its field. Pure."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from db.statuses import ACCEPTED
from db.tables.documents import search_key
from db.tables.values import ANY_FIELD, LONGEST_SHOWN, LONGEST_SORT_KEY
from engine.annotation.values import view_value
from engine.fields.definition import FieldDefinition, NotBeforeRule, SumRule
from engine.fields.normalisation import Value
from engine.fields.read_value import MARK_ALONE
from engine.fields.rules import broken_rules
from engine.fields.table_rows import RowValues, table_rows
from engine.fields.types import FieldType
from engine.followers.counting_answers import PROPOSAL, CountingAnswer, FieldsOf
from engine.plurals import count

SURE = 0.8  # confidence below which a proposal is unsure, where the field names none
MOST_VALUES = 50  # of a cell
LONGEST_VALUE = 2000  # characters of a value
MOST_SENTENCES = 20  # of a document
LONGEST_SENTENCE = 300
FLAGS = (
    "empty", "absent", "ambiguous", "unreadable", "proposed", "unsure", "broken", "changed", "accepted", "unaccepted",
)  # fmt: skip
_NUMBERS = (FieldType.NUMBER, FieldType.INTEGER, FieldType.CURRENCY)


@dataclass(frozen=True, slots=True)
class ValueCell:
    """A cell; the attributes are the columns of FieldValue, beside what rules are checked on: `values` and `rows`."""

    annotation_id: str | None = None
    page_id: str | None = None
    status: str = ""
    state: str = "empty"
    printed: str = ""
    text: str = ""
    shown: str = ""
    content: list[Value | None] = field(default_factory=list)
    sort_key: str = ""
    changed: bool = False
    broken: bool = False
    confidence: float | None = None
    validated_by: str = "nothing"
    unsure: bool = False
    rows: Sequence[RowValues] = ()

    @property
    def values(self) -> list[Value]:
        """Return the values that can be read."""
        return [value for value in self.content if value is not None]

    def flags(self) -> list[str]:
        """Return the filters that find the cell, in the order of FLAGS."""
        holds = {
            self.state: True,
            "proposed": self.status == PROPOSAL,
            "unsure": self.unsure,
            "broken": self.broken,
            "changed": self.changed,
            "accepted": self.validated_by == "person",
            "unaccepted": self.validated_by != "person",
        }
        return [flag for flag in FLAGS if holds.get(flag)]


@dataclass(frozen=True, slots=True)
class ValueRow:
    """The cells of a document by question, in the order of its fields, and its broken rules as (field, sentence)."""

    cells: Mapping[str, ValueCell]
    broken: Sequence[tuple[str, str]]

    def flags(self) -> list[tuple[str, str]]:
        """Return (question, flag) of every cell, and of the document; see db.tables.values.ValueFlag."""
        found = [(question, flag) for question, cell in self.cells.items() for flag in cell.flags()]
        of_any = {flag for _, flag in found}
        if "unaccepted" in of_any:
            of_any.discard("accepted")
        return [*found, *((ANY_FIELD, flag) for flag in FLAGS if flag in of_any)]


def make_row(
    of_project: FieldsOf, answers: Mapping[str, CountingAnswer], texts: Mapping[str, Sequence[str]]
) -> ValueRow:
    """Return the row of a document.

    Args:
        of_project: Fields of its project.
        answers: Answers that count, by question.
        texts: Printed text of each single value of those answers, by question.
    """
    cells = {
        question: _cell(of_project, definition, answers[question], texts[question])
        if question in answers
        else ValueCell()
        for question, definition in of_project.fields.items()
    }
    names = {definition.name: question for question, definition in of_project.fields.items()}
    present = {name: cells[question].values for name, question in names.items()}
    tables = {name: cells[question].rows for name, question in names.items()}
    sentences = {
        name: said
        for name, said in broken_rules(list(of_project.fields.values()), present, tables=tables).items()
        if cells[names[name]].state != "empty"  # a question that nobody has answered yet breaks no rule
    }
    for name, question in names.items():
        cell = cells[question]
        checked = cell.validated_by == "nothing" and _is_checked(of_project.fields[question], present)
        validated_by = "rule" if checked and name not in sentences else cell.validated_by
        cells[question] = replace(cell, broken=name in sentences, validated_by=validated_by)
    return ValueRow(cells, [(name, one[:LONGEST_SENTENCE]) for name, said in sentences.items() for one in said])


def _cell(of_project: FieldsOf, definition: FieldDefinition, answer: CountingAnswer, texts: Sequence[str]) -> ValueCell:
    parts = answer.state.single_values()
    views = [view_value(definition, part, text, of_project.context) for part, text in zip(parts, texts, strict=True)]
    state = "absent" if answer.state.no_answer else "empty"  # cleared: a person has still to say which
    if views:
        unread = [view for view in views if view.value is None]
        state = "value" if not unread else "ambiguous" if any(view.readings for view in unread) else "unreadable"
    content = [_bound(view.value) for view in views[:MOST_VALUES]]
    rows = len({part.cell.row for part in parts if part.cell is not None}) if definition.columns else 0
    if rows:  # a table is shown, sorted and required by the number of its rows
        content = [rows]
    known = [value for value in content if value is not None]
    counted = count(rows, "row") if rows else ""
    mark_alone = definition.type in MARK_ALONE
    least = definition.confidence if definition.confidence is not None else SURE
    return ValueCell(
        annotation_id=answer.annotation_id,
        page_id=next(iter(parts[0].marked_pages())) if parts else None,
        status=answer.status,
        state=state,
        printed=counted or _join([view.printed for view in views]),
        text=counted or _join([view.text for view in views]),
        shown=counted or _join(["marked" if mark_alone else show_value(value) for value in known]),
        content=content,
        sort_key=sort_key(definition, known[0]) if known else "",
        changed=answer.changed or any(view.corrected for view in views),
        confidence=answer.confidence,
        validated_by="person" if answer.status in ACCEPTED else "nothing",
        unsure=answer.status == PROPOSAL and (answer.confidence or 0.0) < least,
        rows=table_rows(definition, [(v.cell.row, v.cell.column, v.value) for v in views if v.cell is not None]),
    )


def show_value(value: Value) -> str:
    """Return a normalised value for people: an amount with its currency, yes or no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return " ".join(part for part in (value.get("amount"), value.get("currency")) if part)
    return str(value)


def sort_key(definition: FieldDefinition, value: Value) -> str:
    """Return a text that sorts as the values of a field do: numbers by amount, dates and texts by their letters."""
    if definition.type in _NUMBERS or definition.columns:
        amount = value.get("amount") if isinstance(value, dict) else value
        try:
            return _number_key(float(Decimal(str(amount))))
        except (InvalidOperation, OverflowError):
            return "0"
    return search_key(show_value(value))[:LONGEST_SORT_KEY].strip() or "0"


def _number_key(number: float) -> str:
    """Return 16 hexadecimal digits that sort as the number does: its bits, those of a negative one turned around."""
    [bits] = struct.unpack(">Q", struct.pack(">d", number + 0.0))
    return f"{bits ^ (0xFFFF_FFFF_FFFF_FFFF if bits >> 63 else 0x8000_0000_0000_0000):016x}"


def _bound(value: Value | None) -> Value | None:
    return value[:LONGEST_VALUE] if isinstance(value, str) else value


def _join(texts: Sequence[str]) -> str:
    text = " · ".join(texts)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def _is_checked(definition: FieldDefinition, present: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether a field has a value and rules that all can be checked on the paper."""
    if not present[definition.name] or not definition.rules:
        return False
    others = [
        name
        for rule in definition.rules
        for name in (rule.of if isinstance(rule, SumRule) else [rule.field] if isinstance(rule, NotBeforeRule) else [])
    ]
    return all(present.get(name) for name in others)
