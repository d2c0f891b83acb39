"""Answers on words of OCR as a person judges them: text, place, and the words of the page."""

from pathlib import Path

import pytest

from engine.documents.limits import ReadLimits
from engine.fields.answer_text import anls, is_exact, normalise, without_punctuation
from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.run_lengths import encode_rle
from engine.training.evaluation.evaluate import masks_of
from engine.training.evaluation.judged import Judged, judge
from engine.training.evaluation.ocr_reading import OcrReading
from engine.training.evaluation.ocr_words import OcrWords
from engine.training.evaluation.word_recall import WordRecall, matched_words
from model.masks import rasterise
from tests.support import made_documents as made

SIZE = (200, 400)  # height and width of the page


def words(*rows: tuple[str, int, int, int, int]) -> list[GroundedWord]:
    return [GroundedWord(text, (x0, y0, x1, y1)) for text, x0, y0, x1, y1 in rows]


GIVEN = words(
    ("Total:", 20, 20, 100, 60), ("9/", 110, 20, 140, 60), ("3/92", 140, 20, 200, 60), ("Sum", 20, 80, 90, 120)
)
# Tighter boxes, other cuts, a capital more: the same print for a person.
READ = words(("TOTAL:", 22, 34, 96, 46), ("9/3/92", 112, 34, 197, 46), ("Sun", 22, 94, 86, 106))


def judged(read: list[GroundedWord], *answer: int, of: tuple[int, ...] = (1, 2)) -> Judged | None:
    page = GroundedPage("p", None, SIZE[1], SIZE[0], GIVEN, [GroundedQuestion("q", "Which?", [list(of)])])
    mask = rasterise([read[at].box for at in answer], SIZE)
    found = (mask, list(answer))
    question = page.questions[0]
    return judge(page, question, read, acceptable=masks_of(page, question), model=found, baseline=found)


def test_a_tighter_box_of_the_right_words_is_the_right_place_and_text() -> None:
    found = judged(READ, 1)
    assert found is not None
    assert found.model == found.baseline
    assert (found.model.anls, found.model.exact, found.model.place_iou) == (1.0, True, 1.0)
    assert found.reachable_exact


def test_a_misread_letter_leaves_the_place_and_most_of_anls() -> None:
    found = judged(READ, 2, of=(3,))
    assert found is not None
    assert found.model.anls == pytest.approx(2 / 3)
    assert (found.model.exact, found.model.place_iou, found.reachable_exact) == (False, 1.0, False)


def test_words_beside_the_answer_cost_place_and_text() -> None:
    found = judged(READ, 0, 1)
    assert found is not None
    answer, beside = 30 * 40 + 60 * 40, 80 * 40
    assert found.model.place_iou == pytest.approx(answer / (answer + beside))
    assert not found.model.exact
    assert found.reachable_exact  # by the right words alone


def test_nothing_marked_is_nothing_found() -> None:
    found = judged(READ)
    assert found is not None
    assert (found.model.anls, found.model.exact, found.model.place_iou) == (0.0, False, 0.0)


def test_a_region_has_no_text_to_judge() -> None:
    mask = rasterise([(10, 10, 50, 50)], SIZE)
    question = GroundedQuestion("q", "Where?", [], masks=[dict(encode_rle(mask))])
    page = GroundedPage("p", None, SIZE[1], SIZE[0], GIVEN, [question])
    assert judge(page, question, READ, acceptable=[mask], model=(mask, []), baseline=(mask, [])) is None


def test_case_and_white_space_are_equal_and_nothing_else() -> None:
    assert is_exact("  9/ 3/ 92 ", ["9/3/92"])
    assert is_exact("Ma\u0308rz", ["m\u00c4RZ"])  # decomposed and composed
    for text, other in (("9-3-92", "9/3/92"), ("Strasse", "Straße"), ("Sum.", "Sum"), ("été", "ete")):
        assert not is_exact(text, [other])
    assert without_punctuation("(Sum: $9.50)") == without_punctuation("sum 950")
    assert normalise("\u3000東 京") == "東京"


@pytest.mark.parametrize(
    ("text", "acceptable", "score"),
    [
        ("invoice", ["Invoice"], 1.0),
        ("invoce", ["Invoice"], 1 - 1 / 7),
        ("abcd", ["abxy"], 0.0),  # a distance of one half counts as wrong
        ("abcde", ["abcxy"], 0.6),
        ("", ["Invoice"], 0.0),
        ("42", ["Invoice", "421"], 1 - 1 / 3),  # the nearest acceptable text counts
        ("42", [], 0.0),
    ],
)
def test_anls_is_the_paper_s(text: str, acceptable: list[str], score: float) -> None:
    assert anls(text, acceptable) == pytest.approx(score)


def test_words_are_matched_one_to_one_by_text_and_place() -> None:
    box = (20, 20, 60, 40)
    twice = words(("No", *box), ("No", 100, 20, 140, 40))
    assert matched_words(twice, words(("no", 22, 24, 58, 36))) == [(0, 0)]
    assert matched_words(twice, words(("No", *box), ("No", *box))) == [(0, 0)]  # read twice is right once
    assert matched_words(twice, words(("No", 300, 20, 340, 40))) == []
    assert matched_words(words(("No", 20, 20, 60, 40)), words(("Nr", *box))) == []
    # Of two given words in reach the one with the larger overlap is taken, whatever the order.
    near = words(("No", 48, 20, 88, 40), ("No", 20, 20, 60, 40))
    assert matched_words(near, words(("No", 24, 20, 64, 40))) == [(1, 0)]


def test_recall_and_precision_are_over_the_words_of_all_pages() -> None:
    found = WordRecall()
    page = GroundedPage("p", None, SIZE[1], SIZE[0], GIVEN, [])
    found.add(page, OcrReading(tuple(READ), (0.9, 0.8, 0.3), 2.0, 1))
    bare = [GroundedWord(word.text.replace(":", ""), word.box) for word in GIVEN[:1]]
    found.add(
        GroundedPage("bare", None, SIZE[1], SIZE[0], [*bare, *words((":", 100, 20, 104, 60))], []),
        OcrReading(tuple(READ[:1]), (0.7,), 4.0, 2),
    )
    found.add(GroundedPage("empty", None, SIZE[1], SIZE[0], GIVEN[:1], []), OcrReading((), (), 3.0, 2))
    figures = found.to_json()
    assert (figures["pages"], figures["pages_without_words"], figures["given"], figures["read"]) == (3, 1, 7, 4)
    assert figures["recall"] == pytest.approx(1 / 7, abs=1e-6)  # "Total:" on the first page
    assert figures["precision"] == pytest.approx(1 / 4)
    assert figures["recall_without_punctuation"] == pytest.approx(2 / 6, abs=1e-6)  # ":" alone is left out
    assert figures["precision_without_punctuation"] == pytest.approx(2 / 4)
    assert figures["confidence_auroc"] == 1.0  # the right word is the surest
    assert (figures["seconds_p50"], figures["at_once"]) == (3.0, 2)
    for name, (low, high) in figures["interval"].items():
        assert low <= figures[name] <= high


def test_without_pages_nothing_is_measured() -> None:
    figures = WordRecall().to_json()
    assert (figures["recall"], figures["seconds_p50"], figures["interval"]["precision"]) == (None, None, None)


@pytest.mark.ocr
def test_the_words_of_a_clean_letter_are_all_found(tmp_path: Path) -> None:
    """Given are the words of the PDF's text layer, read are those of its picture."""
    from engine.documents.reading.open import read_document

    made.text_pdf(tmp_path / "letter.pdf")
    layer = read_document(tmp_path / "letter.pdf", name="letter", limits=ReadLimits(), out_dir=tmp_path).pages[0]
    given = [GroundedWord(word.text, word.box) for word in layer.words]
    page = GroundedPage("letter", layer.image_path.name, layer.width, layer.height, given, [])
    found = WordRecall()
    found.add(page, OcrWords(tmp_path, ReadLimits()).reading(page))
    figures = found.to_json()
    assert (figures["recall"], figures["precision"]) == (1.0, 1.0)
