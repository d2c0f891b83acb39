"""Plain text is found among the words of a page: as it stands, by its value, or misread; never a different number."""

import pytest

from engine.fields.definition import FieldDefinition
from engine.fields.types import FieldType
from engine.proposers.grounding import SoughtText
from tests.support.raw_tables import table_words

PAGE = [
    "Invoice",
    "No.",
    "4711",
    "Date:",
    "3",
    "April",
    "2026",
    "Total",
    "due:",
    "1.250,00",
    "€",
    "of",
    "which",
    "tax",
    "199,58",
    "€",
    "Miller",
    "&",
    "Sons",
    "Haupt-",
    "strasse",
    "5",
    "10115",
    "Berlin",
    "Carried",
    "over",
    "1.250,00",
    "EUR",
]


def places(text: str, kind: FieldType | None = None) -> list[str]:
    field = FieldDefinition(name="asked", question="What is asked?", type=kind) if kind is not None else None
    return [" ".join(PAGE[at] for at in place.words) for place in SoughtText(text, field).places(PAGE)]


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("4711", ["4711"]),
        ("  miller &  SONS ", ["Miller & Sons"]),
        ("Total due", ["Total due:"]),
        ("Hauptstrasse 5", ["Haupt- strasse 5"]),  # over the end of a line
        ("1.250,00", ["1.250,00", "1.250,00"]),
        ("Miller and Sons", ["Miller & Sons"]),
        ("10115 Berlln", ["10115 Berlin"]),
    ],
)
def test_a_text_is_found_as_it_stands_or_misread(text: str, printed: list[str]) -> None:
    assert places(text) == printed


@pytest.mark.parametrize(
    ("text", "kind", "printed"),
    [
        ("1250.00", FieldType.NUMBER, ["1.250,00", "1.250,00"]),
        ("199.58", FieldType.CURRENCY, ["199,58"]),
        ("2026-04-03", FieldType.DATE, ["3 April 2026"]),
    ],
)
def test_a_value_is_found_however_it_is_printed(text: str, kind: FieldType, printed: list[str]) -> None:
    assert places(text, kind) == printed


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1.250,01", None),  # nearly alike, and another number
        ("1250.01", FieldType.CURRENCY),
        ("2026-04-04", FieldType.DATE),
        ("1250.00", None),  # no field says that it is a number
        ("Schulze & Co", None),
        ("...", None),
    ],
)
def test_what_no_word_says_is_not_found(text: str, kind: FieldType | None) -> None:
    assert places(text, kind) == []


def test_a_text_of_several_lines_is_found_down_its_column() -> None:
    page = table_words(
        [("Seller", "Buyer"), ("Copper Works", "Ann Example"), ("12 High Street", "9 Low Road")], (50, 330)
    )
    for text in ("Ann Example 9 Low Road", "Copper Works 12 High Street"):
        [place] = SoughtText(text).places_on(page.words)
        assert [page.words[at].text for at in place.words] == text.split()
    assert SoughtText("Copper Works 9 Low Road").places_on(page.words) == []
