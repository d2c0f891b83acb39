"""Replay by distillation: a network is held to the answers that it gave before."""

import random
from pathlib import Path

import pytest
import torch
from torch import Tensor

from model import checkpoint
from model.heads.word_head import WordAnswer
from model.learning import Plan, learn
from model.objectives.alternating import Alternating
from model.objectives.objective import CHECKPOINT_FILE
from model.objectives.promptable import Asking, PromptableSegmentation
from model.objectives.remembered_answers import RememberedAnswers, divergences
from model.objectives.segmentation import Targets
from model.optim import NaturalGradient, parameter_groups
from tests.support.drawn_pages import example
from tests.support.factories import tiny_network

PLAIN = Asking(prompted_steps=0.0, anchors_dropped=0.0)
WORDS = ("pointing", "words", "answered", "by_words", "word_iou")


def remembered(image: bool = False) -> RememberedAnswers:
    return RememberedAnswers(tiny_network(), lambda step: [example(image)], PLAIN)


def losses(objective: RememberedAnswers, steps: int = 6) -> dict[str, float]:
    """Mean parts of the loss over some steps."""
    found: dict[str, list[float]] = {}
    for step in range(steps):
        torch.manual_seed(step)
        for name, value in objective.loss(step, random.Random(step))[1].items():
            found.setdefault(name, []).append(float(value))
    return {name: sum(values) / len(values) for name, values in found.items()}


def disturb(objective: RememberedAnswers, by: float) -> None:
    torch.manual_seed(7)
    with torch.no_grad():
        for parameter in objective.network.parameters():
            parameter.add_(torch.randn_like(parameter) * by)


def test_an_unchanged_network_has_nothing_to_learn() -> None:
    objective = remembered()
    assert losses(objective) == pytest.approx(dict.fromkeys((*WORDS, "loss"), 0.0), abs=1e-6)


def test_the_loss_grows_with_the_distance_and_learning_brings_the_answers_back() -> None:
    objective = remembered()
    disturb(objective, 0.02)
    near = losses(objective)
    disturb(objective, 0.05)
    far = losses(objective)
    assert 0 < near["loss"] < far["loss"] and all(far[name] >= 0 for name in WORDS)
    optimizer = torch.optim.AdamW([one for one in objective.learned.parameters() if one.requires_grad], 2e-3)
    learn(objective, optimizer, Plan(steps=40, seed=1, warmup=1))
    assert losses(objective)["loss"] < far["loss"] / 2


def test_both_answers_begin_at_the_same_word(monkeypatch: pytest.MonkeyPatch) -> None:
    objective = remembered()
    disturb(objective, 0.05)
    seen: list[tuple[list[int], list[int]]] = []

    def compared(answer: WordAnswer, before: WordAnswer, targets: Targets) -> dict[str, Tensor]:
        """The real divergences, and where the answers began."""
        seen.append((answer.seeds[:, 0].tolist(), before.seeds[:, 0].tolist()))
        return divergences(answer, before, targets)

    monkeypatch.setattr("model.objectives.remembered_answers.divergences", compared)
    losses(objective, steps=12)
    assert all(one == other for one, other in seen)
    assert len({tuple(one) for one, _ in seen}) > 1, "drawn anew in each step"


def test_regions_are_learned_from_their_labels() -> None:
    found = losses(remembered(image=True), steps=1)
    assert found["mask_one"] > 0 and found["answered"] == pytest.approx(0, abs=1e-6)


def test_the_network_as_it_was_is_kept_by_a_resumed_run_and_not_handed_on(tmp_path: Path) -> None:
    plan = Plan(steps=6, seed=2, warmup=1, checkpoint_every=2)

    def learned(folder: str, **options: object) -> dict[str, Tensor]:
        network = tiny_network()
        parts = {
            "questions": PromptableSegmentation(network, lambda step: [example()]),
            "replay": RememberedAnswers(network, lambda step: [example()]),
        }
        objective = Alternating(network, parts, (0.5, 0.5), main="questions")
        optimizer = NaturalGradient.from_mode(parameter_groups(objective.learned), "blocks", lr=1e-2)
        learn(objective, optimizer, plan, folder=tmp_path / folder, **options)  # type: ignore[arg-type]
        return objective.learned.state_dict()

    whole = learned("whole")
    stops = iter([False, False, True])
    learned("parts", cancelled=lambda: next(stops))
    parts = learned("parts", resume=True)
    assert all(torch.equal(value, parts[name]) for name, value in whole.items())
    as_it_was = tiny_network().state_dict()
    assert all(torch.equal(value, whole[f"replay_before.{name}"]) for name, value in as_it_was.items())
    assert any(not torch.equal(value, whole[f"network.{name}"]) for name, value in as_it_was.items())
    assert set(checkpoint.load(tmp_path / "whole" / CHECKPOINT_FILE).state) == set(as_it_was)
