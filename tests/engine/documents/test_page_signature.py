"""Which pages are the same: rescans are, other values on the same print are not."""

import random
from itertools import islice

import pytest
from PIL import Image, ImageDraw

from engine.documents.duplicates.page_signature import (
    alike,
    bands_of,
    fold_words,
    other_numbers,
    other_words,
    signature_of,
)
from engine.synthetic import generate
from engine.synthetic.assemble import SyntheticPage
from tests.support.rescans import clean, other_values, read_again, rescanned, words_of


@pytest.fixture(scope="module")
def pages() -> list[SyntheticPage]:
    return list(islice(generate(1122), 12))


def test_a_page_scanned_and_read_again_is_the_same(pages: list[SyntheticPage]) -> None:
    for number, page in enumerate(pages):
        rng = random.Random(number)
        first = signature_of(clean(page), words_of(page.canvas))
        again = signature_of(rescanned(clean(page), rng), read_again(words_of(page.canvas), 0.02, rng))
        assert alike(first, again), page.page.page_id
        assert not set(bands_of(first, "p")).isdisjoint(bands_of(again, "p")), "the index would not find it"


def test_the_same_print_with_other_values_is_another_page(pages: list[SyntheticPage]) -> None:
    for number, page in enumerate(pages):
        canvas, words = other_values(page, 1.0, random.Random(number))
        assert not alike(signature_of(clean(page), words_of(page.canvas)), signature_of(clean(page, canvas), words))


def test_pages_of_two_projects_never_meet(pages: list[SyntheticPage]) -> None:
    signature = signature_of(clean(pages[0]), words_of(pages[0].canvas))
    assert set(bands_of(signature, "one")).isdisjoint(bands_of(signature, "other"))


def test_an_empty_page_is_like_nothing_not_even_itself() -> None:
    empty = signature_of(Image.new("RGB", (600, 800), "white"), [])
    assert empty.empty
    assert bands_of(empty, "p") == []
    assert not alike(empty, empty)


def test_without_words_the_picture_speaks_alone() -> None:
    first, other = (signature_of(drawing(seed), []) for seed in (1, 2))
    again = signature_of(drawing(1).rotate(0.4, Image.Resampling.BICUBIC, fillcolor="white").resize((500, 640)), [])
    assert alike(first, again)
    assert not alike(first, other)
    assert not set(bands_of(first, "p")).isdisjoint(bands_of(again, "p"))


def test_a_few_words_must_be_equal() -> None:
    one, other = (signature_of(drawing(1), ["Plate", number]) for number in ("12", "13"))
    assert alike(one, one)
    assert not alike(one, other)


def test_a_misread_word_is_like_itself_and_another_value_is_not() -> None:
    line = "invoice number hv20418 total due 298788 for the services of march"
    assert other_words(line, line.replace("services", "scrvices").replace("invoice", "lnvoice")) == 0
    assert other_words(line, line.replace("services", "quantity")) > 0.1
    assert other_words(line, " ".join(reversed(line.split()))) == 0
    three = "10450 20988 31777"
    assert other_numbers(three, "10450 20938 31777") == 0
    assert other_numbers(three, "99021 84613 55555") == 1
    assert other_numbers("10450", "99999") == 0, "one number alone tells nothing"


def test_words_are_compared_without_signs_and_capitals() -> None:
    assert fold_words(["Total:", "--", "2,987.88", "Straße"]) == ["total", "298788", "strasse"]


def drawing(seed: int) -> Image.Image:
    rng = random.Random(seed)
    image = Image.new("RGB", (600, 800), "white")
    draw = ImageDraw.Draw(image)
    for _ in range(6):
        x, y = rng.randrange(500), rng.randrange(700)
        draw.ellipse((x, y, x + rng.randrange(60, 200), y + rng.randrange(60, 200)), fill=rng.randrange(150))
    return image
