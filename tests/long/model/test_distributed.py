"""The ranks of a run on gloo, each a forked process; whole runs are in tests/long/model/test_ranks.py."""

import multiprocessing
import os
import random
import signal
import socket
from pathlib import Path

import pytest
import torch
from torch import nn

from model.distributed import ALONE, RankLost, Ranks, device_of_rank, join_ranks
from model.learning import Plan, learn
from model.objectives.objective import Objective


class Fitting(Objective):
    """Fits random targets by one of two layers; a third, and the statistics of a norm, depend on the rank alone."""

    def __init__(self, seed: int = 0, spoiled_at: int | None = None) -> None:
        torch.manual_seed(seed)
        self.layers = [nn.Linear(6, 4) for _ in range(3)]
        self.norm = nn.BatchNorm1d(6, affine=False)
        self.learned = nn.ModuleList([*self.layers, self.norm])
        self.spoiled_at = spoiled_at

    def loss(self, step: int, rng: random.Random):
        inputs = self.norm(torch.randn(8, 6))
        loss = (self.layers[rng.randrange(2)](inputs) - torch.randn(8, 4)).square().mean()
        if step == self.spoiled_at:
            loss = loss * float("nan")
        return loss, {"loss": loss.detach()}

    def save(self, folder: Path) -> str:
        return "kept"


def of_two_ranks(work, folder):
    """Return what `work(ranks)` returns on each of two ranks."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])

    def run(rank: int) -> None:
        os.environ |= {
            "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": str(rank),
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port,
        }  # fmt: skip
        torch.set_num_threads(1)
        with join_ranks() as ranks:
            torch.save(work(ranks), folder / f"{rank}.pt")

    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=run, args=(rank,)) for rank in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    found = []
    for rank, process in enumerate(processes):
        assert process.exitcode in (0, -signal.SIGKILL)
        found.append(torch.load(folder / f"{rank}.pt", weights_only=False) if process.exitcode == 0 else None)
    return found


def weights(objective):
    return {name: one.clone() for name, one in objective.learned.state_dict().items()}


def trained(ranks, folder, accumulate, *, seed=0, spoiled_at=None):
    objective = Fitting(seed, spoiled_at)
    optimizer = torch.optim.AdamW(objective.learned.parameters(), 1e-2)
    plan = Plan(steps=4, seed=1, accumulate=accumulate)
    outcome = learn(objective, optimizer, plan, folder=folder, ranks=ranks)
    return weights(objective), outcome.version


def test_without_torchrun_nothing_is_joined(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with join_ranks() as ranks:
        assert ranks == ALONE == Ranks(0, 1) and ranks.first
    parameter = nn.Parameter(torch.ones(2))
    ALONE.sum_gradients([parameter])
    assert parameter.grad is None
    assert ALONE.on_first(lambda: 3) == 3 and ALONE.gather(4) == [4]


def test_a_rank_computes_on_the_gpu_of_its_number(monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert [device_of_rank(name) for name in ("cuda", "cuda:1", "cpu")] == ["cuda:3", "cuda:1", "cpu"]
    monkeypatch.delenv("LOCAL_RANK")
    assert device_of_rank("cuda") == "cuda:0"


def test_two_ranks_learn_what_one_learns_with_twice_the_accumulation(tmp_path):
    expected, _ = trained(ALONE, None, 4)
    both = of_two_ranks(lambda ranks: trained(ranks, tmp_path / "run", 2, seed=ranks.rank), tmp_path)
    for found, version in both:
        assert version == "kept"
        for name, tensor in expected.items():
            if "running" in name:  # each rank saw half of the samples; the mean of both is kept
                assert torch.equal(found[name], both[0][0][name])
            elif "num_batches" not in name:
                torch.testing.assert_close(found[name], tensor, rtol=1e-5, atol=1e-6, msg=name)
    untouched = Fitting(0).layers[2]
    assert torch.equal(both[1][0]["2.weight"], untouched.weight), "a layer without gradients is left alone"


def test_a_loss_that_is_not_finite_on_one_rank_ends_all(tmp_path):
    def work(ranks):
        with pytest.raises(FloatingPointError, match="nan at step 2; lower the learning rate"):
            trained(ranks, None, 1, spoiled_at=5)  # a sample of the second rank
        return True

    assert of_two_ranks(work, tmp_path) == [True, True]


def test_an_error_of_the_first_rank_is_raised_on_all(tmp_path):
    def refuse():
        raise ValueError("The folder already holds a run.")

    def work(ranks):
        with pytest.raises(ValueError, match="already holds a run"):
            ranks.on_first(refuse)
        return ranks.on_first(lambda: ranks.rank), ranks.gather(ranks.rank * 10)

    assert of_two_ranks(work, tmp_path) == [(0, [0, 10]), (0, [0, 10])]


def test_the_others_find_the_files_of_the_first(tmp_path):
    def work(ranks):
        def pages() -> str:
            path = tmp_path / "pages.txt"
            if not path.exists():
                path.write_text(f"made by {ranks.rank}")
            return f"{path.read_text()}, read by {ranks.rank}"

        return ranks.in_turn(pages)

    assert of_two_ranks(work, tmp_path) == ["made by 0, read by 0", "made by 0, read by 1"]


def test_a_killed_rank_is_told_to_the_other(tmp_path):
    def work(ranks):
        ranks.gather(None)
        if ranks.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        with pytest.raises(RankLost, match=r"Another process of this run ended.*--resume"):
            ranks.gather(None)
        return True

    assert of_two_ranks(work, tmp_path) == [True, None]
