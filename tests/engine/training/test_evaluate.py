"""Evaluating a predictor: figures on a set whose answers are known, from the function and from the command."""

import json
import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import typer
from typer.testing import CliRunner, Result

from engine.commands.common import output
from engine.commands.training import evaluate as command
from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord, write_pages
from engine.run_lengths import encode_rle
from engine.synthetic import SyntheticPage, generate
from engine.training.augmentation.corruption import corrupt_pages
from engine.training.evaluation.evaluate import evaluate, masks_of
from engine.training.evaluation.lexical_baseline import predict
from engine.training.evaluation.metrics import best_iou
from model.inference import Predictor
from model.masks import rasterise
from tests.support.factories import save_tiny_model
from tests.support.made_documents import text_image

NAMED = (
    "mean_iou",
    "acc_50",
    "questions",
    "unanswerable_auroc",
    "floor_mean_iou",
    "floor_acc_50",
    "ask_ms_p50",
    "ask_ms_p95",
    "word_f1",
    "exact",
    "floor_word_f1",
    "floor_exact",
)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "tiny.safetensors"
    save_tiny_model(path)
    return path


@pytest.fixture(scope="module")
def pages() -> list[SyntheticPage]:
    return list(islice(generate(11), 4))


def invoke(*arguments: str) -> Result:
    app = typer.Typer()
    app.callback()(lambda: None)
    command.register(app)
    return CliRunner().invoke(app, ["evaluate", *arguments])


def run(*arguments: str) -> dict[str, object]:
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    answer: dict[str, object] = json.loads(result.stdout.splitlines()[-1])
    return answer


def test_the_command_prints_the_figures_that_programs_read(
    checkpoint: Path, pages: list[SyntheticPage], tmp_path: Path
) -> None:
    write_pages(tmp_path, [(one.page, one.render()) for one in pages])
    answer = run(str(tmp_path), "--model", str(checkpoint), "--limit", "3", "--clicks", "2", "--json")
    assert set(NAMED) | {"encode_ms_p50"} <= set(answer)
    assert answer["pages"] == 3
    assert answer["questions"] == sum(len(one.page.questions) for one in pages[:3])
    halves = answer["by"]["printed_key"]  # type: ignore[index]
    assert all(set(NAMED) <= set(halves[half]) for half in ("true", "false"))
    answerable = [one for page in pages[:3] for one in page.page.questions if one.answerable]
    assert halves["true"]["questions"] == sum(one.printed_key for one in answerable)
    assert halves["false"]["questions"] == sum(not one.printed_key for one in answerable)
    assert len(answer["mean_iou_after"]) == 2  # type: ignore[arg-type]


def test_a_set_that_is_not_there_is_one_sentence(checkpoint: Path, tmp_path: Path) -> None:
    result = invoke(str(tmp_path / "none"), "--model", str(checkpoint))
    assert result.exit_code == 1
    assert "does not exist" in result.stderr
    assert "Traceback" not in result.output


def test_asking_together_and_one_by_one_score_alike(checkpoint: Path, pages: list[SyntheticPage]) -> None:
    predictor = Predictor.load(checkpoint)
    images = {one.page.page_id: one for one in pages}
    both = [
        evaluate(
            predictor,
            [one.page for one in pages[:2]],
            images_from=lambda page: images[page.page_id].render(),
            timed=timed,
        )
        for timed in (True, False)
    ]
    for one, other in zip(both[0].scored, both[1].scored, strict=True):
        assert one.iou == pytest.approx(other.iou, abs=1e-4)  # batches round differently
        assert one.baseline_iou == other.baseline_iou
        assert one.answered == pytest.approx(other.answered, abs=1e-4)
    assert all(one.milliseconds > 0 for one in both[0].scored)


def test_clicks_on_a_page_of_few_words_lead_to_the_answer(checkpoint: Path) -> None:
    """A click on a word is always obeyed, whatever the network makes of it: so clicks alone reach the answer here."""
    words = [
        GroundedWord(text, (20, 20 + 30 * at, 120, 40 + 30 * at)) for at, text in enumerate(("one", "two", "three"))
    ]
    page = GroundedPage("p", None, 200, 200, words, [GroundedQuestion("q", "Which?", [[1]])])
    found = evaluate(Predictor.load(checkpoint), [page], clicks=4)
    assert found.scored[0].after_clicks[-1] == 1.0


def test_an_answer_that_is_a_region_is_scored_by_its_mask(checkpoint: Path) -> None:
    words = [GroundedWord("alone", (20, 20, 120, 40))]
    exact = dict(encode_rle(rasterise([(20, 20, 120, 40)], (200, 200))))
    apart = dict(encode_rle(rasterise([(20, 120, 120, 140)], (200, 200))))
    questions = [
        GroundedQuestion("q1", "Which word?", [], masks=[apart, exact]),
        GroundedQuestion("q2", "Where is the stamp?", [], masks=[apart]),
    ]
    found = evaluate(Predictor.load(checkpoint), [GroundedPage("p", None, 200, 200, words, questions)])
    assert np.allclose([one.iou for one in found.scored], [1.0, 0.0])  # the only word is the only answer it can give


def test_intervals_hold_the_figures_and_slices_share_out_the_questions(
    checkpoint: Path, pages: list[SyntheticPage], tmp_path: Path
) -> None:
    write_pages(tmp_path, [(one.page, None) for one in pages])
    answer: Any = run(str(tmp_path), "--model", str(checkpoint), "--words-only", "--json")
    for name in ("mean_iou", "acc_50", "word_f1", "exact"):
        for full in (name, f"floor_{name}"):
            low, high = answer["interval"][full]
            assert low <= answer[full] <= high
        low, high = answer["interval"][f"difference_{name}"]
        assert low - 1e-5 <= answer[name] - answer[f"floor_{name}"] <= high + 1e-5
    of_words = sum(bool(question.answers) for one in pages for question in one.page.questions)
    for name in ("regions", "answer_words"):
        assert sum(part["questions"] for part in answer["by"][name].values()) == of_words
    types = Counter(q.region_type for one in pages for q in one.page.questions if q.answerable and q.region_type)
    assert {name: part["questions"] for name, part in answer["by"].get("region_type", {}).items()} == types


def test_the_floor_of_an_evaluation_is_the_floor_of_its_own_words(
    checkpoint: Path, pages: list[SyntheticPage], tmp_path: Path
) -> None:
    """Word F1 and exact of the lexical baseline, told again from the words alone."""
    write_pages(tmp_path, [(one.page, None) for one in pages])
    answer = run(str(tmp_path), "--model", str(checkpoint), "--words-only", "--json")
    found = []
    for one in pages:
        for question in one.page.questions:
            if question.answers:
                taken = set(predict(one.page.words, question.question))
                f1s = [2 * len(taken & set(a)) / (len(taken) + len(set(a))) for a in question.answers]
                found.append(max(f1s))
    assert answer["floor_word_f1"] == pytest.approx(np.mean(found), abs=1e-6)
    assert answer["floor_exact"] == pytest.approx(np.mean([one == 1 for one in found]), abs=1e-6)


def test_noise_and_drop_make_it_harder_and_move_no_box(
    checkpoint: Path, pages: list[SyntheticPage], tmp_path: Path
) -> None:
    write_pages(tmp_path, [(one.page, None) for one in pages])
    common = (str(tmp_path), "--model", str(checkpoint), "--words-only", "--json")
    plain, noisy, dropped = run(*common), run(*common, "--noise", "0.3"), run(*common, "--drop", "0.8")
    assert (noisy["noise"], dropped["drop"], noisy["ocr"]) == (0.3, 0.8, False)
    for harder in (noisy, dropped):
        assert harder["floor_mean_iou"] < plain["floor_mean_iou"]  # type: ignore[operator]
        assert harder["questions"] == plain["questions"]
    expected = []
    for page in corrupt_pages([one.page for one in pages], noise=0.3):
        for question in page.questions:
            if question.answerable:
                size = (page.height, page.width)
                marked = rasterise([page.words[at].box for at in predict(page.words, question.question)], size)
                expected.append(best_iou(marked, masks_of(page, question)))
    assert noisy["floor_mean_iou"] == pytest.approx(np.mean(expected), abs=1e-6)


def test_tables_show_model_and_floor_with_their_intervals(
    checkpoint: Path, pages: list[SyntheticPage], tmp_path: Path
) -> None:
    write_pages(tmp_path, [(one.page, None) for one in pages])
    result = invoke(str(tmp_path), "--model", str(checkpoint), "--words-only", "--clicks", "1")
    assert result.exit_code == 0
    answer: Any = run(str(tmp_path), "--model", str(checkpoint), "--words-only", "--json")
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("word F1 ")]
    assert re.fullmatch(r"word F1( +\.\d{3} \(\.\d\d - \.\d\d\)){2} +[+-]\.\d{3} \([+-]\.\d\d - [+-]\.\d\d\) *", line)
    assert f"{answer['word_f1']:.3f}"[1:] in line
    assert f"{answer['floor_word_f1']:.3f}"[1:] in line
    assert "9 words and more" in result.stdout
    assert "mean IoU after 1 click" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_report_is_written_with_pictures_of_the_pages(
    checkpoint: Path, pages: list[SyntheticPage], tmp_path: Path
) -> None:
    write_pages(tmp_path, [(one.page, one.render()) for one in pages[:2]])
    result = invoke(str(tmp_path), "--model", str(checkpoint), "--report", str(tmp_path / "report.html"))
    assert result.exit_code == 0, result.output
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 1 <= html.count("data:image/jpeg;base64,") <= 40
    assert "The worst" in html
    assert "report.html" in result.stderr


@pytest.mark.ocr
def test_words_of_our_own_ocr_are_asked_and_scored_against_the_given_words(checkpoint: Path, tmp_path: Path) -> None:
    """A page whose given words have other texts and other numbers than what is printed: OCR must not see them."""
    image = text_image(["Invoice number: A-1093"], size=(900, 160))
    words = [GroundedWord("zzz", (0, 150, 9, 159)), GroundedWord("given", (440, 60, 640, 140))]
    questions = [GroundedQuestion("q", "What is the invoice number?", [[1]], True)]
    page = GroundedPage("p", "images/p.png", *image.size, words, questions)
    write_pages(tmp_path / "set", [(page, image)])
    common = (str(tmp_path / "set"), "--model", str(checkpoint), "--json", "--ocr")
    answer = run(*common, "--ocr-cache", str(tmp_path / "kept"), "--ocr-workers", "1")
    assert answer["ocr"] is True
    assert [answer[name] for name in ("word_f1", "exact", "floor_word_f1", "floor_exact")] == [None] * 4
    assert answer["floor_mean_iou"] > 0.1  # type: ignore[operator]
    assert answer["floor_mean_iou"] <= answer["reachable_mean_iou"] < 1  # type: ignore[operator]
    assert len(list((tmp_path / "kept").iterdir())) == 1
    assert answer["reachable_text_exact"] == 0.0  # "A-1093" is printed where the set says "given"
    words_read: Any = answer["ocr_words"]
    assert (words_read["engine"], words_read["pages"], words_read["given"], words_read["read"]) == ("rapidocr", 1, 2, 3)
    assert (words_read["recall"], words_read["precision"]) == (0.0, 0.0)
    assert words_read["seconds_p50"] > 0
    given = run(str(tmp_path / "set"), "--model", str(checkpoint), "--json")
    assert given["floor_mean_iou"] == 0.0
    assert not {"reachable_mean_iou", "text_exact", "place_mean_iou", "ocr_words"} & set(given)


@pytest.mark.ocr
@pytest.mark.parametrize("engine", ["rapidocr", "tesseract"])
def test_the_tables_on_words_of_ocr_tell_text_place_and_words(
    checkpoint: Path, tmp_path: Path, engine: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if engine == "tesseract":
        request.getfixturevalue("tesseract")
    monkeypatch.setattr(output, "width", 80)  # as on a narrow terminal
    image = text_image(["Invoice number: A-1093"], size=(900, 160))
    boxes = {"Invoice": (80, 80, 230, 130), "number:": (235, 80, 400, 130), "A-1093": (405, 80, 560, 130)}
    words = [GroundedWord(text, box) for text, box in boxes.items()]
    questions = [GroundedQuestion("q", "What is the invoice number?", [[2]], True)]
    write_pages(tmp_path / "set", [(GroundedPage("p", "images/p.png", *image.size, words, questions), image)])
    report = tmp_path / "report.html"
    common = (str(tmp_path / "set"), "--model", str(checkpoint), "--ocr", "--ocr-engine", engine)
    kept = ("--ocr-cache", str(tmp_path / "kept"), "--ocr-workers", "1")
    result = invoke(*common, *kept, "--report", str(report))
    assert result.exit_code == 0, result.output
    shown = " ".join(result.stdout.split())
    for sentence in ("recall of words 1.000 (1.00 - 1.00)", "precision of words 1.000", "3 words read, 3 given."):
        assert sentence in shown
    assert "text exact, reachable 1.000" in shown
    assert f"words from OCR by {engine}" in shown
    assert "word F1" not in shown
    assert max(map(len, result.stdout.splitlines())) <= 80
    html = report.read_text(encoding="utf-8")
    assert "recall of words" in html
    assert "text, exact" in html
    answer: Any = run(*common, *kept, "--json")
    assert answer["floor_text_exact"] == answer["floor_place_acc_50"] == 1.0
    assert answer["interval"]["floor_text_exact"] == [1.0, 1.0]
    assert answer["by"]["printed_key"]["true"]["floor_text_anls"] == 1.0


def test_the_best_iou_that_other_words_can_reach_is_measured(checkpoint: Path) -> None:
    """Asked are two halves of the given word, one twice as high as it is, and a word beside it."""
    page = GroundedPage(
        "p", None, 200, 200, [GroundedWord("given", (20, 20, 120, 40))], [GroundedQuestion("q", "Which?", [[0]])]
    )
    asked = [
        GroundedWord("gi", (20, 20, 70, 40)),
        GroundedWord("ven", (70, 20, 120, 60)),
        GroundedWord("no", (130, 20, 180, 40)),
    ]
    found = evaluate(Predictor.load(checkpoint), [page], words_from=lambda _: asked)
    assert found.scored[0].reachable_iou == pytest.approx(2000 / 3000)
    assert found.scored[0].word_f1 is None


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--noise", "1.5"), "between 0 and 1"),
        (("--drop", "-0.1"), "between 0 and 1"),
        (("--ocr", "--words-only"), "Use one of them"),
        (("--ocr", "--noise", "0.1"), "Use one of them"),
        (("--ocr-cache", "x"), "--ocr-cache has no effect without --ocr. Give both"),
        (("--ocr-engine", "auto"), "--ocr-engine has no effect without --ocr. Give both"),
        (("--ocr-workers", "2"), "--ocr-workers has no effect without --ocr. Give both"),
        (("--report", "nowhere/report.html"), "existing folder"),
        (("--ocr",), "Page p1 has no image"),
        (("--limit", "2"), "does not exist; add it, or use --words-only"),
    ],
)
def test_what_cannot_be_measured_is_one_sentence(
    checkpoint: Path, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    words = [GroundedWord("alone", (20, 20, 120, 40))]
    questions = [GroundedQuestion("q", "Which?", [[0]])]
    write_pages(tmp_path, [(GroundedPage(f"p{at}", None, 200, 200, words, questions), None) for at in (1, 2)])
    if "--limit" in arguments:
        lines = (tmp_path / "pages.jsonl").read_text().replace('"image": null', '"image": "images/gone.png"')
        (tmp_path / "pages.jsonl").write_text(lines)
    result = invoke(str(tmp_path), "--model", str(checkpoint), *arguments)
    assert result.exit_code in (1, 2)
    assert sentence in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_a_set_without_pages_has_no_figures(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text("")
    answer: Any = run(str(tmp_path), "--model", str(checkpoint), "--json")
    assert (answer["pages"], answer["mean_iou"], answer["interval"]["exact"]) == (0, None, None)
    result = invoke(str(tmp_path), "--model", str(checkpoint), "--report", str(tmp_path / "report.html"))
    assert result.exit_code == 0, result.output
