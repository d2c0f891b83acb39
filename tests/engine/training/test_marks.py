"""Evaluating on hand-drawn marks: the file of marks, the files in a folder, their pages, figures and the command."""

import json
from pathlib import Path
from typing import Any

import pymupdf
import pytest
import torch
import typer
from typer.testing import CliRunner, Result

from db.blobs import sha256_of
from engine.commands.training import evaluate as command
from engine.documents.limits import ReadLimits
from engine.training.evaluation import marked_pages as reading
from engine.training.evaluation.evaluate_marks import evaluate_marks
from engine.training.evaluation.marked_pages import marked_pages
from engine.training.evaluation.marks import MarksFormatError, find_files, read_marks
from engine.training.evaluation.marks_figures import MarkScore, to_json
from model.inference import Predictor
from tests.support.factories import save_tiny_model

SIZE = 1240, 1754  # of an A4 page at 150 dpi
BOX = [208, 417, 375, 521]  # of the rectangle that `form` draws, in pixels


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.safetensors"
    save_tiny_model(path)
    return path


@pytest.fixture
def form(tmp_path: Path) -> Path:
    """A page with a line of text and a rectangle."""
    path = tmp_path / "files" / "forms" / "form.pdf"
    path.parent.mkdir(parents=True)
    with pymupdf.open() as document:
        page = document.new_page(width=595.2, height=841.92)
        page.insert_text((72, 72), "Registration of a small boat", fontsize=12)
        page.draw_rect(pymupdf.Rect(100, 200, 180, 250))
        document.save(path)
    return path


def row(path: Path, **other: Any) -> dict[str, Any]:
    """A mark on the rectangle of `form`."""
    about = {"file": path.name, "sha256": sha256_of(path), "page": 1, "width": SIZE[0], "height": SIZE[1]}
    return {**about, "question": "Where is the stamp?", "region_type": "stamp", "box": BOX} | other


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(one) for one in rows) + "\n", encoding="utf-8")
    return path


def invoke(*arguments: str) -> Result:
    app = typer.Typer()
    app.callback()(lambda: None)
    command.register(app)
    return CliRunner().invoke(app, ["evaluate", *arguments])


def test_a_mark_fits_the_page_at_another_resolution(form: Path, tmp_path: Path) -> None:
    boxed, masked = read_marks(
        write(
            tmp_path / "marks.jsonl",
            row(form),
            row(form, box=None, mask={"size": [1754, 1240], "counts": [0, 1754 * 620, 1754 * 620]}),
        )
    )
    assert boxed.pixels(SIZE).sum() == (375 - 208) * (521 - 417)
    half = boxed.pixels((620, 877))
    assert half[240, 150] and not half[240, 200] and abs(half.sum() * 4 - boxed.pixels(SIZE).sum()) < 400
    assert masked.pixels(SIZE)[:, :620].all() and not masked.pixels((620, 877))[:, 312:].any()


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"box": [375, 417, 208, 521]}, "is empty or leaves the page"),
        ({"box": [0, 0, 1241, 10]}, "leaves the page of 1240 x 1754"),
        ({"box": None}, 'either "box" or "mask"'),
        ({"question": " "}, '"question" must be a text'),
        ({"page": 0}, '"page" must be a whole number'),
        ({"sha256": "abc"}, "64 digits"),
        ({"box": None, "mask": {"size": [1, 2], "counts": ""}}, "of size [1754, 1240]"),
    ],
)
def test_a_malformed_mark_is_named_with_its_line(form: Path, tmp_path: Path, other: dict[str, Any], told: str) -> None:
    path = write(tmp_path / "marks.jsonl", row(form), row(form, **other))
    with pytest.raises(MarksFormatError, match="line 2: ") as refused:
        read_marks(path)
    assert told in str(refused.value)


def test_missing_and_changed_files_are_named(form: Path, tmp_path: Path) -> None:
    marks = read_marks(
        write(
            tmp_path / "marks.jsonl",
            row(form),
            row(form, file="lost.pdf", sha256="1" * 64),
            row(form, sha256="2" * 64),
        )
    )
    found = find_files(tmp_path / "files", marks)
    assert dict(found.paths) == {sha256_of(form): form}
    assert found.sentences == [
        "lost.pdf is not in the folder; the marks on it are not judged.",
        "form.pdf is not as it was marked; the marks on it are not judged.",
    ]


def test_pages_are_read_as_uploads_and_kept(form: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = read_marks(write(tmp_path / "marks.jsonl", row(form), row(form, page=2)))
    found = find_files(tmp_path / "files", marks)
    told: list[str] = []

    def pages() -> list[Any]:
        return list(marked_pages(marks, found.paths, limits=ReadLimits(), kept_in=tmp_path / "kept", warn=told.append))

    (page,) = pages()
    assert (page.width, page.height) == SIZE and [word.text for word in page.words][:2] == ["Registration", "of"]
    assert [one.region_type for one in page.questions] == ["stamp"]
    assert told == ["form.pdf has no page 2; its marks are not judged."]
    monkeypatch.setattr(reading, "read_document", None)  # the second time nothing is read
    assert pages() == [page]


def test_a_page_that_was_read_turned_is_not_judged(form: Path, tmp_path: Path) -> None:
    marks = read_marks(write(tmp_path / "marks.jsonl", row(form, width=SIZE[1], height=SIZE[0])))
    told: list[str] = []
    paths = find_files(tmp_path / "files", marks).paths
    assert not list(marked_pages(marks, paths, limits=ReadLimits(), kept_in=tmp_path, warn=told.append))
    assert told == ["Page 1 of form.pdf was read turned; its marks are not judged."]


def test_each_question_is_asked_without_and_with_clicks(checkpoint: Path, form: Path, tmp_path: Path) -> None:
    marks = read_marks(write(tmp_path / "marks.jsonl", row(form), row(form, question="stamp")))
    pages = marked_pages(marks, {sha256_of(form): form}, limits=ReadLimits(), kept_in=tmp_path / "kept")
    found = evaluate_marks(Predictor.load(checkpoint), pages, clicks=2)
    assert found.pages == 1 and len(found.scores) == 2
    assert all(len(one.after) == 2 and len(one.pixel_after) == 2 for one in found.scores)
    assert found.to_json()["clicks"] == [1, 2]


def score(iou: float, *, answered: float = 0.9, shown: bool = True, kind: str = "stamp", file: str = "a") -> MarkScore:
    return MarkScore(
        file=file,
        region_type=kind,
        shown=shown,
        answered=answered,
        iou=iou,
        after=(1.0,),
        pixel_iou=iou / 2,
        pixel_after=(0.5,),
    )


def test_every_answer_is_right_near_wrong_or_declined() -> None:
    scores = [score(0.6), score(0.5), score(0.05), score(0.05, answered=0.4), score(0.0, shown=False)]
    assert [one.outcome for one in scores] == ["right", "near", "wrong", "declined", "declined"]
    figures = to_json([*scores, score(0.9, kind="seal", file="b")], [1])
    assert figures["by_type"]["stamp"]["declined"] == 0.4 and figures["by_type"]["seal"]["right"] == 1
    assert figures["questions"] == 6 and figures["files"] == 2 and list(figures["by_type"]) == ["stamp", "seal"]
    assert figures["by_type"]["stamp"]["pixel_mean_iou_after_1"] == 0.5
    assert figures["interval"]["mean_iou"][0] <= figures["mean_iou"] <= figures["interval"]["mean_iou"][1]


def test_the_command_prints_figures_by_type(checkpoint: Path, form: Path, tmp_path: Path) -> None:
    marks = write(tmp_path / "marks.jsonl", row(form), row(form, file="lost.pdf", sha256="1" * 64))
    given = [str(tmp_path / "files"), "--marks", str(marks), "--model", str(checkpoint), "--clicks", "1"]
    result = invoke(*given, "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout.splitlines()[-1])
    assert answer["questions"] == 1 and answer["missing"] == ["lost.pdf"] and list(answer["by_type"]) == ["stamp"]
    assert "lost.pdf is not in the folder" in result.output
    table = invoke(*given)
    assert table.exit_code == 0 and "declined" in table.stdout and "after 1" in table.stdout


@pytest.mark.parametrize("option", [["--ocr"], ["--noise", ".1"], ["--report", "page.html"], ["--words-only"]])
def test_options_of_other_sets_are_refused_with_marks(form: Path, tmp_path: Path, option: list[str]) -> None:
    result = invoke(str(form.parent), "--marks", str(write(tmp_path / "marks.jsonl", row(form))), *option)
    assert result.exit_code == 2 and f"{option[0]} has no effect with --marks" in result.output


def test_a_folder_without_the_marked_files_is_refused(form: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = invoke(str(empty), "--marks", str(write(tmp_path / "marks.jsonl", row(form))))
    assert result.exit_code == 1 and "None of the marked files is in" in result.output
