"""The grounded format: what is written is read back, and a bad line is named."""

import json
from pathlib import Path

import pytest
from PIL import Image

from engine.grounded import (
    GroundedFormatError,
    GroundedPage,
    GroundedQuestion,
    GroundedWord,
    page_from_json,
    page_to_json,
    read_pages,
    write_pages,
)
from model.kinds import Kind

RLE = {"size": [60, 80], "counts": "PPd02"}


def a_page(page_id: str = "p1") -> GroundedPage:
    words = [GroundedWord("TOTAL:", (5, 5, 30, 12)), GroundedWord("12,50 €", (40, 5, 60, 12))]
    questions = [
        GroundedQuestion("q1", "What is the total?", [[1], [0, 1]], True),
        GroundedQuestion("q2", "signature", [], False, [RLE], "signature"),
        GroundedQuestion("q3", "Who paid?", []),
    ]
    return GroundedPage(page_id, None, 80, 60, words, questions)


def broken(tmp_path: Path, change: dict[str, object]) -> Path:
    file = tmp_path / "pages.jsonl"
    lines = [json.dumps(page_to_json(a_page("good"))), "", json.dumps(page_to_json(a_page("bad")) | change)]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_pages_come_back_as_they_were_written(tmp_path: Path) -> None:
    pages = [a_page("one"), a_page("two")]
    assert write_pages(tmp_path, [(page, None) for page in pages]) == 2
    assert list(read_pages(tmp_path)) == pages
    assert list(read_pages(tmp_path / "pages.jsonl")) == pages


def test_only_a_question_with_answers_or_masks_is_answerable() -> None:
    assert [question.answerable for question in a_page().questions] == [True, True, False]


def test_an_image_is_stored_under_the_name_of_its_page(tmp_path: Path) -> None:
    write_pages(tmp_path, [(a_page("one"), Image.new("RGB", (80, 60), "red"))])
    (page,) = read_pages(tmp_path)
    assert page.image == "images/one.png"
    with Image.open(tmp_path / page.image) as image:
        assert image.size == (80, 60)
        assert image.getpixel((3, 3)) == (255, 0, 0)


def test_an_image_path_cannot_leave_the_folder(tmp_path: Path) -> None:
    page = GroundedPage("one", "../outside.png", 80, 60, [], [])
    with pytest.raises(ValueError, match="leaves the folder"):
        write_pages(tmp_path / "set", [(page, b"image")])
    assert not (tmp_path / "outside.png").exists()


def test_a_failed_export_leaves_the_older_one_alone(tmp_path: Path) -> None:
    write_pages(tmp_path, [(a_page("old"), None)])

    def failing() -> object:
        yield a_page("new"), None
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_pages(tmp_path, failing())  # type: ignore[arg-type]
    assert [page.page_id for page in read_pages(tmp_path)] == ["old"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"page_id": ""}, '"page_id"'),
        ({"width": 0}, '"width"'),
        ({"height": True}, '"height"'),
        ({"words": "TOTAL"}, '"words" must be a list'),
        ({"words": [{"text": "a", "box": [1, 2, 3]}]}, "word 0"),
        ({"words": [{"text": "a", "box": [9, 2, 3, 8]}]}, "ends before it begins"),
        ({"questions": [{"question_id": "q", "question": "x", "answers": [[2]]}]}, "2 words"),
        ({"questions": [{"question_id": "q", "question": "x", "answers": [[-1]]}]}, "-1 is not the index"),
        ({"questions": [{"question_id": "q", "question": "x", "answers": [[]]}]}, "answer 0 is empty"),
        ({"questions": [{"question_id": "q", "question": " ", "answers": []}]}, '"question" must be'),
        ({"questions": [{"question_id": "q", "question": "x"}]}, '"answers" must be a list'),
        (
            {"questions": [{"question_id": "q", "question": "x", "answers": [], "masks": [{"size": [80, 60]}]}]},
            "[height, width]",
        ),
    ],
)
def test_a_bad_line_is_named_with_its_file_and_number(
    tmp_path: Path, change: dict[str, object], complaint: str
) -> None:
    file = broken(tmp_path, change)
    with pytest.raises(GroundedFormatError) as error:
        list(read_pages(file))
    assert str(error.value).startswith(f"{file}, line 3: ")
    assert complaint in str(error.value)


def test_pages_before_the_bad_line_are_read(tmp_path: Path) -> None:
    pages = read_pages(broken(tmp_path, {"width": -4}))
    assert next(pages).page_id == "good"


@pytest.mark.parametrize("line", [b'{"page_id": ', b'\xff\xfe{"page_id": "a"}', b"[1, 2]"])
def test_a_line_that_is_no_json_object_is_named(tmp_path: Path, line: bytes) -> None:
    (tmp_path / "pages.jsonl").write_bytes(line + b"\n")
    with pytest.raises(GroundedFormatError, match="line 1"):
        list(read_pages(tmp_path))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"pages\.jsonl"):
        list(read_pages(tmp_path))


def test_the_kind_of_a_question_is_kept_and_an_unknown_one_is_refused(tmp_path):
    question = GroundedQuestion("q", "When is it due?", [[0]], kind=Kind.DATE)
    page = GroundedPage("p", None, 100, 50, [GroundedWord("3.4.2026", (1, 1, 50, 10))], [question])
    write_pages(tmp_path, [(page, None)])
    assert list(read_pages(tmp_path)) == [page]
    stored = page_to_json(page)
    stored["questions"][0]["kind"] = "colour"
    with pytest.raises(GroundedFormatError, match='"kind" must be one of name, code'):
        page_from_json(stored)
