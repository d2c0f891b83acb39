"""Kinds of values: how printed text fits them, and which kind a question asks for."""

import numpy as np
import pytest

from model.asked_kind import asked_kind
from model.kind_shapes import FITS, fits_of, kind_of_value
from model.kinds import KINDS, Kind
from model.ranking.kind_fit import KIND_FEATURES, kind_features
from model.vocabulary import words_of


def fit(text: str, kind: Kind) -> float:
    return fits_of(text)[KINDS.index(kind)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("14 March 2026", Kind.DATE),
        ("JANUARY 11, 1999", Kind.DATE),
        ("25/12/18", Kind.DATE),
        ("2026-04-03.", Kind.DATE),
        ("3:45 PM", Kind.TIME),
        ("14:30", Kind.TIME),
        ("CHF 2,987.88", Kind.AMOUNT),
        ("RM9.00", Kind.AMOUNT),
        ("1.250,00 €", Kind.AMOUNT),
        ("77", Kind.NUMBER),
        ("1,250", Kind.NUMBER),
        ("+41 52 555 01 87", Kind.PHONE),
        ("(415) 555-2671", Kind.PHONE),
        ("12 Jalan Sagu 18, 81100 Johor Bahru", Kind.ADDRESS),
        ("Seestrasse 201 8700 Küsnacht", Kind.ADDRESS),
        ("[x]", Kind.TICK),
        ("Yes", Kind.TICK),
        ("United Kingdom", Kind.COUNTRY),
    ],
)
def test_a_printed_value_shows_its_kind(text, kind):
    assert fit(text, kind) >= FITS
    assert kind_of_value(text) is kind


@pytest.mark.parametrize("text", ["Institute for Freshwater Studies", "Mirjam Okafor", "HV-20418", "Remarks", ":", ""])
def test_names_codes_and_words_are_of_no_kind_that_a_type_names(text):
    assert kind_of_value(text) is None


def test_a_name_fits_names_and_a_number_does_not():
    assert fit("Institute for Freshwater Studies", Kind.NAME) > FITS > fit("77215", Kind.NAME)
    assert fit("77215", Kind.CODE) == 1


def test_a_date_with_its_neighbours_fits_less_than_the_date_alone():
    assert 0.3 < fit("13 April 2026 Customer no.:", Kind.DATE) < fit("13 April 2026", Kind.DATE) == 1


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Who is the customer?", Kind.NAME),
        ("By when must it be paid?", Kind.DATE),
        ("Where does the tenant live?", Kind.ADDRESS),
        ("How much is the tax?", Kind.AMOUNT),
        ("How many pages are there?", Kind.NUMBER),
        ("What is the customer number?", None),
        ("date of birth", None),
        ("At what time was it issued?", Kind.TIME),
        ("What is the purpose?", None),
        ("TO:", None),
    ],
)
def test_the_wording_of_a_question_tells_the_kind(question, kind):
    assert asked_kind(words_of(question, 40)) is kind


def test_an_unknown_kind_leaves_its_features_empty():
    fits = np.array([fits_of("77215"), fits_of("14 March 2026")], np.float32)
    unknown = kind_features(fits, None, None)
    assert unknown.shape == (2, KIND_FEATURES)
    assert np.array_equal(unknown[:, : len(KINDS)], fits) and not unknown[:, len(KINDS) :].any()
    dated = kind_features(fits, Kind.DATE, None)
    assert dated[1].sum() > dated[0].sum() and np.isfinite(dated).all()
