"""Two answers as values of a field: exact, equal as the type, ANLS, and several values in any order."""

from itertools import permutations

import pytest

from engine.fields.answer_text import similarity
from engine.fields.compare_values import ComparedValue, ValueAgreement, compare_values
from engine.fields.normalisation import normalise
from engine.fields.types import FieldType


def read(kind: FieldType | None, *texts: str) -> list[ComparedValue]:
    return [ComparedValue(text, None if kind is None else normalise(text, kind).value) for text in texts]


def agreement_of(kind: FieldType | None, one: str, other: str) -> ValueAgreement:
    found = compare_values(kind, read(kind, one), read(kind, other))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("kind", "one", "other", "exact", "equal"),
    [
        (FieldType.DATE, "12.03.2026", "March 12, 2026", 0.0, 1.0),
        (FieldType.DATE, "12.03.2026", "13.03.2026", 0.0, 0.0),
        (FieldType.DATE, "03/04/26", "03/04/26", 1.0, 1.0),  # ambiguous, and the same
        (FieldType.DATE, "03/04/26", "2026-04-03", 0.0, 0.0),
        (FieldType.DATE, "Berlin", "Hamburg", 0.0, 0.0),
        (FieldType.NUMBER, "1,250.50", "1250.5", 0.0, 1.0),
        (FieldType.CURRENCY, "EUR 12.50", "12,50 €", 0.0, 1.0),
        (FieldType.CURRENCY, "EUR 12.50", "USD 12.50", 0.0, 0.0),
        (FieldType.STRING, "Miller  & Sons", "miller & sons", 1.0, 1.0),
        (FieldType.STRING, "Miller & Sons", "Miller & Sons,", 0.0, 0.0),
        (None, "Total", "TOTAL", 1.0, None),
    ],
)
def test_types_decide_what_is_equal(
    kind: FieldType | None, one: str, other: str, exact: float, equal: float | None
) -> None:
    found = agreement_of(kind, one, other)
    assert (found.exact, found.equal) == (exact, equal)
    assert found == agreement_of(kind, other, one)


def test_anls_is_the_similarity_of_the_texts() -> None:
    assert agreement_of(None, "Total", "Tota1").anls == pytest.approx(0.8)
    assert agreement_of(None, "Total", "12.50").anls == 0.0


def test_a_picked_reading_is_another_value_than_another_pick() -> None:
    first, second = ComparedValue("03/04/26", "2026-04-03"), ComparedValue("03/04/26", "2026-03-04")
    found = compare_values(FieldType.DATE, [first], [second])
    assert found == ValueAgreement(FieldType.DATE, 1.0, 0.0, 1.0)


def test_several_values_are_paired_at_best_whatever_their_order() -> None:
    ours, theirs = ["Ann", "Bob", "Cem"], ["Cen", "Dora", "Anna", "Bob"]
    found = compare_values(None, read(None, *ours), read(None, *theirs))
    best = max(
        sum(similarity(one.lower(), theirs[at].lower()) for one, at in zip(ours, places, strict=True))
        for places in permutations(range(len(theirs)), len(ours))
    )
    assert found is not None and found.anls == pytest.approx(best / 4) and found.exact == 0.25
    numbers = [read(FieldType.NUMBER, *texts) for texts in (["1.0", "2.0"], ["2", "1"])]
    assert compare_values(FieldType.NUMBER, *numbers) == ValueAgreement(FieldType.NUMBER, 0.0, 1.0, 0.0)


def test_the_same_value_twice_is_not_one_value() -> None:
    found = compare_values(FieldType.NUMBER, read(FieldType.NUMBER, "7", "7"), read(FieldType.NUMBER, "7"))
    assert found is not None and found.equal == 0.5


def test_no_value_agrees_with_no_value_alone() -> None:
    assert compare_values(FieldType.DATE, [], []) == ValueAgreement(FieldType.DATE, 1.0, 1.0, 1.0)
    found = compare_values(FieldType.DATE, [], read(FieldType.DATE, "12.03.2026"))
    assert found == ValueAgreement(FieldType.DATE, 0.0, 0.0, 0.0)


def test_marks_without_text_are_not_compared_as_values() -> None:
    assert compare_values(FieldType.SIGNATURE, [ComparedValue("", True)], [ComparedValue("", True)]) is None
    assert compare_values(None, [ComparedValue("")], [ComparedValue("")]) is None


def cell(row: int, column: str, text: str, kind: FieldType = FieldType.STRING) -> ComparedValue:
    return ComparedValue(text, normalise(text, kind).value, (row, column), kind)


def test_tables_are_compared_cell_by_cell() -> None:
    ours = [cell(0, "item", "Pen"), cell(0, "price", "1.5", FieldType.NUMBER), cell(1, "item", "Ink")]
    theirs = [cell(0, "item", "pen"), cell(0, "price", "1.50", FieldType.NUMBER), cell(1, "item", "Ink")]
    same = compare_values(FieldType.TABLE, ours, theirs)
    assert same is not None and same.all_equal and same.exact == pytest.approx(2 / 3)
    swapped = [cell(0, "price", "Pen", FieldType.NUMBER), cell(0, "item", "1.5"), cell(1, "item", "Ink")]
    other = compare_values(FieldType.TABLE, ours, swapped)
    assert other is not None and not other.all_equal and other.equal == pytest.approx(1 / 3)
    later = [cell(0, "item", "Nib"), *(cell(row.cell[0] + 1, row.cell[1], row.text) for row in ours if row.cell)]
    missed = compare_values(FieldType.TABLE, ours, later)
    assert missed is not None and missed.exact == pytest.approx(3 / 4)  # a row more moves the others, and changes none


def test_a_table_without_places_is_compared_by_its_marks() -> None:
    assert compare_values(FieldType.TABLE, [ComparedValue("Pen")], [cell(0, "item", "Pen")]) is None
