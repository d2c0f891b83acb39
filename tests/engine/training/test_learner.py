"""What a run's settings make of the optimizer."""

import pytest
import torch

from engine.errors import Refused
from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.training.retraining.learner import describe_optimizer, is_watched, network_of, optimizer_for, source_for
from engine.training.retraining.run_settings import RunSettings, stored_settings
from engine.training.sources.corpus import Corpus
from engine.workspace import Workspace
from model.inference import SHIPPED
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
    assert describe_optimizer(network, settings(matrix_rate=3.0))["matrix_rate"] == 3.0


def test_adamw_has_one_rate(network: GroundingNetwork) -> None:
    optimizer = optimizer_for(network, settings(optimizer="adamw"))
    assert {group["lr"] for group in optimizer.param_groups} == {1e-3}
    assert "matrix_rate" not in describe_optimizer(network, settings(optimizer="adamw"))


def test_a_mode_that_is_not_there_is_refused_with_those_that_are(network: GroundingNetwork) -> None:
    with pytest.raises(Refused, match=r"no mode 'newton'.*history"):
        optimizer_for(network, settings(mode="newton"))


def test_a_network_is_trained_on_the_device_of_the_settings() -> None:
    network = network_of(SHIPPED, "full", "auto")
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert {one.device.type for one in network.parameters()} == {expected}


def test_a_device_that_is_not_there_refuses_the_run_and_names_the_setting() -> None:
    with pytest.raises(Refused, match=r"'cuda:99' is not available.*GLOSSATOR_DEVICE"):
        network_of(SHIPPED, "full", "cuda:99")


def test_the_mode_that_was_the_default_of_earlier_runs_is_read_by_its_name_of_today() -> None:
    stored = RunSettings(seed=3, minutes=5, mode="blocks").model_dump()
    assert stored_settings({**stored, "mode": "default"}) == stored_settings(stored)
    assert stored_settings({**stored, "mode": "history"}).mode == "history"


def test_matrices_have_the_rate_that_suits_the_mode_unless_a_run_names_one() -> None:
    assert settings(mode="whole").matrix_rate < settings(mode="blocks").matrix_rate
    assert settings(mode="whole", matrix_rate=3).matrix_rate == 3
    assert stored_settings(settings(mode="blocks").model_dump()) == settings(mode="blocks")


def test_runs_of_earlier_versions_with_settings_that_are_gone_are_read() -> None:
    stored = settings(mode="blocks")
    assert stored_settings({**stored.model_dump(), "distilled": False, "ended_at": 12}) == stored


def test_of_documents_like_each_other_all_teach_or_all_are_kept_for_early_stopping(sqlite_workspace: Workspace) -> None:
    groups = {f"document {number}": f"group {number // 3}" for number in range(60)}
    pages = [
        GroundedPage(
            name,
            None,
            300,
            200,
            [GroundedWord("Total:", (10, 10, 60, 24)), GroundedWord(name, (70, 10, 200, 24))],
            [GroundedQuestion("q", "What is the total?", [[1]])],
        )
        for name in groups
    ]
    corpus = Corpus(tuple(pages), {name: name for name in groups}, dict.fromkeys(groups, "train"), groups=groups)
    chosen = settings(watched=0.4, replay=0.0, images=0.0, pages=4, absent=0.0, disguised=0.0)
    source = source_for(sqlite_workspace, corpus, chosen)
    taught = {example.words[1].text for step in range(60) for example in source(step)}
    kept = set(groups) - taught
    assert is_watched(corpus, chosen)
    assert len(kept) >= 9
    assert {groups[name] for name in kept}.isdisjoint(groups[name] for name in taught)
