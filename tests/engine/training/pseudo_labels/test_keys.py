"""Keys found on a page, and which of them a plain layout gives a value."""

from engine.training.pseudo_labels.keys import find_keys
from model.layout import read_layout
from tests.support.key_lines import COLUMN, page


def found(words):
    texts = [word.text for word in words]
    return {key.text: (" ".join(texts[at] for at in key.value), key.plain) for key in find_keys(read_layout(words))}


def test_values_in_a_column_beside_a_column_of_keys_are_plain():
    assert found(page(*COLUMN)) == {
        "Order number": ("A-17", True),
        "Billing type": ("Cash", True),
        "Sales person": ("Ann Lee", True),
    }


def test_a_key_that_occurs_twice_is_no_key():
    assert "Billing type" not in found(page(*COLUMN, (("Billing type:", 20), ("Credit", 260))))


def test_a_key_beside_the_next_key_has_no_value():
    assert found(page((("Order number:", 20), ("Billing type:", 260))))["Order number"] == ("", False)


def test_a_single_key_with_its_value_is_not_plain():
    assert found(page((("Order number:", 20), ("A-17", 260)))) == {"Order number": ("A-17", False)}


def test_numbers_are_no_keys():
    assert found(page((("17 000", 20), ("A-17", 260)))) == {}
