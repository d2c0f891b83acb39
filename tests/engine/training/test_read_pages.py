"""Generated pages as OCR really reads them, and the noise model that is fitted to it."""

import json
from itertools import islice
from pathlib import Path

import pytest

from engine.documents.ocr.choose import find_engine
from engine.documents.ocr.engine import OcrEngine
from engine.grounded import GroundedWord
from engine.synthetic import generate
from engine.training.sources.misreadings import fit_misreadings
from engine.training.sources.read_pages import kept_read_pages, with_words
from model.boxes import Box, FloatBox

pytestmark = pytest.mark.ocr


@pytest.fixture(scope="module")
def engine() -> OcrEngine:
    found, _ = find_engine("rapidocr", "eng", 2)
    assert found is not None
    return found


def test_pages_that_were_read_are_kept_and_a_stopped_run_goes_on(tmp_path: Path, engine: OcrEngine) -> None:
    path = tmp_path / "run" / "read.jsonl"
    first = kept_read_pages(path, 3, 1, engine)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"page_id": "cut')  # killed in the middle of a line
    both = kept_read_pages(path, 3, 2, engine)
    assert both[0] == first[0] and both[1].page_id != both[0].page_id
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2
    made = list(islice(generate(3), 2))
    for read, page in zip(both, made, strict=True):
        assert read.page_id == page.page.page_id and len(read.words) > 0.7 * len(page.page.words)
        assert all(at < len(read.words) for question in read.questions for answer in question.answers for at in answer)
        assert any(question.answers for question in read.questions)


def test_an_answer_is_found_again_among_other_words_and_a_lost_one_is_left_out() -> None:
    made = next(generate(5))
    same = with_words(made.page, made.page.words)
    assert [question.question_id for question in same.questions] == [one.question_id for one in made.page.questions]
    far = [GroundedWord("elsewhere", (0, 0, 1, 1))]
    assert not any(question.answers for question in with_words(made.page, far).questions)


def test_a_noise_model_tells_what_was_confused_lost_and_split() -> None:
    made = next(generate(7))
    printed = [p for p in made.canvas.pieces if p.drawn and p.upright and p.text.strip()]
    words = [GroundedWord(p.text.replace("e", "c"), _whole(p.box(tight=True))) for p in printed]
    model = fit_misreadings("made", [(made, with_words(made.page, words[1:]))])
    # Words that are mostly e, or overlap others on this page, say nothing.
    assert model.confusions.keys() == {"e"} and model.confusions["e"].keys() == {"c"}
    assert model.confusions["e"]["c"] > 0.8 * sum(p.text.count("e") for p in printed[1:])
    assert model.losses == pytest.approx(1 / len(printed), abs=0.02)
    assert model.rates[0] == model.rates[-1] > 0
    with pytest.raises(ValueError, match="needs pages with words"):
        fit_misreadings("made", [])


def test_the_shipped_model_is_what_a_fit_writes(tmp_path: Path) -> None:
    from engine.synthetic import misreadings

    shipped = misreadings.load_shipped_model()
    shipped.save(tmp_path / "again.json")
    assert misreadings.Misreadings(**json.loads((tmp_path / "again.json").read_text(encoding="utf-8"))) == shipped
    assert len(shipped.rates) == misreadings.QUANTILES and shipped.rates == sorted(shipped.rates)


def _whole(box: FloatBox) -> Box:
    x0, y0, x1, y1 = (round(value) for value in box)
    return x0, y0, max(x0 + 1, x1), max(y0 + 1, y1)
