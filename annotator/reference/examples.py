"""Examples of JSON schemas, composed from samples of their fields."""

from collections.abc import Mapping
from typing import Any

from annotator.reference.samples import DAY, ID, MOMENT, OTHER_ID, SAMPLES

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


class NoSample(LookupError):
    """A field without a sample; its name is the argument."""


class Examples:
    """Examples of the schemas of one OpenAPI document.

    Args:
        schemas: schemas by name.
    """

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self.schemas = schemas

    def of(self, schema: Mapping[str, Any], field: str = "", owner: str = "") -> Any:
        """Return an example of a schema.

        Args:
            schema: JSON schema.
            field: name of the field that has this schema.
            owner: name of the schema that contains the field.

        Raises:
            NoSample: a field has no sample.
        """
        for own in (schema.get("examples"), [schema["example"]] if "example" in schema else None):
            if own:
                return own[0]
        special = SAMPLES.get(f"{owner}.{field}")
        if special is not None:
            return special[0]
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            return self.of(self.schemas[name], field, name) if not self._is_object(name) else self.object(name)
        if "const" in schema:
            return schema["const"]
        options = list(schema.get("anyOf", schema.get("oneOf", schema.get("allOf", ()))))
        if options:
            return self._first(options, field, owner)
        return self._plain(schema, field, owner)

    def object(self, name: str) -> dict[str, Any]:
        """Return an example of a named schema with all its fields."""
        schema = self.schemas[name]
        if schema.get("examples"):
            example: dict[str, Any] = schema["examples"][0]
            return example
        return {field: self.of(of_field, field, name) for field, of_field in schema.get("properties", {}).items()}

    def _is_object(self, name: str) -> bool:
        return bool(self.schemas[name].get("properties"))

    def _first(self, options: list[Mapping[str, Any]], field: str, owner: str) -> Any:
        """Return an example of the first option that has one; null only when it is the only option."""
        missing: NoSample | None = None
        for option in sorted(options, key=lambda each: each.get("type") == "null"):
            try:
                return None if option.get("type") == "null" else self.of(option, field, owner)
            except NoSample as error:
                missing = missing or error
        raise missing or NoSample(f"{owner}.{field}")

    def _plain(self, schema: Mapping[str, Any], field: str, owner: str) -> Any:
        kind, items = schema.get("type"), schema.get("items", {})
        if "enum" in schema:
            fitting = [sample for sample in SAMPLES.get(field, ()) if sample in schema["enum"]]
            return fitting[0] if fitting else schema["enum"][0]
        if kind == "array" and ("$ref" in items or "oneOf" in items):
            return [self.of(items, field, owner)]
        if kind == "object" and "$ref" in _mapping(schema.get("additionalProperties")):
            return {ID: self.of(schema["additionalProperties"])}
        if kind == "object" and "properties" in schema:
            return {name: self.of(of_field, name, field) for name, of_field in schema["properties"].items()}
        for sample in SAMPLES.get(field, ()):
            if isinstance(sample, _KINDS.get(str(kind), (object,))) and (kind == "boolean") == isinstance(sample, bool):
                return sample
        if schema.get("format") == "date-time":
            return MOMENT
        if schema.get("format") == "date":
            return DAY
        if kind == "string" and (field == "id" or field.endswith("_id")):
            return OTHER_ID if field in ("prediction_id", "parent_id") else ID
        if kind == "boolean":
            return bool(schema.get("default", False))
        if schema.get("default") not in (None, "", [], {}):
            return schema["default"]
        if kind == "array" and items:
            return [self.of(items, field, owner)]
        raise NoSample(f"{owner}.{field}" if owner else field)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
