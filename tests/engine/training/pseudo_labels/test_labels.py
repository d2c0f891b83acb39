"""Labels of pages that nobody has labelled: which are kept, how they are cut into bands, and what is never learned."""

import json
from pathlib import Path

import pymupdf
import pytest
from typer.testing import CliRunner

from engine.cli import app
from engine.documents.limits import ReadLimits
from engine.grounded import read_pages
from engine.training.judging_files import judging_files
from engine.training.pseudo_labels.corpus import documents_of, read_corpus
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
    assert "broken.pdf is left out" in done.output
    (found,) = read_pages(tmp_path / "out")
    assert {question.printed_key for question in found.questions if question.answers} == {True}
    kept = (tmp_path / "out" / "read.jsonl").read_text()
    assert [json.loads(line)["name"] for line in kept.splitlines()] == ["one.pdf"]
    (corpus / "one.pdf").write_bytes(b"changed")
    again = CliRunner().invoke(app, ["pseudo-label", str(corpus), str(tmp_path / "out"), "--json"])
    assert json.loads(again.output.splitlines()[-1])["plain"] == 3


def test_only_the_wanted_pages_are_kept_and_more_are_read_when_more_are_wanted(tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    with pymupdf.open(letter(tmp_path / "page.pdf")) as one, pymupdf.open() as three:
        for _ in range(3):
            three.insert_pdf(one)
        three.save(corpus / "three.pdf")
    cache = tmp_path / "read.jsonl"
    assert [one.page_id for one in read_corpus(corpus, cache, ReadLimits(), pages=1)] == ["three.pdf#1"]
    assert len(read_corpus(corpus, cache, ReadLimits(), pages=2)) == 2


def test_an_empty_folder_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="no PDFs and no pictures"):
        documents_of(tmp_path)


def test_a_cache_whose_last_line_was_cut_is_read_on(tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    letter(corpus / "a.pdf")
    cache = tmp_path / "read.jsonl"
    first = read_corpus(corpus, cache, ReadLimits())
    cache.write_text(cache.read_text() + '{"name": "b.pdf", "pa', encoding="utf-8")
    letter(corpus / "b.pdf")
    both = read_corpus(corpus, cache, ReadLimits())
    assert both[: len(first)] == first and [one.page_id for one in both] == ["a.pdf#1", "b.pdf#1"]


def test_precision_counts_labels_that_people_have_answered(predictor):
    _, parts = labelled(predictor, page(*COLUMN, *TEXT))
    found = measure(predictor, parts)
    assert found.plain_right == found.plain


def test_a_file_that_judges_the_model_is_not_read(tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    letter(corpus / "one.pdf")
    judging = next(iter(judging_files().values()))
    letter(corpus / judging)
    sentences: list[str] = []
    found = read_corpus(corpus, tmp_path / "read.jsonl", ReadLimits(), on_refused=sentences.append)
    assert {one.page_id for one in found} == {"one.pdf#1"}
    assert sentences == [f"{judging} judges the model, so nothing is learned from it."]
