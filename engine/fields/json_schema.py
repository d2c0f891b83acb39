"""Fields from a JSON Schema of the wanted object, and the JSON Schema of fields."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.errors import Refused
from engine.fields.definition import NAME, ColumnDefinition, FieldDefinition
from engine.fields.names import name_of_question
from engine.fields.types import FieldType
from engine.fields.written_values import Place
from engine.text import quote_file_name

MOST_PROPERTIES = 2000  # references can make many of a small schema
# "format" of a JSON Schema (draft 2020-12, Validation, section 7.3) by type of field.
_FORMATS = {"date": FieldType.DATE, "time": FieldType.TIME, "phone": FieldType.PHONE}


def is_schema(content: Any) -> bool:
    """Return whether the content of a file is a JSON Schema of an object."""
    return isinstance(content, Mapping) and isinstance(content.get("properties"), Mapping)


def schema_fields(schema: Mapping[str, Any]) -> list[tuple[Place, dict[str, Any]]]:
    """Return the parts of a field for every property, with its place in the schema.

    What is nested in an object is a field `object_part`; an array of objects is a table. Raises Refused.
    """
    fields = list(_collect(schema, schema, (), "", set(), iter(range(MOST_PROPERTIES)), None))
    if not fields:
        raise Refused("The JSON Schema has no properties.")
    return fields


def _collect(
    schema: Mapping[str, Any],
    part: Mapping[str, Any],
    place: Place,
    prefix: str,
    names: set[str],
    visits: Iterator[int],
    table: str | None,
) -> Iterator[tuple[Place, dict[str, Any]]]:
    if len(place) > 2 * 5:
        raise Refused("The JSON Schema is nested deeper than five objects.")
    required = _list_of(part.get("required"))
    for key, listed in part["properties"].items():
        if next(visits, None) is None:
            raise Refused(f"The JSON Schema has more than {MOST_PROPERTIES:,} properties.")
        here = (*place, "properties", key)
        about = _resolve(schema, listed)
        several = _type_of(about) == "array"
        inner = _resolve(schema, about.get("items") or {}) if several else about
        is_object = isinstance(inner.get("properties"), Mapping) and not _is_amount(inner)
        if is_object and not several:
            yield from _collect(schema, inner, here, f"{prefix}{key} ", names, visits, table)
            continue
        if is_object and table is not None:
            raise Refused(f"{prefix}{key} is a table in the table {table}. A cell holds a single value; take it out.")
        words = f"{prefix}{key}".replace("_", " ").replace("-", " ")
        name = f"{prefix}{key}".replace(" ", "_")
        if not re.fullmatch(NAME, name) or name in names:
            name = name_of_question(_split_capitals(words), names)
        names.add(name)
        title = str(about.get("title") or "") or _split_capitals(words)
        question = title if title.endswith("?") else f"What is the {title}?"
        parts = {
            "name": name,
            "question": question if table is None else title[:1].upper() + title[1:],
            "guideline": str(about.get("description") or inner.get("description") or ""),
            "required": key in required,
            "examples": [str(example) for example in _list_of(about.get("examples"))][:20],
        }
        if is_object:
            columns = [column for _, column in _collect(schema, inner, here, "", set(), visits, f"{prefix}{key}")]
            if not columns:
                raise Refused(f"{prefix}{key} is an array of objects without properties: a table without columns.")
            yield here, {**parts, "type": FieldType.TABLE, "columns": columns}
        else:
            yield here, {**parts, **({"several": several} if table is None else {}), **_type_parts(inner)}


def _is_amount(about: Mapping[str, Any]) -> bool:
    """Return whether an object is an amount with its currency, as `schema_of` writes it."""
    return set(about["properties"]) == {"amount", "currency"}


def _type_parts(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return type, choices and rules of a schema."""
    if isinstance(about.get("enum"), list):
        values = [str(value) for value in about["enum"] if value is not None]
        return {"type": FieldType.CHOICE, "choices": [{"value": value} for value in values]}
    kind = _type_of(about)
    if kind == "object" and isinstance(about.get("properties"), Mapping):
        return {"type": FieldType.CURRENCY}
    rules: list[dict[str, Any]] = []
    if about.get("pattern"):
        rules.append({"rule": "pattern", "pattern": about["pattern"]})
    ends = {"least": about.get("minimum"), "most": about.get("maximum")}
    if kind in ("number", "integer") and any(value is not None for value in ends.values()):
        rules.append({"rule": "range", **{end: str(value) for end, value in ends.items() if value is not None}})
    field_type = {
        "number": FieldType.NUMBER,
        "integer": FieldType.INTEGER,
        "boolean": FieldType.BOOLEAN,
    }.get(kind, _FORMATS.get(str(about.get("format")), FieldType.STRING))
    return {"type": field_type, "rules": rules}


def _list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _type_of(about: Mapping[str, Any]) -> str:
    kind = about.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name not in (None, "null")), None)
    return str(kind)


def _resolve(schema: Mapping[str, Any], about: Any) -> Mapping[str, Any]:
    """Return a schema behind references inside the document, and the one beside null."""
    for _ in range(20):
        if not isinstance(about, Mapping):
            raise Refused("The JSON Schema has a property that is no schema.")
        reference = about.get("$ref")
        either = about.get("anyOf") or about.get("oneOf")
        if isinstance(reference, str):
            if not reference.startswith("#/"):
                raise Refused(f"The JSON Schema refers to {quote_file_name(reference)} outside of the file.")
            target: Any = schema
            for step in reference[2:].split("/"):
                target = target.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
            about = target
        elif isinstance(either, list) and "type" not in about and "enum" not in about:
            further = {name: value for name, value in about.items() if name not in ("anyOf", "oneOf")}
            about = next((one for one in either if not isinstance(one, Mapping) or _type_of(one) != "null"), {})
            about = {**about, **further} if isinstance(about, Mapping) else about
        else:
            return about
    raise Refused("The JSON Schema refers to itself.")


def _split_capitals(words: str) -> str:
    """Return invoiceNumber as invoice number."""
    spaced = "".join(
        f" {letter}" if letter.isupper() and at and words[at - 1].islower() else letter
        for at, letter in enumerate(words)
    )
    return " ".join(spaced.split()).lower() if not spaced.isupper() else spaced


def schema_of(fields: Sequence[FieldDefinition]) -> dict[str, Any]:
    """Return fields as a JSON Schema (draft 2020-12) of one paper's normalised values."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_object(fields)}


def _object(fields: Sequence[ColumnDefinition]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {field.name: _property(field) for field in fields},
        "required": [field.name for field in fields if field.required],
        "additionalProperties": False,
    }


def _property(field: ColumnDefinition) -> dict[str, Any]:
    kinds: dict[FieldType, dict[str, Any]] = {
        FieldType.NUMBER: {"type": "number"},
        FieldType.INTEGER: {"type": "integer"},
        FieldType.BOOLEAN: {"type": "boolean"},
        FieldType.DATE: {"type": "string", "format": "date"},
        FieldType.TIME: {"type": "string", "format": "time"},
        FieldType.CHOICE: {"type": "string", "enum": [choice.value for choice in field.choices]},
        FieldType.CURRENCY: {
            "type": "object",
            "properties": {"amount": {"type": "string"}, "currency": {"type": ["string", "null"]}},
        },
    }
    value = kinds.get(field.type, {"type": "string"})
    about = {"title": field.question} | ({"description": field.guideline} if field.guideline else {})
    if isinstance(field, FieldDefinition):
        if field.columns:
            return {**about, "type": "array", "items": _object(field.columns)}
        if field.several:
            return {**about, "type": "array", "items": value}
    return {**about, **value}


def to_json(fields: Sequence[FieldDefinition]) -> str:
    """Return the JSON Schema of fields as text."""
    return json.dumps(schema_of(fields), ensure_ascii=False, indent=2)
