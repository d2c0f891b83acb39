"""Pages without accepted answers that take part in a retraining."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import update

from db.tables import Document, Job, Page, PageWord, Project
from engine.documents.reading.reading_state import key_of
from engine.errors import NotFound, Refused
from engine.models.folds import FOLDS, fold_of
from engine.settings import Settings
from engine.training.retraining.folds import without
from engine.training.retraining.learner import optimizer_for
from engine.training.retraining.run_length import pages_a_step
from engine.training.retraining.run_settings import RunSettings, settings_for, stored_settings, unlabelled_sentence
from engine.training.retraining.unlabelled_steps import beside_questions, choose_pages, with_unlabelled
from engine.training.sources.corpus import Corpus
from engine.training.unlabelled.frozen_pages import freeze_pages, pages_of
from engine.workspace import Workspace
from model.objectives.promptable import PromptableSegmentation
from tests.support.drawn_pages import example
from tests.support.factories import Placed, accept, bill, line, make_document, make_project, tiny_network

CORPUS = Corpus((), {}, {})


def settings(**said: Any) -> RunSettings:
    return RunSettings.model_validate({"seed": 3, "steps": 4, "minutes": 1.0, "unlabelled": 0.5, **said})


@pytest.fixture
def project(sqlite_workspace: Workspace) -> Project:
    return make_project(sqlite_workspace)


def letter(number: int) -> list[Placed]:
    """A page with words enough to learn from."""
    return [*bill(number), *line("With many thanks", 20, 140)]


def unread(shop: Workspace, project: Project, count: int, first: int = 0) -> list[Document]:
    numbers = range(first, first + count)
    return [make_document(shop, project.id, [letter(number)], name=f"{number}.png") for number in numbers]


def test_pages_are_of_training_documents_without_an_accepted_answer(
    sqlite_workspace: Workspace, project: Project
) -> None:
    shop = sqlite_workspace
    free, answered, submitted, arriving = unread(shop, project, 4)
    accept(shop, answered, "What is the total due?", [4])
    accept(shop, submitted, "What is the total due?", [4], status="submitted")
    with shop.database.write() as session:
        session.add(Job(project_id=project.id, kind="read", key=key_of(arriving.id), asked_as=key_of(arriving.id)))
    for split in ("recent", "frozen"):
        make_document(shop, project.id, [letter(8)], split=split)
    make_document(shop, project.id, [letter(9)], quarantined=True)
    make_document(shop, project.id, [line("Too few words")])
    make_document(shop, make_project(shop, "another").id, [letter(7)])
    found = freeze_pages(shop, project.id, seed=0)
    assert found is not None and (found.pages, found.documents) == (2, 2)
    pages = pages_of(shop, found.sha256)
    assert {page.document_id for page in pages} == {free.id, submitted.id}
    assert {page.group_id for page in pages} == {free.group_id, submitted.group_id}
    texts = [[word.text for word in page.example.words] for page in pages]
    assert [text for text, _ in letter(0)] in texts


def test_the_number_of_pages_is_bounded_and_every_document_comes_first_once(
    sqlite_workspace: Workspace, project: Project
) -> None:
    shop = sqlite_workspace
    long = make_document(shop, project.id, [letter(number) for number in range(6)])
    unread(shop, project, 3)
    found = freeze_pages(shop, project.id, seed=0, most=6)
    assert found is not None and (found.pages, found.documents) == (6, 4)
    assert [page.document_id for page in pages_of(shop, found.sha256)].count(long.id) == 3


def test_the_choice_follows_the_seed(sqlite_workspace: Workspace, project: Project) -> None:
    shop = sqlite_workspace
    unread(shop, project, 12)
    lists = [freeze_pages(shop, project.id, seed, most=3) for seed in (0, 0, *range(1, 9))]
    assert all(one is not None and one.pages == 3 for one in lists)
    assert lists[0] == lists[1] and len(set(lists)) > 2


def test_a_frozen_list_keeps_its_words_whatever_is_read_again(sqlite_workspace: Workspace, project: Project) -> None:
    shop = sqlite_workspace
    unread(shop, project, 2)
    found = freeze_pages(shop, project.id, seed=0)
    assert found is not None
    before = pages_of(shop, found.sha256)
    with shop.database.write() as session:
        session.execute(update(PageWord).values(text="changed"))
        session.execute(update(Page).values(words_version=1))
    assert pages_of(shop, found.sha256) == before
    after = freeze_pages(shop, project.id, seed=0)
    assert after is not None and after.sha256 != found.sha256


def test_a_list_that_is_missing_or_changed_is_one_sentence(sqlite_workspace: Workspace, project: Project) -> None:
    shop = sqlite_workspace
    unread(shop, project, 1)
    found = freeze_pages(shop, project.id, seed=0)
    assert found is not None
    path = shop.blobs.path(found.sha256)
    path.chmod(0o600)
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(Refused, match="of the list of pages without labels was changed on disk"):
        pages_of(shop, found.sha256)
    path.unlink()
    with pytest.raises(NotFound, match="A part of the list of pages without labels is missing; restore it"):
        with_unlabelled(shop, CORPUS, {"unlabelled_sha256": found.sha256})


def test_a_fold_learns_from_no_page_of_its_own_documents(sqlite_workspace: Workspace, project: Project) -> None:
    shop = sqlite_workspace
    documents = unread(shop, project, 9)
    own, stored = choose_pages(shop, project.id, settings(), folded=True)
    corpus = with_unlabelled(shop, CORPUS, stored)
    assert own == settings() and len(corpus.unlabelled) == 9
    for fold in range(FOLDS):
        left = {page.document_id for page in without(corpus, fold).unlabelled}
        assert left == {one.id for one in documents if fold_of(one.group_id) != fold}


@pytest.mark.parametrize(
    ("there", "folded", "depth", "said"),
    [
        (0, True, "full", "the project has none"),
        (2, True, "quick", "the depth quick freezes the text encoder"),
        (2, False, "full", "Accept answers on more documents"),
    ],
)
def test_a_run_without_such_pages_takes_no_share_and_says_why(
    sqlite_workspace: Workspace, project: Project, there: int, folded: bool, depth: str, said: str
) -> None:
    unread(sqlite_workspace, project, there)
    wanted = settings(depth=depth)
    own, stored = choose_pages(sqlite_workspace, project.id, wanted, folded=folded)
    assert own == wanted.model_copy(update={"unlabelled": 0.0})
    assert said in unlabelled_sentence({**own.model_dump(), **stored})
    assert stored_settings({**own.model_dump(), **stored}) == own
    assert with_unlabelled(sqlite_workspace, CORPUS, stored) is CORPUS


def test_the_setting_is_off_by_default_and_a_run_may_choose_otherwise(
    sqlite_workspace: Workspace, project: Project
) -> None:
    shop = sqlite_workspace
    unread(shop, project, 1)
    off = settings_for(shop.settings, "job", {})
    assert off.unlabelled == 0 and choose_pages(shop, project.id, off, folded=True) == (off, {})
    assert unlabelled_sentence(off.model_dump()) == ""
    on = shop.settings.model_copy(update={"retrain_unlabelled": 0.2})
    assert settings_for(on, "job", {}).unlabelled == 0.2
    assert settings_for(on, "job", {"unlabelled": "0.3"}).unlabelled == 0.3, "as simulate hands it in"
    with pytest.raises(Refused, match="unlabelled is invalid"):
        settings_for(shop.settings, "job", {"unlabelled": 1.0})
    with pytest.raises(ValidationError):
        Settings(data_dir=Path("x"), retrain_unlabelled=1.0)


def test_corrected_pages_are_read_as_often_with_a_share_of_other_steps() -> None:
    assert pages_a_step(settings(unlabelled=0.5)) == pages_a_step(settings(unlabelled=0.0)) / 2


def test_the_head_is_learned_too_and_begins_alike_each_time(sqlite_workspace: Workspace, project: Project) -> None:
    shop = sqlite_workspace
    unread(shop, project, 3)
    own, stored = choose_pages(shop, project.id, settings(), folded=True)
    corpus = with_unlabelled(shop, CORPUS, stored)
    heads = []
    for _ in range(2):
        network = tiny_network()
        questions = PromptableSegmentation(network, lambda step: [example()])
        assert beside_questions(questions, network, CORPUS, own) is questions
        objective = beside_questions(questions, network, corpus, own)
        groups = optimizer_for(objective.learned, own).param_groups
        assert sum(len(group["params"]) for group in groups) > len(list(network.parameters()))
        heads.append({name: one for name, one in objective.learned.state_dict().items() if "unlabelled" in name})
    assert heads[0] and all(value.equal(heads[1][name]) for name, value in heads[0].items())
