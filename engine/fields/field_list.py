"""The list of a project's fields as a whole: how many, names that differ, and rules that name other fields of it."""

from collections.abc import Sequence

from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from engine.fields.types import FieldType
from engine.text import is_blank, join_names, quote_file_name

MOST = 200  # fields of a project


def check_list(wanted: Sequence[FieldDefinition]) -> None:
    """Check a list of fields. Raises Refused."""
    if len(wanted) > MOST:
        raise Refused(f"There are {len(wanted)} standard questions; {MOST} are allowed. Remove some.")
    names: set[str] = set()
    questions: set[str] = set()
    for number, definition in enumerate(wanted, 1):
        if is_blank(definition.question):
            raise Refused(f"Question {number} is empty; write or remove it.")
        if definition.question in questions:
            raise Refused(f"The question {quote_file_name(definition.question)} is listed twice; remove one.")
        if definition.name in names:
            raise Refused(f"The name {definition.name} is given twice; rename one of the fields.")
        if definition.type is FieldType.TABLE and not definition.columns:
            raise Refused(f"The table {definition.name} has no columns; add at least one.")
        names.add(definition.name)
        questions.add(definition.question)
    issuers = [definition.name for definition in wanted if definition.issuer]
    if len(issuers) > 1:
        raise Refused(f"The fields {join_names(issuers)} all name the issuer. Choose one of them.")
    columns = {f"{table.name}.{column.name}" for table in wanted for column in table.columns}
    for definition in wanted:
        for rule in definition.rules:
            others = rule.of if rule.rule == "sum" else [rule.field] if rule.rule == "not_before" else []
            for name in others:
                if name in columns:
                    continue
                if name not in names:
                    raise Refused(f"A rule of {definition.name} names the field {name}, which the list does not have.")
                if name == definition.name:
                    raise Refused(f"A rule of {definition.name} names the field itself.")
