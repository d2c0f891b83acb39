"""Pages in other languages for the OCR benchmark: given words are those that were typed."""

from pathlib import Path

import pytest
from PIL import Image

from engine.grounded import GroundedWord
from tests.benchmarks.languages.pages import by_characters, made_pages
from tests.benchmarks.languages.texts import TEXTS, Text


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)
def test_the_given_words_of_a_page_are_those_that_were_typed(text: Text, tmp_path: Path) -> None:
    typed = [text.title, *text.prose]
    for key, value in text.fields:
        typed += [key if text.by_character else f"{key}:", value]
    for page in made_pages(text, tmp_path, 2):
        given = by_characters(page.words) if text.by_character else page.words
        expected = "".join(typed) if text.by_character else " ".join(typed).split()
        assert sorted(word.text for word in given) == sorted(expected)
        assert page.image is not None
        with Image.open(tmp_path / page.image) as image:
            assert image.size == (page.width, page.height)


def test_characters_share_the_width_of_their_word() -> None:
    cut = by_characters([GroundedWord("図書館", (10, 5, 40, 20))])
    assert cut == [
        GroundedWord("図", (10, 5, 20, 20)),
        GroundedWord("書", (20, 5, 30, 20)),
        GroundedWord("館", (30, 5, 40, 20)),
    ]
    assert [word.box[2] for word in by_characters([GroundedWord("7月15", (0, 0, 106, 20))])] == [22, 62, 84, 106]
