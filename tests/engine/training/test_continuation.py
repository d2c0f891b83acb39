"""A run goes on while it gains, ends where it does not, and hands in its best cycle."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.training.retraining.continuation import (
    LEAST_GAIN,
    MOST_PAGES,
    Continuation,
    cycle_file,
    cycle_step,
    some_pages,
)
from model import checkpoint
from model.learning import Plan
from model.network import GroundingNetwork
from tests.support.factories import tiny_network

PLAN = Plan(steps=40, cycle=10, checkpoint_every=5)
WORDS = [GroundedWord("Total:", (10, 10, 60, 24)), GroundedWord("12.50", (70, 10, 110, 24))]
PAGE = GroundedPage("p", None, 300, 200, WORDS, [GroundedQuestion("q", "What is the total?", [[1]])])
ONE = {"p": "document"}


@pytest.fixture
def network() -> GroundingNetwork:
    torch.manual_seed(3)
    return tiny_network()


def going(
    network: GroundingNetwork, folder: Path, ious: Sequence[float], monkeypatch: pytest.MonkeyPatch
) -> list[tuple[int, bool]]:
    """What a run is told at its checkpoints when the held-out pages give these figures, one a look."""
    shown = iter(ious)
    monkeypatch.setattr(Continuation, "_mean_iou", lambda self: next(shown))
    look = Continuation(network, [PAGE], ONE, PLAN, folder, on_iou=lambda step, iou: None)
    told = []
    for step in (0, 5, 10, 15, 20, 25, 30, 35, 40):
        with torch.no_grad():
            next(network.parameters()).fill_(step)
        told.append((step, look(step)))
        if told[-1][1]:
            break
    return told


def test_a_run_that_gains_goes_on_to_its_last_cycle(
    network: GroundingNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = going(network, tmp_path, [0.5, 0.6, 0.7, 0.8], monkeypatch)
    assert told == [(0, False), *((step, False) for step in (5, 10, 15, 20, 25, 30, 35, 40))]
    assert cycle_step(tmp_path) == 40


def test_a_run_that_gains_no_more_ends_with_a_cycle_and_hands_in_the_best_one(
    network: GroundingNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = going(network, tmp_path, [0.5, 0.6, 0.6 - LEAST_GAIN], monkeypatch)
    assert told[-1] == (20, True) and all(not ended for _, ended in told[:-1])
    assert cycle_step(tmp_path) == 10
    kept = cycle_file(tmp_path)
    assert kept is not None
    name = next(name for name, _ in network.named_parameters())
    assert checkpoint.load(kept).state[name].unique().tolist() == [10.0]


def test_a_run_that_never_gained_ends_with_its_first_cycle(
    network: GroundingNetwork, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert going(network, tmp_path, [0.5, 0.5], monkeypatch)[-1] == (10, True)
    assert cycle_step(tmp_path) == 10


def test_the_figure_is_the_mean_iou_of_the_pages_by_the_network_as_it_is(
    network: GroundingNetwork, tmp_path: Path
) -> None:
    seen: list[tuple[int, float]] = []
    network.train()
    look = Continuation(network, [PAGE], ONE, PLAN, tmp_path, on_iou=lambda *one: seen.append(one))
    assert cycle_file(tmp_path) is None and cycle_step(tmp_path) is None
    look(0)
    assert seen[0][0] == 0 and 0 <= seen[0][1] <= 1
    assert network.training and all(one.requires_grad for one in network.text_encoder.parameters())
    again = Continuation(network, [PAGE], ONE, PLAN, tmp_path, on_iou=lambda *one: seen.append(one))
    assert again(10) is True, "resumed, it knows the figure before"


def test_pages_are_asked_by_hash_with_words_and_without_the_answers_that_weigh_nothing() -> None:
    pages = [replace(PAGE, page_id=f"page {number}") for number in range(3 * MOST_PAGES)]
    documents = {one.page_id: one.page_id for one in pages} | {"empty": "empty"}
    some = some_pages([*pages, replace(PAGE, page_id="empty", words=[])], documents, {"page 7": {"q": 0.0}})
    assert len(some) == MOST_PAGES and some == some_pages(pages[::-1], documents, {"page 7": {"q": 0.0}})
    assert not {"empty", "page 7"} & {one.page_id for one in some}
    assert some_pages([PAGE], ONE, {"p": {"q": 0.0}}) == []


def test_a_document_of_many_pages_displaces_no_other() -> None:
    pages = [replace(PAGE, page_id=f"page {number}") for number in range(500)]
    documents = {one.page_id: f"small {number}" if number < 10 else "large" for number, one in enumerate(pages)}
    asked = [documents[one.page_id] for one in some_pages(pages, documents)]
    assert {f"small {number}" for number in range(10)} < set(asked) and asked.count("large") == MOST_PAGES - 10


def test_all_places_of_a_text_count() -> None:
    paid = [GroundedWord("Paid:", (10, 30, 60, 44)), GroundedWord("12.50", (70, 30, 110, 44))]
    (page,) = some_pages([replace(PAGE, words=[*WORDS, *paid])], ONE)
    assert page.questions[0].answers == [[1], [3]]
