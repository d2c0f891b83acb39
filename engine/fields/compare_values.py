"""Comparison of two answers as values of a field: exact texts, equal normalised values, and ANLS. Pure.

Several values are compared without regard to their order: each value is paired with one of the other answer, so that
the sum of the pairs' measures is largest, and the sum is divided by the number of values of the longer answer. Source:
ANLSL (Tito et al. 2021, "Document Collection Visual Question Answering", section 4.2), as in ANLS* for lists (Peer et
al. 2024, section 3). An answer of a single value gives the plain measure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import SequenceMatcher

from engine.fields.answer_text import normalise, similarity
from engine.fields.normalisation import Value
from engine.fields.normalisation.result import equal
from engine.fields.types import FieldType

WITHOUT_TEXT = (FieldType.SIGNATURE, FieldType.REGION)  # the mark is the value
TEXTS = (FieldType.STRING, FieldType.ADDRESS)  # a comma more makes another text, and is no other answer
# Values that are the same answer at the same place alone: ticks, and texts of questions for which nobody chose a type.
PLACED = (FieldType.BOOLEAN, FieldType.STRING)


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A value of an answer.

    Attributes:
        text: Printed text, or as a person corrected it.
        value: Normalised value; None where the text is ambiguous or unreadable, or the question has no type.
        cell: Of a table: its row from 0, and the name of its column.
        kind: Of a table: type of its column.
    """

    text: str
    value: Value | None = None
    cell: tuple[int, str] | None = None
    kind: FieldType | None = None


@dataclass(frozen=True, slots=True)
class ValueAgreement:
    """Agreement of two answers as values, 0..1.

    Attributes:
        kind: Type of the field; None where the question has none.
        exact: Share of values whose texts are equal but for case and white space.
        equal: Share of values that are equal as the type of the field; None where the question has no type.
        anls: Mean similarity of the texts; 0 for a pair below one half.
    """

    kind: FieldType | None
    exact: float
    equal: float | None
    anls: float

    @property
    def all_equal(self) -> bool | None:
        """Return whether all values are equal as the type of the field; None where the question has no type."""
        return None if self.equal is None else self.equal == 1.0


def compare_values(
    kind: FieldType | None, ours: Sequence[ComparedValue], theirs: Sequence[ComparedValue]
) -> ValueAgreement | None:
    """Return the agreement of two answers to one question as values.

    Args:
        kind: Type of the question's field; None where it has none.
        ours: Values of an answer; none where the document does not answer.
        theirs: Values of the other answer.

    Returns:
        The agreement; 1 where neither has a value. None where text says nothing: the mark alone is the value, or
        neither answer has any text.
    """
    if kind in WITHOUT_TEXT:
        return None
    of_both = (*ours, *theirs)
    if of_both and not any(value.text or value.value is not None for value in of_both):
        return None
    texts = {value.text: normalise(value.text) for value in of_both}
    if kind is FieldType.TABLE:
        return _compare_tables(ours, theirs, texts)
    return ValueAgreement(
        kind=kind,
        exact=_match(ours, theirs, lambda one, other: texts[one.text] == texts[other.text]),
        equal=None if kind is None else _match(ours, theirs, lambda one, other: are_equal(kind, one, other)),
        anls=_match(ours, theirs, lambda one, other: similarity(texts[one.text], texts[other.text])),
    )


def _compare_tables(
    ours: Sequence[ComparedValue], theirs: Sequence[ComparedValue], texts: Mapping[str, str]
) -> ValueAgreement | None:
    """Return the agreement of two tables, cell by cell; the sums are divided by the cells of the larger one.

    Rows with the same texts are paired in their order (difflib), and those between them one after the other; a table
    without places is compared by its marks alone.
    """
    if any(value.cell is None for value in (*ours, *theirs)):
        return None
    pairs = _paired_cells(_rows(ours), _rows(theirs), texts)
    cells = max(len(ours), len(theirs))
    if not cells:
        return ValueAgreement(FieldType.TABLE, 1.0, 1.0, 1.0)
    exact = sum(texts[our.text] == texts[their.text] for our, their in pairs)
    same = sum(are_equal(our.kind or FieldType.STRING, our, their) for our, their in pairs)
    alike = sum(similarity(texts[our.text], texts[their.text]) for our, their in pairs)
    return ValueAgreement(FieldType.TABLE, exact / cells, same / cells, alike / cells)


def _rows(values: Sequence[ComparedValue]) -> list[dict[str, ComparedValue]]:
    rows: dict[int, dict[str, ComparedValue]] = {}
    for value in values:
        if value.cell is not None:
            rows.setdefault(value.cell[0], {})[value.cell[1]] = value
    return [rows[number] for number in sorted(rows)]


def _paired_cells(
    ours: Sequence[Mapping[str, ComparedValue]],
    theirs: Sequence[Mapping[str, ComparedValue]],
    texts: Mapping[str, str],
) -> list[tuple[ComparedValue, ComparedValue]]:
    def keys(rows: Sequence[Mapping[str, ComparedValue]]) -> list[tuple[tuple[str, str], ...]]:
        return [tuple(sorted((name, texts[cell.text]) for name, cell in row.items())) for row in rows]

    pairs: list[tuple[ComparedValue, ComparedValue]] = []
    steps = SequenceMatcher(None, keys(ours), keys(theirs), autojunk=False).get_opcodes()
    for _, start, end, other_start, other_end in steps:
        for row, other in zip(ours[start:end], theirs[other_start:other_end], strict=False):
            pairs += [(row[name], other[name]) for name in row if name in other]
    return pairs


def are_equal(kind: FieldType, one: ComparedValue, other: ComparedValue) -> bool:
    """Return whether two values are the same as a type.

    Texts are compared without case and white space, numbers by what they amount to. A text that is ambiguous or
    unreadable equals none but itself.
    """
    if one.value is None or other.value is None or kind in TEXTS:
        return normalise(one.text) == normalise(other.text)
    if kind is FieldType.CURRENCY and isinstance(one.value, dict) and isinstance(other.value, dict):
        same_currency = one.value["currency"] == other.value["currency"]
        return same_currency and Decimal(str(one.value["amount"])) == Decimal(str(other.value["amount"]))
    if kind is FieldType.NUMBER:
        return Decimal(str(one.value)) == Decimal(str(other.value))
    return equal(one.value, other.value)


def _match(
    ours: Sequence[ComparedValue],
    theirs: Sequence[ComparedValue],
    measure: Callable[[ComparedValue, ComparedValue], float],
) -> float:
    """Return the mean measure of the best pairs over the values of the longer answer; 1 without any value."""
    if not ours and not theirs:
        return 1.0
    if not ours or not theirs:
        return 0.0
    table = [[float(measure(one, other)) for other in theirs] for one in ours]
    if len(table) == 1 or len(theirs) == 1:
        return max(value for row in table for value in row) / max(len(ours), len(theirs))
    from scipy.optimize import linear_sum_assignment  # here: most answers have one value, and the import takes long

    rows, columns = linear_sum_assignment(table, maximize=True)
    total = sum(table[row][column] for row, column in zip(rows, columns, strict=True))
    return float(total / max(len(ours), len(theirs)))
