"""Words of evaluation pages, read by our own OCR and kept."""

import json
from pathlib import Path

import pytest
from PIL import Image

from engine.documents.limits import ReadLimits
from engine.documents.page import ReadPage, ReadWord
from engine.grounded import GroundedPage
from engine.training.evaluation.ocr_words import OcrWords, words_upright
from tests.support import made_documents as made


def page(image: str | None, size: tuple[int, int] = (1240, 900)) -> GroundedPage:
    return GroundedPage("letter", image, *size, words=[], questions=[])


def assert_is_the_letter(words: list, size: tuple[int, int] = (1240, 900)) -> None:
    assert [word.text for word in words] == made.WORDS
    assert all(0 <= w.box[0] < w.box[2] <= size[0] and 0 <= w.box[1] < w.box[3] <= size[1] for w in words)


@pytest.mark.ocr
@pytest.mark.usefixtures("tesseract")
def test_words_come_in_reading_order_in_pixels_of_the_page(tmp_path: Path) -> None:
    made.image_file(tmp_path / "letter.png")
    words = OcrWords(tmp_path, ReadLimits())(page("letter.png"))
    assert_is_the_letter(words)
    first = words[0]
    assert 60 < first.box[1] < 130  # the first line stands at 80


@pytest.mark.ocr
@pytest.mark.usefixtures("tesseract")
def test_a_page_that_lies_on_its_side_is_told_in_its_own_pixels(tmp_path: Path) -> None:
    turned = made.text_image().transpose(Image.Transpose.ROTATE_270)  # clockwise by 90 degrees
    made.image_file(tmp_path / "turned.png", turned)
    words = OcrWords(tmp_path, ReadLimits())(page("turned.png", turned.size))
    assert_is_the_letter(words, turned.size)
    first = words[0]
    assert turned.width - 130 < first.box[2] < turned.width - 60  # the first line is the rightmost column now
    assert first.box[3] - first.box[1] > first.box[2] - first.box[0]


@pytest.mark.ocr
@pytest.mark.usefixtures("tesseract")
def test_what_was_read_is_kept_by_content_and_language(tmp_path: Path) -> None:
    made.image_file(tmp_path / "letter.png")
    kept = tmp_path / "kept"
    words = OcrWords(tmp_path, ReadLimits(), kept_in=kept)(page("letter.png"))
    (file,) = kept.iterdir()
    stored = json.loads(file.read_text(encoding="utf-8"))
    stored["words"] = stored["words"][:2]
    file.write_text(json.dumps(stored), encoding="utf-8")
    (tmp_path / "letter.png").rename(tmp_path / "other.png")  # the same picture under another name
    assert OcrWords(tmp_path, ReadLimits(), kept_in=kept)(page("other.png")) == words[:2]
    for spoiled in (json.dumps(stored | {"language": "deu"}), "not JSON", '{"language": "eng", "words": [[1]]}', "[]"):
        file.write_text(spoiled, encoding="utf-8")
        assert OcrWords(tmp_path, ReadLimits(), kept_in=kept)(page("other.png")) == words


def test_a_page_on_which_the_engine_fails_is_told_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of that name that knows a language and reads nothing."""
    program = tmp_path / "bin" / "tesseract"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\n[ "$1" = --list-langs ] && printf "List of languages\\neng\\n" && exit 0\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    made.image_file(tmp_path / "letter.png")
    told: list[str] = []
    for warn in (told.append, None):  # told or not
        assert OcrWords(tmp_path, ReadLimits(), kept_in=tmp_path / "kept", warn=warn)(page("letter.png")) == []
    assert told == ["Page letter: The OCR engine failed on page 1. Upload the file again."]
    assert not (tmp_path / "kept").exists()


@pytest.mark.ocr
@pytest.mark.usefixtures("tesseract")
def test_a_page_without_image_is_one_sentence(tmp_path: Path) -> None:
    read = OcrWords(tmp_path, ReadLimits())
    with pytest.raises(ValueError, match="Page letter has no image"):
        read(page(None))
    with pytest.raises(ValueError, match=r"its image .*gone.png does not exist"):
        read(page("gone.png"))


def test_without_an_engine_or_its_language_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"install Tesseract \(Debian: tesseract-ocr and tesseract-ocr-deu\)"):
        OcrWords(tmp_path, ReadLimits(ocr_language="deu"))


@pytest.mark.parametrize(
    ("rotation", "picture", "box"),
    [
        (0, (300, 200), (10, 20, 60, 35)),
        (90, (200, 300), (165, 10, 180, 60)),
        (180, (300, 200), (240, 165, 290, 180)),
        (270, (200, 300), (20, 240, 35, 290)),
    ],
)
def test_boxes_are_turned_back_with_their_page(
    rotation: int, picture: tuple[int, int], box: tuple[int, int, int, int]
) -> None:
    """One word at (10, 20, 60, 35) of a page of 300 x 200 pixels, as it lies after turning clockwise."""
    read = ReadPage(1, *picture, Path("p.png"), rotation, "ocr", (ReadWord("here", box, 0),))
    assert [word.box for word in words_upright(read, (300, 200))] == [(10, 20, 60, 35)]
    assert [word.box for word in words_upright(read, (600, 200))] == [(20, 20, 120, 35)]
