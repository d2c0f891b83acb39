"""A definition from its parts, and sentences about what is wrong with them."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from engine.text import quote_file_name

Definition = TypeVar("Definition", bound=FieldDefinition)


def parse_definition(content: Mapping[str, Any], kind: type[Definition]) -> Definition:
    """Return a definition of a kind from its parts. Raises Refused, with the part and what is wrong with it."""
    try:
        return kind.model_validate(dict(content))
    except ValidationError as error:
        name = next((content[part] for part in ("name", "question") if isinstance(content.get(part), str)), "")
        raise Refused(
            f"The field {quote_file_name(name or 'without a name')}{sentence_of(error.errors()[0])}"
        ) from None


def sentence_of(problem: ErrorDetails) -> str:
    """Return the end of a sentence about a problem of a field: the part that it is about, and what is wrong."""
    place = ".".join(str(part) for part in problem["loc"])
    match problem["type"]:
        case "extra_forbidden":
            says = "fields have no such part"
        case "missing":
            says = "it is missing"
        case "enum":
            says = f"{problem['input']!r} is none of the types {problem['ctx']['expected'].replace(chr(39), '')}"
        case _:
            says = str(problem["msg"]).removeprefix("Value error, ")
    return f"{f', {place}' if place else ''}: {says}."
