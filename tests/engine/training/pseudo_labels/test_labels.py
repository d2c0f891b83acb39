"""Labels of pages that nobody has labelled: which are kept, how they are cut into bands, and what is never learned."""

import json
from pathlib import Path

import pymupdf
import pytest
from typer.testing import CliRunner

from engine.cli import app
from engine.grounded import read_pages
from engine.training.pseudo_labels.labels import BAND_WORDS, bands, label_page, with_negatives
from engine.training.pseudo_labels.precision import measure
from model.inference import Predictor
from tests.support.key_lines import COLUMN, TEXT, page


@pytest.fixture(scope="module")
def predictor():
    return Predictor.load()


def labelled(predictor, words, size=(900, 1200), seed=1):
    layout, labels = label_page(predictor, words, size)
    return labels, list(bands("page", words, size, layout, labels, seed))


def test_a_plain_value_is_labelled_and_its_words_are_those_beside_the_key(predictor):
    words = page(*COLUMN, *TEXT)
    labels, parts = labelled(predictor, words)
    assert {" ".join(words[at].text for at in one.value) for one in labels if one.plain} == {"A-17", "Cash", "Ann Lee"}
    answered = {" ".join(parts[0].words[at].text for at in question.answers[0]) for question in parts[0].questions}
    assert {"A-17", "Cash", "Ann Lee"} <= answered


def test_a_long_page_is_cut_between_lines_into_bands_that_hold_key_and_value(predictor):
    rows = [
        ((f"Key {chr(97 + row % 26)}{chr(97 + row // 26)}:", 20), (f"Value {row} of this line", 260))
        for row in range(90)
    ]
    words = page(*rows)
    _, parts = labelled(predictor, words, size=(900, 2800))
    assert len(parts) > 1
    assert sum(len(part.words) for part in parts) == len(words)
    for part in parts:
        assert len(part.words) <= BAND_WORDS + 20
        assert all(0 <= word.box[1] < word.box[3] <= part.height for word in part.words)
        for question in part.questions:
            line = {part.words[at].box[1] for at in question.answers[0]}
            assert len(line) == 1 and part.words[question.answers[0][0]].text == "Value"


def test_equal_seeds_give_equal_questions(predictor):
    words = page(*COLUMN, *TEXT)
    assert labelled(predictor, words, seed=4)[1] == labelled(predictor, words, seed=4)[1]
    assert labelled(predictor, words, seed=4)[1] != labelled(predictor, words, seed=5)[1]


def test_a_negative_question_shares_no_word_with_its_page(predictor):
    one = labelled(predictor, page(*COLUMN, *TEXT))[1]
    other = labelled(
        predictor,
        page(*[((f"{name} fee:", 20), ("12.00", 260)) for name in ("Harbour", "Tower", "Bridge", "Garden")], *TEXT),
    )[1]
    pages = with_negatives([*one, *other] * 8, 3)
    negatives = [(found, question) for found in pages for question in found.questions if not question.answers]
    assert negatives
    for found, question in negatives:
        there = {token.lower().strip(":") for word in found.words for token in word.text.split()}
        assert (
            not {"order", "billing", "sales", "harbour", "tower", "bridge", "garden"}
            & there
            & set(question.question.lower().replace("?", "").split())
        )


def letter(path: Path, rows=COLUMN) -> Path:
    document = pymupdf.open()
    sheet = document.new_page()
    for at, line in enumerate(rows):
        for text, x in line:
            sheet.insert_text((40 + x, 80 + 24 * at), text, fontsize=11)
    for at in range(12):
        sheet.insert_text((60, 300 + 20 * at), "This paragraph says nothing that anybody would ask for.", fontsize=11)
    document.save(path)
    return path


def test_the_command_writes_a_dataset_and_reads_no_file_twice(tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    letter(corpus / "one.pdf")
    (corpus / "broken.pdf").write_bytes(b"%PDF-1.4 nothing more")
    done = CliRunner().invoke(app, ["pseudo-label", str(corpus), str(tmp_path / "out"), "--workers", "1"])
    assert done.exit_code == 0, done.output
    assert "Left out: " in done.output and "broken.pdf" in done.output
    (found,) = read_pages(tmp_path / "out")
    assert found.page_id.startswith("one.pdf#1")
    assert {question.printed_key for question in found.questions if question.answers} == {True}
    read_once = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "documents").rglob("*.zip")}
    again = CliRunner().invoke(app, ["pseudo-label", str(corpus), str(tmp_path / "out"), "--json"])
    assert json.loads(again.output.splitlines()[-1])["plain"] == 3
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "documents").rglob("*.zip")} == read_once


def test_precision_counts_labels_that_people_have_answered(predictor):
    _, parts = labelled(predictor, page(*COLUMN, *TEXT))
    found = measure(predictor, parts)
    assert found.plain_right == found.plain
