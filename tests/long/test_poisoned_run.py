"""A retraining from a poisoned batch is not promoted: the gate refuses it, and who is known for it teaches nothing at all."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from db.tables import Document
from engine.commands.servers.background import run_worker
from engine.jobs import queue
from engine.models import registry
from engine.statistics.project_agreement import project_agreement
from engine.training.retraining import trigger
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.factories import BILL_QUESTIONS, SIZE, accept, bill, make_document, make_project
from tests.support.factories import save_tiny_model as save_model

# What learns well from right answers; see test_loop.
LEARNING: dict[str, Any] = {
    "steps": 60,
    "generated_pages": 3,
    "pages": 4,
    "questions": 3,
    "images": 0.0,
    "replay": 0.0,
    "rate": 5e-3,
    "matrix_rate": 1.0,
    "checkpoint_every": 60,
    "seed": 5,
}
Mark = Callable[[Workspace, Document, str, list[int]], object]


@pytest.fixture
def shop(sqlite_workspace: Workspace, tmp_path: Path) -> Workspace:
    save_model(tmp_path / "tiny.safetensors")
    settings = sqlite_workspace.settings.model_copy(update={"model_path": tmp_path / "tiny.safetensors"})
    return Workspace(settings, sqlite_workspace.database, sqlite_workspace.blobs)


def bills(shop: Workspace, project_id: str, mark: Mark) -> None:
    """Eight bills to learn from, with one person's answers, and six rightly answered that judge."""
    for number in range(14):
        split = "train" if number < 8 else "recent"
        document = make_document(shop, project_id, [bill(number)], split=split, name=f"bill {number}.png")
        for question, words in BILL_QUESTIONS.items():
            if split == "train":
                mark(shop, document, question, words)
            else:
                accept(shop, document, question, words, author="Ann")


def rightly(shop: Workspace, document: Document, question: str, words: list[int]) -> None:
    accept(shop, document, question, words, author="Ann")


class Anyhow:
    """Mal, who marks any place."""

    def __init__(self) -> None:
        self.rng = random.Random(2)

    def __call__(self, shop: Workspace, document: Document, question: str, words: list[int]) -> None:
        x, y = self.rng.randrange(SIZE[0] - 90), self.rng.randrange(SIZE[1] - 60)
        box = (x, y, x + self.rng.randrange(20, 90), y + self.rng.randrange(10, 60))
        accept(shop, document, question, mask=rasterise([box], (SIZE[1], SIZE[0])), author="Mal")


def champion(shop: Workspace, project_id: str) -> str:
    return next(one.label for one in registry.versions(shop, project_id) if one.champion)


def test_the_gate_refuses_what_was_learned_from_random_masks_and_passes_what_was_learned_from_right_ones(
    shop: Workspace,
) -> None:
    for name, mark, passed in (("right", rightly, True), ("poisoned", Anyhow(), False)):
        project = make_project(shop, name)
        bills(shop, project.id, mark)
        job = trigger.request(shop, project.id, **LEARNING)
        run_worker(shop, once=True)
        result = queue.job_by_id(shop, job.id).result
        assert result["passed"] is result["promoted"] is passed, result
        assert champion(shop, project.id) == ("v1" if passed else "nano")


def test_nothing_is_learned_from_somebody_who_is_known_to_answer_anyhow(shop: Workspace) -> None:
    project = make_project(shop)
    mal = Anyhow()
    bills(shop, project.id, mal)
    for number in range(20, 28):  # on documents that judge, others answered the same questions
        document = make_document(shop, project.id, [bill(number)], split="recent", name=f"bill {number}.png")
        for question, words in BILL_QUESTIONS.items():
            accept(shop, document, question, words, author="Ann", status="submitted")
            accept(shop, document, question, words, author="Ben", status="submitted")
            mal(shop, document, question, words)
    assert project_agreement(shop, project.id).reliability[0].person == "Mal"
    job = trigger.request(shop, project.id, **LEARNING)
    run_worker(shop, once=True)
    ended = queue.job_by_id(shop, job.id)
    assert ended.status == "failed"
    assert ended.message.startswith("No answer for training has a weight above 0")
    assert champion(shop, project.id) == "nano"
