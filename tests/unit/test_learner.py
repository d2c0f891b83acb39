"""What a run's settings make of the optimizer."""

import pytest
import torch

from engine.errors import Refused
from engine.interchange.grounded import GroundedPage
from engine.training.choices import RunSettings
from engine.training.corpus import Corpus
from engine.training.learner import begins_at_origin, described, optimizer_for
from model.network import GroundingNetwork
from model.presets import NANO


def settings(**chosen: object) -> RunSettings:
    return RunSettings.model_validate({"seed": 0, "steps": 10, "minutes": 1.0, "rate": 1e-3, **chosen})


@pytest.fixture(scope="module")
def network() -> GroundingNetwork:
    with torch.device("meta"):
        return GroundingNetwork(NANO)


def test_matrices_learn_at_their_own_rate_and_embeddings_and_norms_at_the_run_s(network: GroundingNetwork) -> None:
    matrices, rest = optimizer_for(network, settings(matrix_rate=3.0)).param_groups
    assert (matrices["lr"], rest["lr"]) == (pytest.approx(3e-3), 1e-3)
    assert all(parameter.dim() >= 2 for parameter in matrices["params"])
    assert described(network, settings(matrix_rate=3.0))["matrix_rate"] == 3.0


def test_adamw_has_one_rate(network: GroundingNetwork) -> None:
    optimizer = optimizer_for(network, settings(optimizer="adamw"))
    assert {group["lr"] for group in optimizer.param_groups} == {1e-3}
    assert "matrix_rate" not in described(network, settings(optimizer="adamw"))


def test_a_mode_that_is_not_there_is_refused_with_those_that_are(network: GroundingNetwork) -> None:
    with pytest.raises(Refused, match=r"no mode 'newton'.*history"):
        optimizer_for(network, settings(mode="newton"))


@pytest.mark.parametrize(("pages", "anew"), [(1, True), (13, True), (14, False), (500, False)])
def test_a_run_begins_anew_while_its_steps_see_every_page_six_times(pages: int, anew: bool) -> None:
    corpus = Corpus(tuple(GroundedPage(str(at), "", 1, 1, [], []) for at in range(pages)), {}, {})
    chosen = settings(steps=40, replay=0.5, pages=4)  # 80 pages drawn
    assert begins_at_origin(chosen, corpus) is anew
    assert begins_at_origin(chosen.model_copy(update={"begin": "origin"}), corpus)
    assert not begins_at_origin(chosen.model_copy(update={"begin": "champion"}), corpus)
