"""Early stopping: what is kept aside, which checkpoint is handed in, and when a run ends."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.training.retraining.early_stopping import (
    BEST_FILE,
    LOST,
    EarlyStopping,
    best_file,
    held_out_groups,
    held_out_source,
)
from model import checkpoint
from model.examples import Example, Question, Word
from model.network import GroundingNetwork
from model.objectives.objective import CHECKPOINT_FILE
from model.objectives.promptable import Asking, PromptableSegmentation
from tests.support.factories import tiny_network

PAGE = Example(
    (Word("Total:", (10, 10, 60, 24)), Word("12.50", (70, 10, 110, 24)), Word("Thanks", (10, 50, 60, 64))),
    (300, 200),
    [Question("What is the total?", ((1,),))],
)


@pytest.fixture
def network() -> GroundingNetwork:
    torch.manual_seed(3)
    return tiny_network()


def watch(network: GroundingNetwork, folder: Path, patience: int = 2) -> tuple[EarlyStopping, list[tuple[int, float]]]:
    seen: list[tuple[int, float]] = []
    return EarlyStopping(
        network, lambda step: [PAGE], 1, folder, patience=patience, on_loss=lambda *one: seen.append(one)
    ), seen


def keep(network: GroundingNetwork, folder: Path) -> bytes:
    """The checkpoint of a network, as a run leaves it."""
    checkpoint.save(folder / CHECKPOINT_FILE, network, network.config.to_dict())
    return (folder / CHECKPOINT_FILE).read_bytes()


def better(network: GroundingNetwork) -> None:
    """One step down the loss of the page that is watched."""
    _step(network, -1)


def worse(network: GroundingNetwork) -> None:
    _step(network, +1)


def _step(network: GroundingNetwork, sign: int) -> None:
    plainly = Asking(prompted_steps=0.0, anchors_dropped=0.0, begun_inside=1.0)
    loss, _ = PromptableSegmentation(network, lambda step: [PAGE], plainly).loss(0, random.Random(0))
    network.zero_grad()
    loss.backward()
    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.grad is not None:
                parameter.add_(sign * 0.01 * parameter.grad)
    network.zero_grad()


def test_a_document_is_watched_for_good_or_never() -> None:
    few = [f"document {number}" for number in range(40)]
    many = few + [f"other {number}" for number in range(400)]
    watched = held_out_groups(few, 0.125)
    assert 1 <= len(watched) <= 10
    assert held_out_groups(list(reversed(few)) * 3, 0.125) == watched
    assert held_out_groups(many, 0.125) & set(few) == watched
    assert 35 <= len(held_out_groups(many, 0.125)) <= 75
    assert held_out_groups(many, 0.0) == set()


def test_pages_whose_answers_weigh_nothing_or_that_are_too_long_are_not_watched() -> None:
    words = [GroundedWord("Total:", (10, 10, 60, 24)), GroundedWord("12.50", (70, 10, 110, 24))]
    page = GroundedPage("p", None, 300, 200, words, [GroundedQuestion("q", "What is the total?", [[1]])])
    found = held_out_source([page], at_once=2, questions=3)
    assert found is not None and len(found[0](0)) == 2 and found[1] == 1
    assert held_out_source([page], at_once=2, questions=3, weights={"p": {"q": 0.0}}) is None
    assert held_out_source([replace(page, words=words * 5000)], at_once=2, questions=3) is None
    assert held_out_source([], at_once=2, questions=3) is None


def test_a_run_that_lost_what_it_began_with_ends_and_hands_in_its_best(
    network: GroundingNetwork, tmp_path: Path
) -> None:
    look, seen = watch(network, tmp_path)
    assert look(0) is False
    better(network)
    best = keep(network, tmp_path)
    assert look(5) is False
    for step, ends in ((10, False), (15, True)):
        for _ in range(40):
            worse(network)
        keep(network, tmp_path)
        assert look(step) is ends
    losses = dict(seen)
    assert losses[5] < losses[0] and LOST * losses[0] < losses[10] < losses[15]
    assert best_file(tmp_path).name == BEST_FILE
    assert best_file(tmp_path).read_bytes() == best


def test_a_run_that_is_better_than_its_beginning_goes_on_and_hands_in_its_last(
    network: GroundingNetwork, tmp_path: Path
) -> None:
    look, seen = watch(network, tmp_path, patience=1)
    look(0)
    for step in (5, 10, 15):
        better(network)
        better(network)
        keep(network, tmp_path)
        assert look(step) is False
    worse(network)
    last = keep(network, tmp_path)
    assert look(20) is False
    losses = dict(seen)
    assert losses[15] < losses[20] < losses[0]
    assert best_file(tmp_path).read_bytes() == last


def test_a_resumed_run_knows_what_was_seen_and_looks_again_where_it_goes_on(
    network: GroundingNetwork, tmp_path: Path
) -> None:
    look, _ = watch(network, tmp_path)
    look(0)
    better(network)
    best = keep(network, tmp_path)
    look(5)
    for _ in range(40):
        worse(network)
    keep(network, tmp_path)
    assert look(10) is False
    again, seen = watch(network, tmp_path)
    assert again(10) is False
    assert again.seen == look.seen
    worse(network)
    keep(network, tmp_path)
    assert again(15) is True
    assert [step for step, _ in seen] == [10, 15]
    assert best_file(tmp_path).read_bytes() == best


def test_what_was_there_before_the_run_is_not_handed_in_as_its_outcome(
    network: GroundingNetwork, tmp_path: Path
) -> None:
    look, _ = watch(network, tmp_path)
    look(0)
    worse(network)
    trained = keep(network, tmp_path)
    look(5)
    assert best_file(tmp_path).read_bytes() == trained


def test_looking_leaves_the_network_learning(network: GroundingNetwork, tmp_path: Path) -> None:
    network.train()
    look, _ = watch(network, tmp_path)
    look(0)
    assert network.training
    assert all(parameter.grad is None for parameter in network.parameters())
