"""Files of fields: YAML or JSON with a list of definitions, or a JSON Schema of the wanted object."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from engine.fields.names import name_of_question
from engine.fields.project_fields import parse_definition
from engine.fields.types import FieldType
from engine.text import quote_file_name

MOST_BYTES = 4 << 20
# "format" of a JSON Schema (draft 2020-12, Validation, section 7.3) by type of field.
_FORMATS = {"date": FieldType.DATE, "time": FieldType.TIME, "phone": FieldType.PHONE}
_PLAIN = {"name", "question", "type"}


def read_fields(path: Path) -> list[FieldDefinition]:
    """Return the fields of a file. Raises Refused with what is wrong with it."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise Refused(f"{path.name} is larger than 4 MB, so it is no list of fields.")
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(f"{path.name} is not in UTF-8. Save it as UTF-8.") from None
    except OSError as error:
        raise Refused(f"{path.name} cannot be read: {error.strerror}.") from None
    return parse_fields(text, path.name)


def parse_fields(text: str, name: str) -> list[FieldDefinition]:
    """Return the fields of a text in YAML or JSON; `name` is that of its file. Raises Refused."""
    try:
        content = yaml.safe_load(text)  # JSON is YAML
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark is not None else ""
        raise Refused(f"{name}{place} is neither YAML nor JSON: {getattr(error, 'problem', None) or error}.") from None
    except RecursionError:
        raise Refused(f"{name} is nested too deeply to be a list of fields.") from None
    if isinstance(content, Mapping) and isinstance(content.get("properties"), Mapping):
        return _from_schema(content)
    listed = content.get("fields") if isinstance(content, Mapping) else content
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise Refused(f'{name} has neither a list "fields" nor, as a JSON Schema, "properties".')
    return [_definition(line, name, number) for number, line in enumerate(listed, 1)]


def write_fields(fields: Sequence[FieldDefinition]) -> str:
    """Return fields as YAML, without what is the default, for `read_fields`."""
    lines = []
    for field in fields:
        content = FieldDefinition(**{name: getattr(field, name) for name in FieldDefinition.model_fields})
        listed = content.model_dump(mode="json", exclude_defaults=True)
        lines.append(
            {name: listed[name] for name in ["name", "question", *(listed.keys() - _PLAIN), "type"] if name in listed}
        )
    return str(yaml.safe_dump({"fields": lines}, allow_unicode=True, sort_keys=False, width=120))


def _definition(line: Any, name: str, number: int) -> FieldDefinition:
    if isinstance(line, str):  # a plain question
        line = {"question": line}
    if not isinstance(line, Mapping):
        raise Refused(f"{name}: field {number} is neither a question nor a list of its parts.")
    content = dict(line)
    if isinstance(content.get("question"), str) and "name" not in content:
        content["name"] = name_of_question(content["question"], ())
    if "choices" in content and isinstance(content["choices"], list):
        content["choices"] = [{"value": one} if isinstance(one, str) else one for one in content["choices"]]
    return parse_definition(content, FieldDefinition)


def _from_schema(schema: Mapping[str, Any]) -> list[FieldDefinition]:
    """Return the fields of a JSON Schema's properties; what is nested in an object is a field `object_part`."""
    definitions = _collect(schema, schema, "", set(), 0)
    if not definitions:
        raise Refused("The JSON Schema has no properties.")
    return definitions


def _collect(
    schema: Mapping[str, Any], part: Mapping[str, Any], prefix: str, names: set[str], depth: int
) -> list[FieldDefinition]:
    if depth > 5:
        raise Refused("The JSON Schema is nested deeper than five objects.")
    required = part.get("required") or []
    definitions: list[FieldDefinition] = []
    for key, listed in part["properties"].items():
        about = _resolve(schema, listed)
        several = _type_of(about) == "array"
        inner = _resolve(schema, about.get("items") or {}) if several else about
        if isinstance(inner.get("properties"), Mapping):
            if several:
                raise Refused(
                    f"{prefix}{key} is an array of objects, a table. Tables cannot be imported yet; take it out."
                )
            definitions += _collect(schema, inner, f"{prefix}{key} ", names, depth + 1)
            continue
        words = f"{prefix}{key}".replace("_", " ").replace("-", " ")
        name = name_of_question(_split_capitals(words), names)
        names.add(name)
        question = about.get("title") or f"What is the {_split_capitals(words)}?"
        definitions.append(
            parse_definition(
                {
                    "name": name,
                    "question": question if str(question).endswith("?") else f"What is the {question}?",
                    "guideline": str(about.get("description") or inner.get("description") or ""),
                    "several": several,
                    "required": key in required,
                    "examples": [str(example) for example in (about.get("examples") or [])][:20],
                    **_typed(inner),
                },
                FieldDefinition,
            )
        )
    return definitions


def _typed(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return type, choices and rules of a schema."""
    if isinstance(about.get("enum"), list):
        values = [str(value) for value in about["enum"] if value is not None]
        return {"type": FieldType.CHOICE, "choices": [{"value": value} for value in values]}
    kind = _type_of(about)
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


def _type_of(about: Mapping[str, Any]) -> str:
    kind = about.get("type")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), None)
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
            about = next((one for one in either if not isinstance(one, Mapping) or one.get("type") != "null"), {})
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
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {field.name: _property(field) for field in fields},
        "required": [field.name for field in fields if field.required],
        "additionalProperties": False,
    }


def _property(field: FieldDefinition) -> dict[str, Any]:
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
    return {**about, "type": "array", "items": value} if field.several else {**about, **value}


def to_json(fields: Sequence[FieldDefinition]) -> str:
    """Return the JSON Schema of fields as text."""
    return json.dumps(schema_of(fields), ensure_ascii=False, indent=2)
