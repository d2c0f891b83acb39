"""Words of evaluation pages, read by our own OCR and kept."""

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from PIL import Image

from engine.documents.limits import OcrChoice, ReadLimits
from engine.documents.reading.open import read_document
from engine.documents.reading.page import ReadPage, ReadWord
from engine.grounded import GroundedPage
from engine.training.evaluation.ocr_words import OcrWords, words_upright
from model.boxes import Box
from tests.support import made_documents as made


def page(image: str | None, size: tuple[int, int] = made.PAPER) -> GroundedPage:
    return GroundedPage("letter", image, *size, words=[], questions=[])


def assert_is_the_letter(words: list, size: tuple[int, int] = made.PAPER) -> None:
    assert [word.text for word in words] == made.WORDS
    assert all(0 <= w.box[0] < w.box[2] <= size[0] and 0 <= w.box[1] < w.box[3] <= size[1] for w in words)


_PROGRAM = """#!/bin/sh
[ "$1" = --list-langs ] && printf 'List of languages\\neng\\n' && exit 0
[ -e "$(dirname "$0")/fails" ] && exit 1
printf 'level\\tblock_num\\tpar_num\\tline_num\\tleft\\ttop\\twidth\\theight\\tconf\\ttext\\n'
read -r magic width height most
printf '5\\t1\\t1\\t1\\t10\\t10\\t90\\t30\\t96\\tTotal\\n'
printf '5\\t1\\t1\\t1\\t110\\t10\\t90\\t30\\t96\\t%s\\n' "$width"
"""


@pytest.fixture
def small_tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of a program named tesseract; it fails while a file `fails` stands beside it.

    It reads two words: "Total", and the width of the picture that it gets, which is enlarged three times.
    """
    program = tmp_path / "bin" / "tesseract"
    program.parent.mkdir()
    program.write_text(_PROGRAM)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    return program.parent


_SMALL = ReadLimits(ocr="tesseract", confinement="off")  # a confined reader starts no script


@pytest.fixture(params=get_args(OcrChoice))
def limits(request: pytest.FixtureRequest) -> ReadLimits:
    """Limits with each choice of engine."""
    if request.param == "tesseract":
        request.getfixturevalue("tesseract")
    return ReadLimits(ocr=request.param)


@pytest.mark.ocr
def test_words_come_in_reading_order_in_pixels_of_the_page(tmp_path: Path, limits: ReadLimits) -> None:
    made.image_file(tmp_path / "letter.png")
    words = OcrWords(tmp_path, limits)(page("letter.png"))
    assert_is_the_letter(words)
    first = words[0]
    assert 60 < first.box[1] < 130  # the first line stands at 80


@pytest.mark.ocr
@pytest.mark.usefixtures("tesseract")
@pytest.mark.parametrize("limits", [ReadLimits(ocr="rapidocr"), ReadLimits(ocr="tesseract")], ids=lambda by: by.ocr)
def test_a_page_that_lies_on_its_side_is_told_in_its_own_pixels(tmp_path: Path, limits: ReadLimits) -> None:
    turned = made.text_image().transpose(Image.Transpose.ROTATE_270)  # clockwise by 90 degrees
    made.image_file(tmp_path / "turned.png", turned)
    words = OcrWords(tmp_path, limits)(page("turned.png", turned.size))
    assert_is_the_letter(words, turned.size)
    first = words[0]
    assert turned.width - 130 < first.box[2] < turned.width - 60  # the first line is the rightmost column now
    assert first.box[3] - first.box[1] > first.box[2] - first.box[0]


@pytest.mark.usefixtures("small_tesseract")
def test_what_was_read_is_kept_by_content_and_language(tmp_path: Path) -> None:
    size = (300, 220)
    made.image_file(tmp_path / "letter.png", made.text_image(["Total"], size=size))
    kept = tmp_path / "kept"
    words = OcrWords(tmp_path, _SMALL, kept_in=kept)(page("letter.png", size))
    assert [word.text for word in words] == ["Total", "900"]
    (file,) = kept.iterdir()
    stored = json.loads(file.read_text(encoding="utf-8"))
    stored["words"] = stored["words"][:1]
    file.write_text(json.dumps(stored), encoding="utf-8")
    (tmp_path / "letter.png").rename(tmp_path / "other.png")  # the same picture under another name
    assert OcrWords(tmp_path, _SMALL, kept_in=kept)(page("other.png", size)) == words[:1]
    for spoiled in (json.dumps(stored | {"version": "0.1"}), "not JSON", json.dumps(stored | {"words": [[1]]}), "[]"):
        file.write_text(spoiled, encoding="utf-8")
        assert OcrWords(tmp_path, _SMALL, kept_in=kept)(page("other.png", size)) == words


@pytest.mark.ocr
@pytest.mark.usefixtures("tesseract")
def test_each_engine_keeps_its_own_reading_with_seconds_and_confidence(tmp_path: Path) -> None:
    made.image_file(tmp_path / "letter.png")
    kept = tmp_path / "kept"
    choices: tuple[OcrChoice, ...] = ("rapidocr", "tesseract")
    for choice in choices:
        ocr = OcrWords(tmp_path, ReadLimits(ocr=choice), kept_in=kept)
        assert (ocr.engine, ocr.language) == (choice, "eng")
        assert ocr.version[0].isdigit()
        reading = ocr.reading(page("letter.png"))
        assert reading.seconds > 0
        assert len(reading.confidences) == len(reading.words)
        assert all(sure is not None and 0.5 < sure <= 1 for sure in reading.confidences)
        again = OcrWords(tmp_path, ReadLimits(ocr=choice), kept_in=kept).reading(page("letter.png"))
        assert again == replace(reading, seconds=round(reading.seconds, 3), warnings=())
    assert len(list(kept.iterdir())) == len(choices)


@pytest.mark.usefixtures("small_tesseract")
def test_pages_read_ahead_come_in_order_and_are_not_read_again(tmp_path: Path) -> None:
    pages = []
    for number in range(5):
        size = (300 + number, 220)
        made.image_file(tmp_path / f"{number}.png", made.text_image([f"Page {number}"], size=size))
        pages.append(page(f"{number}.png", size))
    ocr = OcrWords(tmp_path, _SMALL, workers=2)
    read = list(ocr.read_ahead(pages))
    assert [[word.text for word in reading.words] for _, reading in read] == [
        ["Total", str(900 + 3 * at)] for at in range(5)
    ]
    assert [one.image for one, _ in read] == [one.image for one in pages]
    for number in range(5):
        (tmp_path / f"{number}.png").unlink()
    assert [ocr(one) for one in pages] == [list(reading.words) for _, reading in read]


@pytest.mark.usefixtures("small_tesseract")
def test_one_worker_reads_again_what_was_timed_in_company(tmp_path: Path) -> None:
    made.image_file(tmp_path / "letter.png")
    kept = tmp_path / "kept"
    company = OcrWords(tmp_path, _SMALL, kept_in=kept, workers=2)
    ((_, reading),) = company.read_ahead([page("letter.png")])
    assert reading.at_once == 2
    alone = OcrWords(tmp_path, _SMALL, kept_in=kept).reading(page("letter.png"))
    assert alone.at_once == 1
    assert alone.seconds != reading.seconds
    ((_, reading),) = OcrWords(tmp_path, _SMALL, kept_in=kept, workers=2).read_ahead([page("letter.png")])
    assert (reading.at_once, reading.seconds) == (1, round(alone.seconds, 3))


def test_pages_that_failed_in_company_are_read_alone_at_the_end(tmp_path: Path, small_tesseract: Path) -> None:
    """A program that fails as long as a file stands beside it, and reads afterwards."""
    made.image_file(tmp_path / "letter.png")
    made.image_file(tmp_path / "small.png", made.text_image(["Total"], size=(300, 220)))
    (small_tesseract / "fails").touch()
    told: list[str] = []
    ocr = OcrWords(tmp_path, _SMALL, workers=2, warn=told.append, kept_in=tmp_path / "kept")
    readings = ocr.read_ahead([page("letter.png"), page("small.png", (500, 200))])
    _, first = next(readings)  # both have failed together, and this one has been read again
    (small_tesseract / "fails").unlink()
    _, second = next(readings)
    assert (first.failed, first.at_once) == (True, 1)
    assert ([word.text for word in second.words], second.at_once) == (["Total", "900"], 1)
    assert len(told) == 1
    assert told[0].startswith("Page letter: The OCR engine failed")


def test_a_script_in_place_of_tesseract_is_not_started_and_a_sentence_says_so(
    tmp_path: Path, small_tesseract: Path
) -> None:
    made.image_file(tmp_path / "letter.png")
    read = read_document(
        tmp_path / "letter.png", name="letter.png", limits=ReadLimits(ocr="tesseract"), out_dir=tmp_path
    )
    assert not read.pages[0].words
    assert f"{small_tesseract / 'tesseract'} cannot be started by the process that reads files" in read.warnings[0]


def test_a_page_on_which_the_engine_fails_is_told_and_not_kept(tmp_path: Path, small_tesseract: Path) -> None:
    (small_tesseract / "fails").touch()
    made.image_file(tmp_path / "letter.png")
    told: list[str] = []
    for warn in (told.append, None):  # told or not
        assert OcrWords(tmp_path, _SMALL, kept_in=tmp_path / "kept", warn=warn)(page("letter.png")) == []
    assert told == ["Page letter: The OCR engine failed on page 1."]
    assert not (tmp_path / "kept").exists()


@pytest.mark.ocr
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
        OcrWords(tmp_path, ReadLimits(ocr="tesseract", ocr_language="deu"))


@pytest.mark.parametrize(
    ("rotation", "picture", "box"),
    [
        (0, (300, 200), (10, 20, 60, 35)),
        (90, (200, 300), (165, 10, 180, 60)),
        (180, (300, 200), (240, 165, 290, 180)),
        (270, (200, 300), (20, 240, 35, 290)),
    ],
)
def test_boxes_are_turned_back_with_their_page(rotation: int, picture: tuple[int, int], box: Box) -> None:
    """One word at (10, 20, 60, 35) of a page of 300 x 200 pixels, as it lies after turning clockwise."""
    read = ReadPage(1, *picture, Path("p.png"), rotation, "ocr", (ReadWord("here", box, 0),))
    assert [word.box for word in words_upright(read, (300, 200))] == [(10, 20, 60, 35)]
    assert [word.box for word in words_upright(read, (600, 200))] == [(20, 20, 120, 35)]


@pytest.mark.own_readers  # the limit on memory is of a process of its own
@pytest.mark.parametrize("limits", [ReadLimits(seconds=0.05), ReadLimits(memory_mb=60)], ids=["seconds", "memory"])
def test_a_page_beyond_the_limits_is_told_and_has_no_words(tmp_path: Path, limits: ReadLimits) -> None:
    made.image_file(tmp_path / "letter.png")
    told: list[str] = []
    reading = OcrWords(tmp_path, limits, kept_in=tmp_path / "kept", warn=told.append).reading(page("letter.png"))
    assert reading.failed
    assert told[0].startswith('Page letter: "letter.png" ')
    assert not (tmp_path / "kept").exists()
