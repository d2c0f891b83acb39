"""Files of fields: YAML, JSON, JSON Schema; what is wrong with one is said in a sentence."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.errors import Refused
from engine.fields.definition import ColumnDefinition, FieldDefinition
from engine.fields.field_files import parse_fields, read_fields, write_fields
from engine.fields.json_schema import schema_of
from engine.fields.ready_sets import READY_SETS
from engine.fields.types import FieldType

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


LINES = {
    "type": "array",
    "title": "Which lines?",
    "items": {
        "type": "object",
        "required": ["unitPrice"],
        "properties": {
            "what": {"type": "string", "title": "Description"},
            "unitPrice": {"$ref": "#/$defs/price", "minimum": 0},
            "tax": {"type": "object", "properties": {"rate": {"type": "number"}}},
        },
    },
}


def test_an_array_of_objects_becomes_a_table() -> None:
    schema = {"properties": {"lines": LINES}, "required": ["lines"], "$defs": {"price": {"type": "number"}}}
    [table] = parse_fields(json.dumps(schema), "schema.json")
    assert (table.type, table.question, table.required, table.several) == ("table", "Which lines?", True, False)
    assert [(column.name, column.question, column.type, column.required) for column in table.columns] == [
        ("what", "Description", "string", False),
        ("unit_price", "Unit price", "number", True),
        ("tax_rate", "Tax rate", "number", False),
    ]
    nested = {**LINES, "items": {"properties": {"parts": LINES}}}
    with pytest.raises(Refused, match="parts is a table in the table lines"):
        parse_fields(json.dumps({**schema, "properties": {"lines": nested}}), "schema.json")


@pytest.mark.parametrize("name", READY_SETS)
def test_fields_come_back_from_their_json_schema(name: str) -> None:
    def kinds(fields: Sequence[ColumnDefinition]) -> list[object]:
        plain = {FieldType.ADDRESS, FieldType.COUNTRY, FieldType.PHONE, FieldType.SIGNATURE}  # JSON Schema has texts
        return [
            (each.name, FieldType.STRING if each.type in plain else each.type, each.required)
            + ((kinds(each.columns), each.several) if isinstance(each, FieldDefinition) else ())
            for each in fields
        ]

    fields = READY_SETS[name].fields
    assert kinds(parse_fields(json.dumps(schema_of(fields)), "schema.json")) == kinds(fields)


def test_a_list_of_questions_is_enough() -> None:
    [total, date] = parse_fields("- What is the total?\n- {question: 'When was it issued?', type: date}", "fields.yaml")
    assert (total.name, total.type, date.type) == ("total", "string", "date")


def test_texts_stand_as_they_are_written() -> None:
    text = """
    - {question: Which?, type: choice, choices: [NO, 0123, 2026-04-03, 1e3, {value: on, names: [~1, null]}]}
    - {question: When?, type: date, rules: [{rule: range, least: 2020-01-01}], examples: [2026-04-03], several: yes}
    - {question: Whose phone?, type: phone, country: NO, confidence: 0.5, currency: }
    """
    with pytest.raises(
        Refused, match=r"line 2: the field \"which\", choices.4.names.1: Input should be a valid string"
    ):
        parse_fields(text, "fields.yaml")
    which, when, phone = parse_fields(text.replace(", null", ""), "fields.yaml")
    assert [choice.value for choice in which.choices] == ["NO", "0123", "2026-04-03", "1e3", "on"]
    assert (when.rules[0].model_dump()["least"], when.examples, when.several) == ("2020-01-01", ("2026-04-03",), True)
    assert (phone.country, phone.confidence, phone.currency) == ("NO", 0.5, None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("fields: [", "line 1 is neither YAML nor JSON"),
        ("just words", "neither a list"),
        ("", "neither a list"),
        ("- {question: 'One?', type: money}", "line 1: the field \"one\", type: 'money' is none of the types string"),
        ("- {question: 'One?', kind: date}", "kind: fields have no such part"),
        ("- {name: one}", "question: it is missing"),
        ("- {question: 'One?', type: choice}", "a field of type choice needs its choices"),
        ("- question: 'One?'\n  name: Not A Key", 'line 2: the field "Not A Key", name'),
        ("- {question: 'One?', rules: [{rule: pattern, pattern: '('}]}", "is no regular expression"),
        ("- What?\n- 5", "line 2: field 2 is neither a question nor"),
        ("- question: What?\n  question: When?", "line 2: question is given twice"),
        ("- {? [a] : 5}", "line 1: a key is no text"),
        (
            json.dumps({"properties": {"rows": {"type": "array", "items": {"properties": {}}}}}),
            "a table without columns",
        ),
        (json.dumps({"properties": {"a": {"$ref": "other.json"}}}), "outside of the file"),
        (json.dumps({"properties": {"a": {"$ref": "#/properties/a"}}}), "refers to itself"),
        ('{"properties": {\n"a": {"pattern": "("}}}', 'line 2: the field "a", rules.0.pattern.pattern'),
        ("- !!python/object/apply:os.system ['true']", "line 1: the tag tag:yaml.org,2002:python"),
        ("- !!binary YQ==", "line 1: the tag"),
        ("- &a What?\n- *a", r"line 1: anchors \(&\) and aliases \(\*\) are not read"),
        ("- What?\n" * 201, "has 201 fields; 200 are allowed"),
        ("- a\n" * 100_001, "more than 100,000 values"),
        ("[" * 5000, "line 1 is nested too deeply"),
        ("{a: " * 5000, "line 1 is nested too deeply"),
    ],
)
def test_a_bad_file_is_refused_in_a_sentence(text: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        parse_fields(text, "fields.yaml")


def test_every_problem_of_a_file_has_its_line() -> None:
    text = "fields:\n" + "- question: What?\n  type: money\n  country: Norway\n" * 6
    with pytest.raises(Refused) as refused:
        parse_fields(text, "fields.yaml")
    said = str(refused.value).splitlines()
    assert said[1].startswith('fields.yaml, line 4: the field "what", country: String should match')
    assert (len(said), said[-1]) == (11, "And 2 more problems.")


def test_a_small_file_that_stands_for_much_is_refused(tmp_path: Path) -> None:
    laughs = "a0: &a0 [ha, ha]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    with pytest.raises(Refused, match="line 1: anchors"):
        parse_fields(laughs, "laughs.yaml")
    nested: dict = {f"d{n}": {"properties": {f"p{k}": {"$ref": f"#/d{n + 1}"} for k in range(9)}} for n in range(4)}
    with pytest.raises(Refused, match="more than 2,000 properties"):
        parse_fields(json.dumps({"$ref": "", **nested, **nested["d0"], "d4": {"properties": {}}}), "schema.json")
    (tmp_path / "huge.yaml").write_bytes(b"# " + b"x" * 1_000_000)
    with pytest.raises(Refused, match="larger than 1 MB"):
        read_fields(tmp_path / "huge.yaml")
