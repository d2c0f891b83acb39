"""Write engine/client/schemas.py from the server's OpenAPI document: `make client`.

The client knows the server by this document alone, and so needs none of the server's code. datamodel-code-generator
writes the classes. The document is trimmed first: to answers that the client reads and requests that it checks, under
the names that the client gives them. Answers lose their limits, so that an older client reads what a newer server
allows.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from datamodel_code_generator import InputFileType, LiteralType, generate
from datamodel_code_generator.enums import DataModelType
from datamodel_code_generator.format import DatetimeClassType, Formatter, PythonVersion

from annotator.app import create_app
from engine.settings import Settings

Schema = dict[str, Any]

ROOT = Path(__file__).resolve().parents[1]
SCHEMAS = ROOT / "engine" / "client" / "schemas.py"
HEADER = '"""Requests and answers of the server. Written by `make client` from the OpenAPI document; do not edit."""'

# Requests that the client checks before it sends them; it reads the answers of all routes but those below HEALTH.
REQUESTS = ("RevisionRequest", "ReviewRequest", "WordEditsRequest")
HEALTH = "/api/health"
# Name in the document -> name in the client.
NAMES = {
    "DocumentWithQuestions": "Document",
    "FormatView": "ExportFormat",
    "ImportedView": "ImportedSet",
    "MadeInvitation": "Invited",
    "NewWebhookView": "MadeWebhook",
    "ProjectView": "Project",
    "Taken": "TakenFile",
}
# Read as dictionaries, because servers of other versions have other settings.
DICTIONARIES = ("ProjectSettings",)
# Parts of schemas without a name of their own: name in the client -> schema and field where such a part stands.
PARTS = {
    "Action": ("RevisionRequest", "action"),
    "Box": ("PageMark", "boxes"),
    "ChangeKind": ("Change", "kind"),
    "Edit": ("RevisionRequest", "edits"),
    "Point": ("PageMark", "points"),
    "SkipDecision": ("SkipVerdict", "verdict"),
    "SkipReason": ("SkipRequest", "reason"),
    "Verdict": ("ReviewRequest", "verdict"),
    "WordChange": ("WordEditsRequest", "edits"),
}

_REFERENCE = "#/components/schemas/"
_BESIDE = ("default", "description")  # what a field says beside a reference
_LIMITS = {f"{end}{what}" for end in ("min", "max") for what in ("imum", "Items", "Length", "Properties")}
_LIMITS |= {"exclusiveMinimum", "exclusiveMaximum", "pattern", "propertyNames"}


def document() -> Schema:
    """Return the OpenAPI document of the server."""
    with tempfile.TemporaryDirectory() as folder:
        return create_app(Settings(data_dir=Path(folder), _env_file=None), with_page=False).openapi()


def trimmed(document: Mapping[str, Any]) -> Schema:
    """Return an OpenAPI document of the schemas that the client needs, and nothing else."""
    schemas = document["components"]["schemas"]
    answers = _reached(schemas, _answers(document["paths"]))
    requests = _reached(schemas, REQUESTS)
    parts = {name: _part(schemas[schema]["properties"][field]) for name, (schema, field) in PARTS.items()}
    kept = {
        NAMES.get(name, name): _rewritten(schemas[name], parts, limits=name not in answers)
        for name in sorted((answers | requests) - set(DICTIONARIES))
    }
    kept |= {name: _rewritten(part, {}, limits=True) for name, part in parts.items()}
    return {
        "openapi": document["openapi"],
        "info": {"title": "Glossator", "version": "1"},
        "paths": {},
        "components": {"schemas": kept},
    }


def source(document: Mapping[str, Any]) -> str:
    """Return the Python source of the client's schemas."""
    written = generate(
        json.dumps(trimmed(document)),
        input_file_type=InputFileType.OpenAPI,
        output_model_type=DataModelType.PydanticV2BaseModel,
        output_datetime_class=DatetimeClassType.Datetime,
        target_python_version=PythonVersion.PY_311,
        enum_field_as_literal=LiteralType.All,
        custom_file_header=HEADER,
        disable_future_imports=True,
        disable_timestamp=True,
        field_constraints=True,
        formatters=[Formatter.RUFF_CHECK, Formatter.RUFF_FORMAT],
        settings_path=ROOT,
        strict_nullable=True,
        use_annotated=True,
        use_double_quotes=True,
        use_field_description=True,
        use_schema_description=True,
        use_single_line_docstring=True,
        use_tuple_for_closed_arrays=True,
        use_tuple_for_fixed_items=True,
        use_type_alias=True,
    )
    assert isinstance(written, str)
    return f"{written.rstrip()}\n"


def _answers(paths: Mapping[str, Any]) -> Iterator[str]:
    for path, operations in paths.items():
        if path.startswith(HEALTH):
            continue
        for operation in operations.values():
            for status, answer in operation["responses"].items():
                if status.startswith("2"):
                    yield from _references(answer.get("content", {}))


def _references(part: Any) -> Iterator[str]:
    """Return the names of all schemas that a part refers to."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].removeprefix(_REFERENCE)
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _references(each)


def _reached(schemas: Mapping[str, Any], names: Iterable[str]) -> set[str]:
    """Return the names with those of the schemas that they refer to, directly or through others."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _references(schemas[name])
    return found


def _part(field: Schema) -> Schema:
    """Return a field's schema, or that of the items of a list, without what the field says beside it."""
    part = field["items"] if field.get("type") == "array" and "items" in field else field
    return {key: value for key, value in part.items() if key not in ("title", *_BESIDE)}


def _rewritten(schema: Schema, parts: Mapping[str, Schema], *, limits: bool) -> Schema:
    """Return a schema with the client's names and without titles; without limits, too, where the client reads it."""
    bare = {key: value for key, value in schema.items() if key not in ("title", *_BESIDE)}
    for name, part in parts.items():
        if bare == part:
            return {"$ref": _REFERENCE + name, **{key: schema[key] for key in _BESIDE if key in schema}}
    if schema.get("$ref", "").removeprefix(_REFERENCE) in DICTIONARIES:
        return {"type": "object", "additionalProperties": True}
    written: Schema = {}
    for key, value in schema.items():
        if key in ("title", "examples") or (not limits and _limits(key, value, schema)):
            continue
        if key == "$ref":
            written[key] = _renamed(value)
        elif key == "discriminator":
            written[key] = value | {"mapping": {tag: _renamed(to) for tag, to in value["mapping"].items()}}
        elif key == "properties":
            written[key] = {name: _rewritten(field, parts, limits=limits) for name, field in value.items()}
        elif isinstance(value, dict):
            written[key] = _rewritten(value, parts, limits=limits)
        elif isinstance(value, list) and all(isinstance(each, dict) for each in value):
            written[key] = [_rewritten(each, parts, limits=limits) for each in value]
        else:
            written[key] = value
    if "properties" in written:
        written["required"] = _with_defaults(written["properties"], written.get("required", []))
    return written


def _renamed(reference: str) -> str:
    name = reference.removeprefix(_REFERENCE)
    return _REFERENCE + NAMES.get(name, name)


def _limits(key: str, value: Any, schema: Schema) -> bool:
    if key == "additionalProperties":
        return value is False
    return key in _LIMITS and "prefixItems" not in schema  # the length of a tuple is its type


def _with_defaults(fields: dict[str, Schema], required: list[str]) -> list[str]:
    """Give lists and dictionaries that may be absent an empty default, and return the names of the fields without any.

    The document does not tell defaults that are models. The server sends such fields always, so they are required.
    """
    for name, field in fields.items():
        if name not in required and field.get("type") in ("array", "object"):
            field.setdefault("default", [] if field["type"] == "array" else {})
        if "$ref" in field and isinstance(field.get("default"), list):  # a tuple
            del field["default"]
    return [name for name, field in fields.items() if name in required or ("$ref" in field and "default" not in field)]


def main() -> None:
    """Write the file."""
    SCHEMAS.write_text(source(document()), "utf-8")


if __name__ == "__main__":
    main()
