"""Files of fields: YAML, JSON, JSON Schema; what is wrong with one is said in a sentence."""

import json
from pathlib import Path

import pytest

from engine.errors import Refused
from engine.fields.field_files import parse_fields, read_fields, schema_of, write_fields
from engine.fields.ready_sets import READY_SETS

SCHEMA = {
    "type": "object",
    "required": ["invoiceNumber", "total"],
    "properties": {
        "invoiceNumber": {"type": "string", "pattern": "^RE"},
        "issued": {"type": ["string", "null"], "format": "date", "description": "The day of issue."},
        "kind": {"enum": ["invoice", "credit note"]},
        "pages": {"type": "integer", "minimum": 1},
        "paid": {"anyOf": [{"type": "boolean"}, {"type": "null"}], "title": "Is it paid?"},
        "orders": {"type": "array", "items": {"$ref": "#/$defs/order"}},
        "buyer": {"$ref": "#/$defs/party"},
    },
    "$defs": {
        "order": {"type": "string"},
        "party": {"type": "object", "properties": {"name": {"type": "string"}, "city": {"type": "string"}}},
    },
}


@pytest.mark.parametrize("name", READY_SETS)
def test_fields_come_back_from_their_file(tmp_path: Path, name: str) -> None:
    fields = list(READY_SETS[name].fields)
    (tmp_path / "fields.yaml").write_text(write_fields(fields), "utf-8")
    assert read_fields(tmp_path / "fields.yaml") == fields
    assert list(schema_of(fields)["properties"]) == [field.name for field in fields]


def test_a_json_schema_becomes_fields() -> None:
    schema = {**SCHEMA, "required": ["invoiceNumber"]}
    fields = {field.name: field for field in parse_fields(json.dumps(schema), "schema.json")}
    assert list(fields) == ["invoice_number", "issued", "kind", "pages", "paid", "orders", "buyer_name", "buyer_city"]
    number, issued = fields["invoice_number"], fields["issued"]
    assert (number.question, number.required) == ("What is the invoice number?", True)
    assert number.rules[0].model_dump() == {"rule": "pattern", "pattern": "^RE"}
    assert (issued.type, issued.guideline, issued.required) == ("date", "The day of issue.", False)
    assert [choice.value for choice in fields["kind"].choices] == ["invoice", "credit note"]
    assert fields["pages"].rules[0].model_dump() == {"rule": "range", "least": "1", "most": None}
    assert (fields["paid"].type, fields["paid"].question) == ("boolean", "Is it paid?")
    assert fields["orders"].several and not fields["kind"].several
    assert fields["buyer_name"].question == "What is the buyer name?"


def test_a_list_of_questions_is_enough() -> None:
    [total, date] = parse_fields("- What is the total?\n- {question: 'When was it issued?', type: date}", "fields.yaml")
    assert (total.name, total.type, date.type) == ("total", "string", "date")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("fields: [", "line 1 is neither YAML nor JSON"),
        ("just words", "neither a list"),
        ("- {question: 'One?', type: money}", 'The field "one", type: Input should be'),
        ("- {question: 'One?', kind: date}", "kind: Extra inputs are not permitted"),
        ("- {question: 'One?', type: choice}", "a field of type choice needs its choices"),
        ("- {name: Not A Key, question: 'One?'}", 'The field "Not A Key", name'),
        ("- {question: 'One?', rules: [{rule: pattern, pattern: '('}]}", "is no regular expression"),
        ("- 5", "field 1 is neither a question nor"),
        (json.dumps({"properties": {"rows": {"type": "array", "items": {"properties": {}}}}}), "Tables cannot"),
        (json.dumps({"properties": {"a": {"$ref": "other.json"}}}), "outside of the file"),
        (json.dumps({"properties": {"a": {"$ref": "#/properties/a"}}}), "refers to itself"),
        ("!!python/object/apply:os.system ['true']", "neither YAML nor JSON"),
    ],
)
def test_a_bad_file_is_refused_in_a_sentence(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        parse_fields(text, "fields.yaml")
