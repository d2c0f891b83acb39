"""The list of 400 printed values of ten locales holds its bars: right of what is decided, wrong of all."""

from collections import Counter

import pytest

from engine.fields.types import FieldType
from tests.benchmarks.normalisation import ours, printed_values, score

RIGHT, WRONG = 0.98, 0.005


def test_the_list_has_forty_values_of_ten_locales_and_all_types() -> None:
    values = printed_values()
    assert Counter(value.locale for value in values) == dict.fromkeys(Counter(v.locale for v in values), 40)
    assert len(values) == 400
    untyped = {FieldType.STRING, FieldType.ADDRESS, FieldType.SIGNATURE, FieldType.REGION, FieldType.TABLE}
    assert {value.kind for value in values} == set(FieldType) - untyped


@pytest.mark.parametrize("with_locale", [False, True])
def test_printed_values_are_right_or_left_open(with_locale: bool) -> None:
    figures, misses = score(printed_values(), ours, with_locale)
    assert figures.share_right >= RIGHT, misses
    assert figures.share_wrong <= WRONG, misses
