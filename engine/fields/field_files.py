"""Files of fields: YAML or JSON with a list of definitions, or a JSON Schema of the wanted object."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from engine.fields.field_list import MOST
from engine.fields.json_schema import is_schema, schema_fields
from engine.fields.names import name_of_question
from engine.fields.parse_definition import sentence_of
from engine.fields.written_values import Place, Written, parse_written
from engine.text import quote_file_name

MOST_CHARACTERS = 1_000_000
_MOST_PROBLEMS = 10  # said of one file


def read_fields(path: Path) -> list[FieldDefinition]:
    """Return the fields of a file. Raises Refused with what is wrong with it."""
    try:
        if path.stat().st_size > MOST_CHARACTERS:
            raise Refused(f"{path.name} is larger than 1 MB, so it is no list of fields.")
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise Refused(f"{path.name} is not in UTF-8. Save it as UTF-8.") from None
    except OSError as error:
        raise Refused(f"{path.name} cannot be read: {error.strerror}.") from None
    return parse_fields(text, path.name)


def parse_fields(text: str, name: str) -> list[FieldDefinition]:
    """Return the fields of a text in YAML or JSON; `name` is that of its file.

    Raises Refused, with a sentence for each problem, a line each.
    """
    written = parse_written(text, name)
    listed = list(_listed_parts(written, name))
    if len(listed) > MOST:
        raise Refused(f"{name} has {len(listed)} fields; {MOST} are allowed. Take some out.")
    fields: list[FieldDefinition] = []
    problems: list[str] = []
    for place, parts in listed:
        try:
            fields.append(FieldDefinition.model_validate(parts))
        except ValidationError as error:
            called = next((parts[part] for part in ("name", "question") if isinstance(parts.get(part), str)), "")
            problems += [
                f"{name}, line {written.line_of((*place, *what['loc']))}: the field "
                f"{quote_file_name(called or 'without a name')}{sentence_of(what)}"
                for what in error.errors()
            ]
    if problems:
        further = len(problems) - _MOST_PROBLEMS
        raise Refused("\n".join(problems[:_MOST_PROBLEMS] + ([f"And {further} more problems."] if further > 0 else [])))
    return fields


def write_fields(fields: Sequence[FieldDefinition]) -> str:
    """Return fields as YAML, without what is the default, for `read_fields`."""
    lines = []
    for field in fields:
        content = FieldDefinition(**{name: getattr(field, name) for name in FieldDefinition.model_fields})
        lines.append(content.model_dump(mode="json", exclude_defaults=True))
    dumper = yaml.CSafeDumper
    return str(yaml.dump({"fields": lines}, Dumper=dumper, allow_unicode=True, sort_keys=False, width=120))


def _listed_parts(written: Written, name: str) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the parts of each field, with its place in the file."""
    content = written.content
    if is_schema(content):
        yield from schema_fields(content)
        return
    place: Place = ()
    if isinstance(content, Mapping):
        place, content = ("fields",), content.get("fields")
    if not isinstance(content, list):
        raise Refused(f'{name} has neither a list "fields" nor, as a JSON Schema, "properties".')
    for at, parts in enumerate(content):
        yield (*place, at), _parts(parts, f"{name}, line {written.line_of((*place, at))}", at + 1)


def _parts(content: Any, where: str, number: int) -> dict[str, Any]:
    if isinstance(content, str) and not content.isdecimal():  # a plain question
        content = {"question": content}
    if not isinstance(content, Mapping):
        raise Refused(f"{where}: field {number} is neither a question nor a list of its parts.")
    parts = dict(content)
    if isinstance(parts.get("question"), str) and "name" not in parts:
        parts["name"] = name_of_question(parts["question"], ())
    if isinstance(parts.get("choices"), list):
        parts["choices"] = [{"value": choice} if isinstance(choice, str) else choice for choice in parts["choices"]]
    return parts
