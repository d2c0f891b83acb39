"""What a person wants to see of the table of values: columns, filters and order, as they are written in a request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from db.tables import ANY_FIELD
from engine.errors import Refused
from engine.fields.project_fields import StoredField

Flag = Literal[
    "empty", "absent", "ambiguous", "unreadable", "proposed", "unsure", "broken", "changed", "accepted", "unaccepted"
]
FLAGS: tuple[Flag, ...] = get_args(Flag)
MOST_FILTERS = 5
NEWEST, OLDEST, NAME, VALUE = "-created", "created", "name", "value"
_ORDERS = (NEWEST, OLDEST, NAME)


@dataclass(frozen=True, slots=True)
class Filter:
    """Documents with a flag, in the cell of a field; question "": in any."""

    question_id: str
    flag: Flag


@dataclass(frozen=True, slots=True)
class Sort:
    """Order of the documents.

    Attributes:
        by: "created", "name" or "value".
        falls: Newest or largest first.
        question_id: Field whose values sort; documents without a value come last, either way.
    """

    by: str = OLDEST
    falls: bool = True
    question_id: str = ""


@dataclass(frozen=True, slots=True)
class TableRequest:
    """What is to be seen: columns in their order, filters that all hold, and the order."""

    columns: Sequence[StoredField]
    filters: Sequence[Filter] = ()
    sort: Sort = Sort()


def parse_request(
    fields: Sequence[StoredField], columns: Sequence[str] = (), filters: Sequence[str] = (), sort: str = NEWEST
) -> TableRequest:
    """Return what a request asks for.

    Args:
        fields: Fields of the project.
        columns: Names of the wanted fields; none: all.
        filters: "broken": in any field; "total:broken": in the field total.
        sort: "-created", "created", "name", "value:total" or "-value:total".

    Raises:
        Refused: There is no such field, filter or order.
    """
    named = {field.name: field for field in fields}
    wanted = [_field_named(named, name) for name in dict.fromkeys(columns)] if columns else list(fields)
    if len(filters) > MOST_FILTERS:
        raise Refused(f"At most {MOST_FILTERS} filters can be combined.")
    return TableRequest(wanted, [_filter(named, text) for text in dict.fromkeys(filters)], _sort(named, sort))


def _filter(named: Mapping[str, StoredField], text: str) -> Filter:
    name, separator, flag = text.rpartition(":")
    for known in FLAGS:
        if flag == known:
            return Filter(_field_named(named, name).id if separator else ANY_FIELD, known)
    raise Refused(f"There is no filter {text!r}. Filters: {', '.join(FLAGS)}; before a colon, the name of a field.")


def _sort(named: Mapping[str, StoredField], text: str) -> Sort:
    if text in _ORDERS:
        return Sort(text.lstrip("-"), falls=text.startswith("-"))
    by, _, name = text.lstrip("-").partition(":")
    if by != VALUE:
        raise Refused(f"There is no order {text!r}. Orders: {', '.join(_ORDERS)}, value:FIELD and -value:FIELD.")
    return Sort(VALUE, text.startswith("-"), _field_named(named, name).id)


def _field_named(named: Mapping[str, StoredField], name: str) -> StoredField:
    if name not in named:
        raise Refused(f"The project has no field {name!r}. Fields: {', '.join(named) or 'none'}.")
    return named[name]
