"""Documents without labels: read once, kept, split with near-duplicates together, and learned from."""

import os
import random
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from db.tables import Document
from engine.documents import kinds
from engine.documents.duplicates.page_signature import Signature, signature_of
from engine.documents.ingest import limits_of
from engine.documents.limits import ReadLimits
from engine.documents.reading.open import read_document
from engine.documents.refusal import DocumentRefused, Reason
from engine.errors import Refused
from engine.settings import Settings
from engine.training.judging_files import judging_files
from engine.training.pretraining.pretraining_stage import StageInputs
from engine.training.pretraining.stages import STAGES
from engine.training.unlabelled import page_corpus, reading
from engine.training.unlabelled.grouping import groups_of
from engine.training.unlabelled.kept_document import KeptDocument, KeptPage, image_of, read_kept, write_document
from engine.training.unlabelled.page_corpus import PageCorpus, lines_of
from engine.training.unlabelled.prepare import prepare_corpus
from engine.training.unlabelled.project_documents import keep_project
from engine.training.unlabelled.reading import Reading, folder_for, kept_file, named_pages, read_folders
from engine.workspace import Workspace
from model.examples import Word
from tests.support.factories import accept, bill, make_document, make_project
from tests.support.made_documents import LETTER, text_pdf

SIDE = 256
LIMITS = ReadLimits(dpi=72)  # pages of PDFs as small as these tests can do with
NOUNS = ("harbour", "ledger", "orchard", "engine", "violin", "castle", "meadow", "copper", "window", "saddle")


def letter(path: Path, number: int, pages: int = 1) -> Path:
    """A PDF with its own words: no two of them are near-duplicates."""
    rng = np.random.default_rng(number)
    lines = [
        [" ".join(f"{noun}{rng.integers(1000)}" for noun in rng.permutation(NOUNS)[:5]) for _ in range(12)]
        for _ in range(pages)
    ]
    return text_pdf(path, lines)


def letters(place: Path) -> None:
    place.mkdir(parents=True)
    for number in range(6):
        letter(place / f"{number}.pdf", number, pages=1 + number % 2)
    (place / "notes.txt").write_text("no document")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    letters(tmp_path / "papers" / "below")
    return tmp_path / "papers"


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The list of a run whose documents have been read, for tests that change none of it."""
    place = tmp_path_factory.mktemp("listed")
    letters(place / "papers" / "below")
    prepared = prepare_corpus(place / "run", folders=[place / "papers"], long_side=SIDE, limits=LIMITS, processes=2)
    assert prepared is not None
    return prepared


def read(folder: Path, cache: Path, **options) -> list[str]:
    found = read_folders([folder], cache, long_side=SIDE, limits=LIMITS, processes=2, **options)
    assert found is not None
    return found


def test_pages_are_kept_with_their_words_lines_and_small_images(folder, tmp_path):
    told: list[Reading] = []
    found = read(folder, tmp_path / "kept", on_progress=told.append)
    assert len(found) == 6
    assert [one.done for one in told] == [1, 2, 3, 4, 5, 6]
    assert (told[-1].files, told[-1].pages, told[-1].refused) == (6, 9, 0)
    kept = kept_file(tmp_path / "kept", found[0])
    page = read_kept(kept).pages[0]
    assert len(page.words) == len(page.lines) == 60 and page.lines[0] == 0 and page.lines[-1] == 11
    assert max(image_of(kept, 0).size) == SIDE < max(page.size)
    assert all(0 <= x0 < x1 <= page.size[0] and 0 <= y0 < y1 <= page.size[1] for _, (x0, y0, x1, y1) in
               ((word.text, word.box) for word in page.words))  # fmt: skip


def test_a_document_is_read_once_whatever_its_name(folder, tmp_path, monkeypatch):
    first = read(folder, tmp_path / "kept")
    for path in sorted(folder.rglob("*.pdf")):
        path.rename(path.with_name(f"renamed-{path.name}"))
    monkeypatch.setattr(reading, "read_document", lambda *_, **__: pytest.fail("read again"))
    assert read(folder, tmp_path / "kept") == first


def test_equal_files_that_are_read_at_once_are_one_document(tmp_path):
    place = tmp_path / "papers"
    place.mkdir()
    for number in range(4):
        letter(place / f"{number}.pdf", 7)
        (place / f"{number}.pdf").write_bytes((place / "0.pdf").read_bytes())
    found = read_folders([place], tmp_path / "kept", long_side=SIDE, limits=LIMITS, processes=4)
    assert found is not None and len(found) == 1
    assert [path.suffix for path in (tmp_path / "kept").rglob("*") if path.is_file()] == [".zip"]


def test_a_stopped_reading_goes_on_where_it_stopped(folder, tmp_path, monkeypatch):
    told: list[Reading] = []
    stopped = read_folders(
        [folder], tmp_path / "kept", long_side=SIDE, limits=LIMITS, processes=1,
        on_progress=told.append, cancelled=lambda: len(told) >= 2,
    )  # fmt: skip
    assert stopped is None
    kept = len(list((tmp_path / "kept").rglob("*.zip")))
    assert 2 <= kept < 6
    again: list[Path] = []

    def noted(source: Path, **named):
        again.append(source)
        return read_document(source, **named)

    monkeypatch.setattr(reading, "read_document", noted)
    assert len(read(folder, tmp_path / "kept")) == 6
    assert len(again) == 6 - kept


def test_refused_and_judging_files_are_left_out_with_a_sentence(folder, tmp_path):
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing follows")
    name = Path(next(one for one in judging_files().values() if one.endswith(".pdf"))).name
    letter(folder / name, 99)
    told: list[Reading] = []
    assert len(read(folder, tmp_path / "kept", on_progress=told.append)) == 6
    assert (told[-1].done, told[-1].refused) == (7, 1)
    assert told[0].sentence == f"{name} judges the model, so nothing is learned from it."
    assert sum("broken.pdf" in (one.sentence or "") for one in told) == 1
    # The refusal is kept, so the file is not tried again.
    assert sum(read_kept(path).refused is not None for path in (tmp_path / "kept").rglob("*.zip")) == 1


def test_files_and_folders_that_cannot_be_opened_are_named(folder, tmp_path, monkeypatch):
    closed = folder / "closed"
    closed.mkdir()
    scan, kind = os.scandir, kinds.media_type_of  # root opens everything, so the refusal is made here

    def scandir(path):
        if path == str(closed):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    def media_type_of(path):
        if path.name == "2.pdf":
            raise PermissionError(13, "Permission denied", str(path))
        return kind(path)

    monkeypatch.setattr(os, "scandir", scandir)
    monkeypatch.setattr(reading, "media_type_of", media_type_of)
    said: list[Reading] = []
    assert len(read(folder, tmp_path / "cache", on_progress=said.append)) == 5
    [sentence] = [one.sentence for one in said if one.sentence is not None]
    assert sentence.startswith("Left out, because they cannot be opened: ")
    assert str(closed) in sentence and "2.pdf" in sentence


def test_only_the_first_pages_are_taken_where_so_many_are_wanted(tmp_path):
    place = tmp_path / "papers"
    place.mkdir()
    letter(place / "long.pdf", 1, pages=4)
    letter(place / "short.pdf", 2, pages=1)
    found = read(place, tmp_path / "kept", first_pages=2)
    assert [name for name, _ in named_pages(tmp_path / "kept", found)] == ["long.pdf#1", "long.pdf#2", "short.pdf#1"]


def test_a_document_with_pages_that_ocr_did_not_read_is_read_again(folder, tmp_path, monkeypatch):
    def hurried(source: Path, **named):
        return replace(read_document(source, **named), unread=(1,))

    told: list[Reading] = []
    with monkeypatch.context() as busy:
        busy.setattr(reading, "read_document", hurried)
        first = read(folder, tmp_path / "kept", on_progress=told.append)
    assert all("OCR did not read 1 page" in (one.sentence or "") for one in told)
    told.clear()
    assert read(folder, tmp_path / "kept", on_progress=told.append) == first  # pages are there all the same
    assert [one.sentence for one in told] == [None] * 6
    assert not any(read_kept(path).unread for path in (tmp_path / "kept").rglob("*.zip"))


def test_a_second_reading_that_fails_keeps_the_first_and_the_third_is_the_last(folder, tmp_path, monkeypatch):
    calls: list[Path] = []

    def never_whole(source: Path, **named):
        calls.append(source)
        if len(calls) in range(7, 13):
            raise DocumentRefused(Reason.TOO_SLOW, source.name, "could not be read in time.")
        return replace(read_document(source, **named), unread=(1,))

    monkeypatch.setattr(reading, "read_document", never_whole)
    first = read(folder, tmp_path / "kept")
    pictures = [image_of(path, 0).tobytes() for path in sorted((tmp_path / "kept").rglob("*.zip"))]
    for so_far in (12, 18, 18):  # refused, read once more, and then left as it is
        assert read(folder, tmp_path / "kept") == first
        assert [image_of(path, 0).tobytes() for path in sorted((tmp_path / "kept").rglob("*.zip"))] == pictures
        assert len(calls) == so_far


def test_documents_are_kept_apart_where_they_are_read_in_another_way(tmp_path):
    usual = folder_for(tmp_path, limits_of(Settings(_env_file=None)), long_side=SIDE, first_pages=None)
    assert usual == tmp_path / "256 px, all pages"
    german = folder_for(tmp_path, replace(ReadLimits(), ocr_language="deu", seconds=90), long_side=SIDE, first_pages=2)
    assert german == tmp_path / "256 px, first 2, ocr_language deu"


def test_a_folder_without_documents_is_refused_with_a_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="has no PDF and no picture"):
        read(tmp_path / "empty", tmp_path / "kept")
    with pytest.raises(ValueError, match="missing does not exist"):
        read(tmp_path / "missing", tmp_path / "kept")


def test_documents_with_like_pages_are_one_group(tmp_path):
    place = tmp_path / "papers"
    place.mkdir()
    letter(place / "a.pdf", 1)
    letter(place / "b.pdf", 2)
    rng = np.random.default_rng(1)
    again = [[" ".join(f"{noun}{rng.integers(1000)}" for noun in rng.permutation(NOUNS)[:5]) for _ in range(12)]]
    text_pdf(place / "rescan.pdf", [*again, LETTER])
    found = read(place, tmp_path / "kept")
    kept = {sha256: read_kept(kept_file(tmp_path / "kept", sha256)) for sha256 in found}
    groups = groups_of({sha256: [page.signature for page in one.pages] for sha256, one in kept.items()})
    by_name = {one.name: groups[sha256] for sha256, one in kept.items()}
    assert by_name["a.pdf"] == by_name["rescan.pdf"] != by_name["b.pdf"]


def test_documents_of_empty_pages_alone_are_groups_of_their_own():
    assert groups_of({"a": [Signature("", (), "")], "b": []}) == {"a": "a", "b": "b"}


@pytest.mark.parametrize("documents", [1, 2, 3])
def test_few_documents_have_one_to_judge_by_and_a_single_one_teaches(tmp_path, documents):
    place = tmp_path / "papers"
    place.mkdir()
    for number in range(documents):
        letter(place / f"{number}.pdf", 20 + number)
    corpus = PageCorpus.of(tmp_path / "kept", read(place, tmp_path / "kept"))
    assert len(corpus) == documents
    assert (corpus.held_out_pages > 0) == (documents > 1) and corpus.held_out_pages < documents


@pytest.mark.parametrize("wordy", [2, 3, 20])
def test_where_two_groups_have_words_one_is_learned_from_and_one_judges(wordy):
    for draw in range(50):
        groups = [f"{draw} {number}" for number in range(20)]
        with_words = set(groups[:wordy])
        held_out = page_corpus._held_out(groups, with_words)
        assert held_out & with_words and with_words - held_out and held_out < set(groups)
        assert page_corpus._held_out(reversed(groups), with_words) == held_out


def test_no_line_is_both_learned_from_and_judged(listed):
    corpus = PageCorpus.load(listed)
    judged = {line for document in corpus.texts.held_out for line in document.sentences}
    taught = {line for document in corpus.texts.training for line in document.sentences}
    assert taught and not judged & taught


def test_short_lines_are_learned_from_together_and_others_stay_as_they_are():
    said = [
        "Bill to:",
        "Acme",
        "Invoice number:",
        "7 of May 2024",
        "The goods stay ours until they are paid.",
        "Page 1",
    ]
    split = [(text, number) for number, line in enumerate(said) for text in line.split()]
    words = [Word(text, (0, 0, 9, 9)) for text, _ in split]
    assert lines_of(words, [number for _, number in split]) == [
        "Bill to: Acme Invoice number:",
        "7 of May 2024",
        "The goods stay ours until they are paid.",
    ]
    assert lines_of(words[:2], [0, 0]) == []  # of a page with hardly any words
    assert lines_of([], []) == []


def test_each_page_comes_once_an_epoch_with_words_in_its_own_pixels(listed):
    corpus = PageCorpus.load(listed)
    assert (len(corpus), corpus.documents) == (9, 6)
    source = corpus.pictures(1, pages=1)
    taught = len(corpus) - corpus.held_out_pages
    epoch = [source(step)[0] for step in range(taught)]
    assert len({one.words for one in epoch}) == taught
    assert all(isinstance(one.image, Image.Image) and max(one.image.size) == SIDE for one in epoch)


def test_a_run_keeps_its_list_whatever_is_added_to_the_folder(folder, tmp_path):
    listed = prepare_corpus(tmp_path / "run", folders=[folder], long_side=SIDE, limits=LIMITS)
    assert listed is not None
    before = listed.read_bytes()
    letter(folder / "new.pdf", 50)
    assert prepare_corpus(tmp_path / "run", folders=[folder], long_side=SIDE, limits=LIMITS) == listed
    assert listed.read_bytes() == before


def test_a_run_may_be_moved_with_its_documents(folder, tmp_path):
    listed = prepare_corpus(tmp_path / "run", folders=[folder], long_side=SIDE, limits=LIMITS)
    assert listed is not None
    before = PageCorpus.load(listed).pictures(1, pages=1)(0)
    (tmp_path / "run").rename(tmp_path / "moved")
    assert PageCorpus.load(tmp_path / "moved" / listed.name).pictures(1, pages=1)(0)[0].words == before[0].words


@pytest.mark.parametrize("name", ["decoder", "mlm", "spans", "mim", "mae", "ijepa", "djepa", "tjepa", "joint"])
def test_stages_learn_from_the_corpus_and_not_from_generated_pages(listed, tmp_path, network, name):
    corpus = PageCorpus.load(listed)
    printed = {
        word.text for step in range(len(corpus)) for page in corpus.words(0, pages=1)(step) for word in page.words
    }
    seen: list[str] = []

    class Noted(PageCorpus):
        """A corpus that notes what is learned from it."""

        def pictures(self, *args, **named):
            source = super().pictures(*args, **named)
            return lambda step: self._note(source(step))

        def words(self, *args, **named):
            source = super().words(*args, **named)
            return lambda step: self._note(source(step))

        @staticmethod
        def _note(pages):
            seen.extend(word.text for page in pages for word in page.words)
            return pages

        @cached_property
        def texts(self):
            seen.extend(word for one in super().texts.training for line in one.sentences for word in line.split())
            return super().texts

    noted = Noted(corpus._cache, corpus._pages)
    inputs = StageInputs(network, 0, tmp_path, tmp_path / "no teacher", corpus=noted)
    STAGES[name].objective(inputs).loss(0, random.Random(0))
    assert seen and set(seen) <= printed


def test_a_project_teaches_with_documents_that_do_not_judge(sqlite_workspace: Workspace, tmp_path):
    project = make_project(sqlite_workspace)
    splits = ["frozen", *["train"] * 7]
    documents = [
        make_document(sqlite_workspace, project.id, [bill(number)], name=f"{number}.png", split=split)
        for number, split in enumerate(splits)
    ]
    accept(sqlite_workspace, documents[1], "What is the total due?", [4])
    found = keep_project(sqlite_workspace, project.id, tmp_path / "kept", long_side=SIDE)
    assert found is not None
    names = {read_kept(kept_file(tmp_path / "kept", key)).name for key in found}
    assert names == {f"{number}.png" for number in range(2, 8)}
    assert keep_project(sqlite_workspace, project.id, tmp_path / "kept", long_side=SIDE) == found


def test_a_document_like_one_with_accepted_answers_does_not_teach(sqlite_workspace: Workspace, tmp_path):
    project = make_project(sqlite_workspace)
    answered, like_it, other = (
        make_document(sqlite_workspace, project.id, [bill(number)], name=f"{number}.png") for number in range(3)
    )
    accept(sqlite_workspace, answered, "What is the total due?", [4])
    with sqlite_workspace.database.write() as session:
        session.get_one(Document, like_it.id).group_id = answered.group_id
    found = keep_project(sqlite_workspace, project.id, tmp_path / "kept", long_side=SIDE)
    assert found is not None
    assert [read_kept(kept_file(tmp_path / "kept", key)).name for key in found] == [other.name]


def test_as_many_pages_of_a_project_s_documents_are_kept_as_are_asked_for(sqlite_workspace: Workspace, tmp_path):
    project = make_project(sqlite_workspace)
    make_document(sqlite_workspace, project.id, [bill(number) for number in range(3)])
    found = keep_project(sqlite_workspace, project.id, tmp_path / "kept", long_side=SIDE, first_pages=2)
    assert found is not None
    assert [len(read_kept(kept_file(tmp_path / "kept", key)).pages) for key in found] == [2]


def test_documents_in_memory_are_bounded_by_their_pages(tmp_path):
    page = KeptPage((10, 10), (), (), signature_of(Image.new("L", (10, 10)), ()))
    first, second, third = (tmp_path / f"{number}.zip" for number in range(3))
    for path in (first, second, third):
        write_document(path, KeptDocument(path.name, (page,) * 900), [b"picture"] * 900)
    opened = page_corpus._Opened()
    for path in (first, second, first, third):  # the second is the one used longest ago
        assert opened.get(path).name == path.name
    for path in (first, second, third):
        path.unlink()
    assert [opened.get(path).name for path in (first, third)] == [first.name, third.name]
    with pytest.raises(FileNotFoundError):
        opened.get(second)


def test_a_project_without_such_documents_is_refused(sqlite_workspace: Workspace, tmp_path):
    project = make_project(sqlite_workspace)
    with pytest.raises(Refused, match="no document to learn from without labels"):
        keep_project(sqlite_workspace, project.id, tmp_path / "kept", long_side=SIDE)
