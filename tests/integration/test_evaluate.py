"""Evaluating a predictor: figures on a set whose answers are known, from the function and from the command."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
import typer
from typer.testing import CliRunner

from engine.commands import evaluate as command
from engine.interchange.grounded import GroundedPage, GroundedQuestion, GroundedWord, write_pages
from engine.interchange.rle import encode_rle
from engine.synthetic import SyntheticPage, generate
from engine.training.evaluate import evaluate
from model.inference import Predictor
from model.masks import rasterise
from tests.factories import save_tiny_model

NAMED = (
    "mean_iou",
    "acc_50",
    "questions",
    "unanswerable_auroc",
    "floor_mean_iou",
    "floor_acc_50",
    "ask_ms_p50",
    "ask_ms_p95",
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


def run(*arguments: str) -> dict[str, object]:
    app = typer.Typer()
    app.callback()(lambda: None)
    command.register(app)
    result = CliRunner().invoke(app, ["evaluate", *arguments])
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
    app = typer.Typer()
    app.callback()(lambda: None)
    command.register(app)
    result = CliRunner().invoke(app, ["evaluate", str(tmp_path / "none"), "--model", str(checkpoint)])
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
        assert one.floor_iou == other.floor_iou
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
    exact = encode_rle(rasterise([(20, 20, 120, 40)], (200, 200)))
    apart = encode_rle(rasterise([(20, 120, 120, 140)], (200, 200)))
    questions = [
        GroundedQuestion("q1", "Which word?", [], masks=[apart, exact]),
        GroundedQuestion("q2", "Where is the stamp?", [], masks=[apart]),
    ]
    found = evaluate(Predictor.load(checkpoint), [GroundedPage("p", None, 200, 200, words, questions)])
    assert np.allclose([one.iou for one in found.scored], [1.0, 0.0])  # the only word is the only answer it can give
