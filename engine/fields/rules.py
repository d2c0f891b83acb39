"""Rules of fields, checked on the values of one paper; a broken rule is a sentence for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation

import regex

from engine.fields.definition import (
    ColumnDefinition,
    FieldDefinition,
    NotBeforeRule,
    PatternRule,
    RangeRule,
    Rule,
    SumRule,
)
from engine.fields.normalisation.result import Value
from engine.fields.table_rows import RowValues
from engine.fields.types import FieldType

Tables = Mapping[str, Sequence[RowValues]]
Values = Mapping[str, Sequence[Value]]  # by the name of the field, in order; none where the paper has no value


def broken_rules(
    fields: Sequence[ColumnDefinition], values: Values, *, required: bool = True, tables: Tables | None = None
) -> dict[str, list[str]]:
    """Return the broken rules of each field as sentences; fields that keep all of theirs are left out.

    A rule about values that are not there is not broken: an absent value breaks `required` alone. A sum adds all
    values of the fields that it names, so the values of a column may be summed.

    Args:
        fields: Fields of a project.
        values: Values of a paper.
        required: Whether to say which required values are absent.
        tables: Rows of the paper's tables, by the name of the field. The rules of their columns are about each row.
    """
    values = {**values, **_columns(tables or {})}
    named = {field.name: field for field in fields}
    broken: dict[str, list[str]] = {}
    for field in fields:
        present = list(values.get(field.name, ()))
        sentences = (
            [f"{field.name} is required, and has no value."] if required and field.required and not present else []
        )
        for rule in field.rules:
            sentences += [
                sentence for value in present if (sentence := _sentence_of(rule, field, value, named, values))
            ]
        if isinstance(field, FieldDefinition) and field.columns:
            sentences += _broken_in_rows(field, (tables or {}).get(field.name, ()), required=required)
        if sentences:
            broken[field.name] = sentences
    return broken


def fields_named(fields: Sequence[ColumnDefinition], name: str) -> set[str]:
    """Return the fields that the rules of a field name."""
    named: set[str] = set()
    for rule in next(field.rules for field in fields if field.name == name):
        if isinstance(rule, SumRule):
            named.update(name.split(".")[0] for name in rule.of)
        elif isinstance(rule, NotBeforeRule):
            named.add(rule.field)
    return named


def proven_fields(fields: Sequence[ColumnDefinition], values: Values, tables: Tables | None = None) -> set[str]:
    """Return the fields whose values a rule could be checked on, where no rule of them is broken."""
    broken = broken_rules(fields, values, required=False, tables=tables)
    values = {**values, **_columns(tables or {})}
    return {
        field.name
        for field in fields
        if field.name not in broken and values.get(field.name) and any(_checkable(rule, values) for rule in field.rules)
    }


def _columns(tables: Tables) -> dict[str, list[Value]]:
    """Return the values of each column as `table.column`; one with a cell that nobody can read is left out."""
    columns: dict[str, list[Value | None]] = {}
    for name, rows in tables.items():
        for row in rows:
            for column, value in row.items():
                columns.setdefault(f"{name}.{column}", []).append(value)
    return {name: [cell for cell in cells if cell is not None] for name, cells in columns.items() if None not in cells}


def _broken_in_rows(table: FieldDefinition, rows: Sequence[RowValues], *, required: bool) -> list[str]:
    """Return the broken rules of a table's columns, row by row."""
    lines = []
    for number, row in enumerate(rows, 1):
        # A cell that is printed, and that nobody can read, is not missing.
        columns = [
            column.model_copy(update={"required": False}) if column.name in row else column for column in table.columns
        ]
        present = {name: [value] for name, value in row.items() if value is not None}
        broken = broken_rules(columns, present, required=required)
        lines += [f"Row {number}: {sentence}" for sentences in broken.values() for sentence in sentences]
    return lines


def _checkable(rule: Rule, values: Values) -> bool:
    if isinstance(rule, SumRule):
        return all(values.get(name) for name in rule.of)
    return not isinstance(rule, NotBeforeRule) or bool(values.get(rule.field))


def _sentence_of(
    rule: Rule, field: ColumnDefinition, value: Value, named: Mapping[str, ColumnDefinition], values: Values
) -> str:
    """Return the sentence of a broken rule; "" where it is kept or cannot be checked."""
    if isinstance(rule, PatternRule):
        text = value if isinstance(value, str) else str(_number(value) if field.type in _NUMBERS else value)
        return "" if _fits(rule.pattern, text) else f'{field.name} does not fit the pattern "{rule.pattern}".'
    if isinstance(rule, RangeRule):
        return _outside(rule, field, value)
    if isinstance(rule, NotBeforeRule):
        others = values.get(rule.field, ())
        first = others[0] if others else None
        comparable = isinstance(first, str) and isinstance(value, str) and named[rule.field].type is field.type
        if comparable and str(value) < str(first):  # ISO 8601 in one form sorts like time
            return f"{field.name} ({value}) is before {rule.field} ({first})."
        return ""
    return _other_sum(rule, field, value, values)


def _fits(pattern: str, text: str) -> bool:
    """Return whether a text fits; a pattern that takes too long on it (catastrophic backtracking) does not."""
    try:
        return regex.fullmatch(pattern, text, timeout=_PATTERN_SECONDS) is not None
    except TimeoutError:
        return False


_PATTERN_SECONDS = 0.5
_NUMBERS = (FieldType.NUMBER, FieldType.INTEGER, FieldType.CURRENCY)


def _outside(rule: RangeRule, field: ColumnDefinition, value: Value) -> str:
    ends = ((rule.least, "below", -1), (rule.most, "above", 1))
    for end, word, side in ends:
        if end is None:
            continue
        if field.type in _NUMBERS:
            number, limit = _number(value), _number(end)
            if number is None or limit is None:
                continue
            outside = (number - limit) * side > 0
        else:
            outside = str(value) < end if side < 0 else str(value) > end
        if outside:
            return f"{field.name} ({_show(value)}) is {word} {end}."
    return ""


def _other_sum(rule: SumRule, field: ColumnDefinition, value: Value, values: Values) -> str:
    parts = [_number(part) for name in rule.of for part in values.get(name, ())]
    number = _number(value)
    if number is None or not parts or any(not values.get(name) for name in rule.of):
        return ""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return ""
    total = sum(known, Decimal(0))
    if abs(total - number) <= Decimal(str(rule.tolerance)):
        return ""
    return f"{field.name} ({_show(value)}) is not the sum of {' and '.join(rule.of)} ({total})."


def _number(value: Value | None) -> Decimal | None:
    """Return a number, amount or limit as a decimal; None where it is none."""
    if isinstance(value, dict):
        value = value.get("amount")
    if value is None or isinstance(value, bool):
        return None
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _show(value: Value) -> str:
    if isinstance(value, dict):
        return " ".join(part for part in (value.get("amount"), value.get("currency")) if part)
    return str(value)
