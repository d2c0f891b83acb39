"""Rules of fields on the values of a paper."""

from typing import Any

import pytest

from engine.fields.definition import FieldDefinition
from engine.fields.rules import broken_rules


def field(name: str, kind: str, *rules: dict[str, Any], **parts: Any) -> FieldDefinition:
    return FieldDefinition(name=name, question=f"{name}?", type=kind, rules=rules, **parts)


def money(amount: str) -> dict[str, str | None]:
    return {"amount": amount, "currency": "EUR"}


INVOICE = [
    field("number", "string", {"rule": "pattern", "pattern": "RE [0-9]+"}, required=True),
    field("issued", "date", {"rule": "range", "least": "2020-01-01", "most": "2029-12-31"}),
    field("due", "date", {"rule": "not_before", "field": "issued"}),
    field("net", "currency", {"rule": "range", "least": "0"}),
    field("tax", "currency"),
    field("total", "currency", {"rule": "sum", "of": ["net", "tax"]}),
    field("pages", "integer", {"rule": "range", "most": "9"}),
]
RIGHT: dict[str, list[Any]] = {
    "number": ["RE 17"],
    "issued": ["2026-03-04"],
    "due": ["2026-03-04"],
    "net": [money("100.00")],
    "tax": [money("19.00")],
    "total": [money("119.00")],
    "pages": [9],
}


def test_values_that_keep_all_rules_break_none() -> None:
    assert broken_rules(INVOICE, RIGHT) == {}


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"number": []}, "number is required, and has no value."),
        ({"number": ["RE 17a"]}, 'number does not fit the pattern "RE [0-9]+".'),
        ({"issued": ["2019-12-31"]}, "issued (2019-12-31) is below 2020-01-01."),
        ({"issued": ["2030-01-01"], "due": []}, "issued (2030-01-01) is above 2029-12-31."),
        ({"due": ["2026-03-03"]}, "due (2026-03-03) is before issued (2026-03-04)."),
        ({"net": [money("-1.00")], "total": []}, "net (-1.00 EUR) is below 0."),
        ({"total": [money("120.00")]}, "total (120.00 EUR) is not the sum of net and tax (119.00)."),
        ({"pages": [10]}, "pages (10) is above 9."),
    ],
)
def test_a_broken_rule_is_a_sentence(changed: dict[str, list[Any]], sentence: str) -> None:
    assert broken_rules(INVOICE, {**RIGHT, **changed}) == {sentence.split()[0]: [sentence]}


def test_rules_about_absent_values_are_not_broken() -> None:
    assert broken_rules(INVOICE, {"number": ["RE 17"], "total": [money("5.00")], "due": ["2026-01-01"]}) == {}
    assert broken_rules(INVOICE, {**RIGHT, "tax": []}) == {}  # a sum of which a part is missing says nothing


def test_a_rounded_sum_is_within_the_tolerance() -> None:
    fields = [field("a", "number"), field("b", "number", {"rule": "sum", "of": ["a"], "tolerance": 0.05})]
    assert broken_rules(fields, {"a": ["1.00"], "b": ["1.05"]}) == {}
    assert broken_rules(fields, {"a": ["1.00", "2.00"], "b": ["3.06"]}) != {}


def test_a_pattern_that_would_run_for_ever_breaks_the_rule() -> None:
    endless = field("a", "string", {"rule": "pattern", "pattern": "(a|aa)+$"})
    assert "does not fit" in broken_rules([endless], {"a": ["a" * 60 + "b"]})["a"][0]
