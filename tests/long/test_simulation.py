"""The loop on a set whose answers are known, with annotators that are played."""

import json
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from sqlalchemy import select
from typer.testing import CliRunner

from db.tables import Annotation, Document, Page, PageWord, Prediction, Revision, Run
from engine.accounts.users import ensure_local_user
from engine.annotation.answer_service import AnswerService
from engine.annotation.edits import EditClear, EditMask, EditNoAnswer, EditWords
from engine.annotation.state import PageMark, to_patch
from engine.cli import app
from engine.commands.servers.background import run_worker
from engine.datasets import snapshots
from engine.errors import Refused
from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord, write_pages
from engine.interchange.grounded_documents import add_grounded_page
from engine.models import registry
from engine.run_lengths import encode_rle
from engine.settings import Settings
from engine.simulation.annotator import SimulatedAnnotator, Work, edits_to
from engine.simulation.figures import Round
from engine.simulation.rounds import Plan, pages_of, simulate, split_pages
from engine.synthetic import generate
from engine.training.retraining.run_settings import UNLABELLED_PAGES
from engine.training.sources.corpus import corpus_of
from engine.workspace import Workspace, open_workspace
from model.masks import rasterise
from tests.support.factories import make_project, save_tiny_model

WORDS = [
    GroundedWord("Total:", (10, 10, 60, 24)),
    GroundedWord("12.50", (70, 10, 110, 24)),
    GroundedWord("EUR", (118, 10, 150, 24)),
    GroundedWord("Thanks", (10, 50, 60, 64)),
]
SIZE = (100, 200)  # height, width


def page(*questions: GroundedQuestion) -> GroundedPage:
    return GroundedPage("p", "images/p.png", SIZE[1], SIZE[0], WORDS, list(questions))


def asked(*answers: list[int], text: str = "What is the total?", name: str = "q") -> GroundedQuestion:
    return GroundedQuestion(name, text, list(answers))


def mark(*words: int) -> PageMark:
    return PageMark(words=list(words), mask=to_patch(rasterise([WORDS[at].box for at in words], SIZE)))


def test_a_right_proposal_is_accepted_as_it_is() -> None:
    question = asked([1, 2])
    assert edits_to("x", mark(1, 2), page(question), [question]) == ([], 0)


def test_a_proposal_that_is_partly_right_is_corrected_word_by_word() -> None:
    question = asked([1, 2])
    edits, edited = edits_to("x", mark(0, 1), page(question), [question])
    assert edits == [EditWords(op="words", page="x", add=[2], remove=[0])]
    assert edited == 2


def test_the_acceptable_answer_that_is_nearest_is_marked() -> None:
    question = asked([3], [1, 2])
    edits, _ = edits_to("x", mark(1), page(question), [question])
    assert edits == [EditWords(op="words", page="x", add=[2], remove=[])]


def test_questions_in_the_same_words_are_one_question_with_several_acceptable_answers() -> None:
    one, other = asked([3], name="1"), asked([1], name="2")
    assert edits_to("x", mark(1), page(one, other), [one, other]) == ([], 0)


def test_what_is_not_on_the_page_is_said_to_be_so() -> None:
    question = asked()
    assert edits_to("x", mark(1), page(question), [question]) == ([EditNoAnswer(op="no_answer", value=True)], 0)


def test_pixels_beside_the_words_are_cleared_first() -> None:
    question = asked([1])
    stained = PageMark(words=[1], mask=to_patch(rasterise([WORDS[1].box, (150, 70, 190, 90)], SIZE)))
    edits, _ = edits_to("x", stained, page(question), [question])
    assert edits == [EditClear(op="clear", page="x"), EditWords(op="words", page="x", add=[1])]


def test_a_region_without_words_is_drawn() -> None:
    region = rasterise([(120, 60, 190, 95)], SIZE)
    question = replace(asked(), masks=[dict(encode_rle(region))])
    edits, _ = edits_to("x", PageMark(), page(question), [question])
    assert edits == [EditMask(op="mask", page="x", words=[], mask=to_patch(region))]
    assert edits_to("x", PageMark(mask=to_patch(region)), page(question), [question]) == ([], 0)


def made_set(folder: Path, pages: int) -> Path:
    """Generated pages with their pictures, few questions each."""
    folder.mkdir()
    made = islice((one for one in generate(4711) if 8 < len(one.page.words) < 150 and one.page.questions), pages)
    write_pages(folder, ((replace(one.page, questions=one.page.questions[:3]), one.render()) for one in made))
    return folder


@pytest.fixture
def small_set(tmp_path: Path) -> Path:
    return made_set(tmp_path / "small", 10)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    save_tiny_model(tmp_path / "tiny.safetensors")
    return tmp_path / "tiny.safetensors"


def test_pages_become_documents_that_are_answered_as_the_set_says(
    workspace: Workspace, small_set: Path, tiny: Path
) -> None:
    shop = Workspace(workspace.settings.model_copy(update={"model_path": tiny}), workspace.database, workspace.blobs)
    registry.ensure_shipped(shop)
    user, project = ensure_local_user(shop), make_project(shop)
    given = pages_of(small_set)[:2]
    work = Work(0, 0, 0)
    for one in given:
        document, stored = add_grounded_page(shop, project.id, one, small_set, origin="test")
        work += SimulatedAnnotator(AnswerService(shop), user.id).answer(document.id, stored.id, one)
        assert (stored.text_source, stored.word_count) == ("given", len(one.words))
        assert shop.blobs.read(stored.image_sha256) == (small_set / str(one.image)).read_bytes()
    distinct = {(one.page_id, question.question) for one in given for question in one.questions}
    assert work.questions == len(distinct)
    with shop.database.read() as session:
        for word, read in zip(
            session.scalars(select(PageWord).order_by(PageWord.page_id, PageWord.number)), _words(given), strict=True
        ):
            assert (word.text, (word.x0, word.y0, word.x1, word.y1)) == (read.text, read.box)
        assert set(session.scalars(select(Annotation.status))) == {"accepted"}
        assert set(session.scalars(select(Revision.prediction_id))) == set(session.scalars(select(Prediction.id)))
    frozen = corpus_of(shop, snapshots.freeze(shop, project.id).sha256)
    gold = {(question.question): question for one in given for question in one.questions}
    said = [question for one in frozen.pages for question in one.questions]
    assert len(said) == work.questions
    for question in said:
        wanted = gold[question.question]
        if wanted.answers:
            assert sorted(question.answers[0]) in [sorted(words) for words in wanted.answers]
        else:
            assert bool(question.masks) == bool(wanted.masks)


def _words(given: list[GroundedPage]) -> list[GroundedWord]:
    return [word for one in given for word in one.words]


def test_a_page_whose_picture_is_missing_or_of_another_size_is_refused(
    sqlite_workspace: Workspace, small_set: Path
) -> None:
    project = make_project(sqlite_workspace)
    one = pages_of(small_set)[0]
    with pytest.raises(Refused, match="needs PNG or JPEG of"):
        add_grounded_page(sqlite_workspace, project.id, replace(one, width=one.width + 1), small_set, origin="test")
    whole = (small_set / str(one.image)).read_bytes()
    for broken in (whole[: len(whole) // 2], b"no picture"):
        (small_set / str(one.image)).write_bytes(broken)
        with pytest.raises(Refused, match="cannot be read"):
            add_grounded_page(sqlite_workspace, project.id, one, small_set, origin="test")
    (small_set / str(one.image)).unlink()
    with pytest.raises(Refused, match="has no image"):
        add_grounded_page(sqlite_workspace, project.id, one, small_set, origin="test")
    with sqlite_workspace.database.read() as session:
        assert not session.scalars(select(Document)).all() and not session.scalars(select(Page)).all()


def test_the_pool_is_three_fifths_by_hash_whatever_the_order(small_set: Path) -> None:
    pages = pages_of(small_set)
    pool, unseen = split_pages(pages)
    assert (len(pool), len(unseen)) == (6, 4)
    assert [one.page_id for one in split_pages(pages[::-1])[0]] == [one.page_id for one in pool]
    assert not {one.page_id for one in pool} & {one.page_id for one in unseen}


def simulated(*arguments: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["simulate", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    said: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return said


@pytest.fixture
def deployment(tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    data = tmp_path / "own"
    monkeypatch.setenv("GLOSSATOR_DATA_DIR", str(data))
    monkeypatch.setenv("GLOSSATOR_MODEL_PATH", str(tiny))
    monkeypatch.setenv("GLOSSATOR_THREADS", "1")
    monkeypatch.setattr("os.nice", lambda _: 0)
    torch.set_num_threads(1)
    return data


def test_rounds_are_reported_from_before_the_first_retraining_on(
    deployment: Path, small_set: Path, tmp_path: Path
) -> None:
    kept, picture = tmp_path / "kept", tmp_path / "rounds.png"
    found = simulated(
        str(small_set), "--rounds", "2", "--pages", "3", "--steps", "2", "--watch", str(small_set), "--keep", str(kept),
        "--out", str(picture),
    )  # fmt: skip
    rounds = found["rounds"]
    assert [(one["round"], one["pages"]) for one in rounds] == [(0, 0), (1, 3), (2, 6)]
    first = rounds[0]
    assert (first["version"], first["promoted"], first["challenger"], first["gain"]) == ("nano", None, None, None)
    for one in rounds:
        assert 0 <= one["acc_50"] <= 1 and one["acc_50_interval"][0] <= one["acc_50"] <= one["acc_50_interval"][1]
        assert one["watched"]["acc_50"] == one["acc_50"]  # here it is the same pages
        in_use = one["challenger"] if one["promoted"] else first
        assert one["acc_50"] == pytest.approx(in_use["acc_50"]) or one["round"] > 1
    for one in rounds[1:]:
        assert one["promoted"] in (True, False) and one["sentence"]
        assert one["corrections_a_page"] > 0 and 0 <= one["accepted_unchanged"] < 1
        assert one["seconds"] > 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert (kept / "glossator.db").is_file()
    assert not deployment.exists() or not any(deployment.iterdir()), "one's own projects were touched"


def test_a_simulation_that_was_stopped_goes_on_after_its_last_round(
    deployment: Path, small_set: Path, tmp_path: Path
) -> None:
    settings = Settings()
    plan = Plan(rounds=3, pages=2, run={"steps": 2}, watched=small_set)
    options: dict[str, Any] = {"do_jobs": partial(run_worker, once=True), "on_progress": lambda _: None}
    whole = list(simulate(small_set, tmp_path / "whole", settings, plan, **options))
    folder = tmp_path / "stopped"
    rounds = simulate(small_set, folder, settings, plan, **options)
    seen = [next(rounds), next(rounds)]
    rounds.close()
    (folder / "glossator.db").write_bytes(b"cut short by the end of the machine")
    again = list(simulate(small_set, folder, settings, plan, resume=True, **options))
    assert again[:2] == seen
    assert [one.round for one in again] == [0, 1, 2, 3]

    def timeless(one: Round) -> dict[str, Any]:
        return {name: value for name, value in asdict(one).items() if name not in ("seconds", "sentence", "version")}

    assert [timeless(one) for one in again] == [timeless(one) for one in whole]
    with pytest.raises(Refused, match="with other options"):
        next(simulate(small_set, folder, settings, replace(plan, seed=8), resume=True, **options))
    longer = settings.model_copy(update={"retrain_minutes": 30.0})  # GLOSSATOR_RETRAIN_MINUTES of the second call
    with pytest.raises(Refused, match="with other options"):
        next(simulate(small_set, folder, longer, plan, resume=True, **options))


def test_without_retraining_nothing_changes_but_the_work_that_was_done(deployment: Path, small_set: Path) -> None:
    found = simulated(str(small_set), "--rounds", "2", "--pages", "2", "--against", "never")
    rounds = found["rounds"]
    assert {one["version"] for one in rounds} == {"nano"}
    assert len({one["acc_50"] for one in rounds}) == 1
    assert [one["promoted"] for one in rounds] == [None, None, None]
    assert rounds[2]["corrections_a_page"] > 0


def test_pages_without_answers_may_be_in_the_project_and_take_part(deployment: Path, tmp_path: Path) -> None:
    kept, larger = tmp_path / "kept", made_set(tmp_path / "larger", 20)
    found = simulated(
        str(larger), "--rounds", "1", "--pages", "5", "--steps", "4", "--upload-all", "--keep", str(kept),
        "--setting", "unlabelled=0.5", "--setting", "depth=full",
    )  # fmt: skip
    assert found["plan"]["uploaded"] is True
    assert [one["pages"] for one in found["rounds"]] == [0, 5]
    workspace = open_workspace(Settings(data_dir=kept))
    try:
        with workspace.database.read() as session:
            assert len(session.scalars(select(Document)).all()) == 12  # all of the pool, each once
            answered = {one.document_id for one in session.scalars(select(Annotation))}
            assert len(answered) == 5
            # Of the other seven those of the split "train": a fifth or so is not.
            assert 1 <= session.scalars(select(Run)).one().settings[UNLABELLED_PAGES] <= 7
    finally:
        workspace.close()


def test_the_model_may_choose_which_pages_come_next(deployment: Path, small_set: Path) -> None:
    chosen = simulated(str(small_set), "--rounds", "3", "--pages", "2", "--against", "never", "--select", "model")
    assert [one["pages"] for one in chosen["rounds"]] == [0, 2, 4, 6]  # all of the pool, each once
    assert chosen["plan"]["select"] == "model"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--select", "coin"], "Choose from random, model"),
        (["--against", "magic"], "Choose from nothing, never"),
        (["--watch", "nowhere"], "nowhere"),
        (["--out", "missing/folder.png"], "Name a file in an existing folder"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_one_sentence(
    deployment: Path, small_set: Path, arguments: list[str], sentence: str
) -> None:
    result = CliRunner().invoke(app, ["simulate", str(small_set), "--rounds", "1", *arguments])
    assert result.exit_code != 0
    assert sentence in result.output and "Traceback" not in result.output


def test_a_folder_with_something_in_it_is_left_alone(deployment: Path, small_set: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    result = CliRunner().invoke(app, ["simulate", str(small_set), "--keep", str(tmp_path / "mine")])
    assert result.exit_code == 1
    assert "is not empty and holds no simulation; choose an empty folder" in result.output
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"
