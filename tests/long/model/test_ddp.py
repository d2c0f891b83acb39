"""DistributedDataParallel: every world size follows the same path on the same global batch, in every mode."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from model.optim import MODES
from tests.support.repository import ROOT

SCRIPT = Path(__file__).with_name("ddp_script.py")

# Weights of a rank by mode.
Ends = dict[str, dict[str, Tensor]]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[Ends]]:
    """Where every rank of every world size ended."""
    folder = tmp_path_factory.mktemp("ddp")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    sizes = (1, 2, 4)
    command = [sys.executable, str(SCRIPT), str(folder), *map(str, sizes)]
    subprocess.run(command, check=True, timeout=400, env=environment)
    return {size: torch.load(folder / f"{size}.pt", weights_only=True) for size in sizes}


def flat(weights: dict[str, Tensor]) -> Tensor:
    return torch.cat([value.flatten() for value in weights.values()])


@pytest.mark.parametrize("mode", MODES)
def test_world_sizes_end_at_the_same_weights(mode: str, worlds: dict[int, list[Ends]]) -> None:
    one = flat(worlds[1][0][mode])
    assert one.dtype == torch.float64
    assert torch.isfinite(one).all()
    for size in (2, 4):
        assert float((flat(worlds[size][0][mode]) - one).norm() / one.norm()) < 1e-6


@pytest.mark.parametrize("mode", MODES)
def test_ranks_of_one_world_stay_equal_to_the_bit(mode: str, worlds: dict[int, list[Ends]]) -> None:
    for size in (2, 4):
        assert len(worlds[size]) == size
        for other in worlds[size][1:]:
            assert torch.equal(flat(other[mode]), flat(worlds[size][0][mode]))
