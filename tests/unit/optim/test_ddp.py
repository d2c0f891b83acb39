"""DistributedDataParallel: every world size follows the same path on the same global batch."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

SCRIPT = Path(__file__).with_name("ddp_script.py")
ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("other", [2, pytest.param(4, marks=pytest.mark.long)])
def test_world_sizes_end_at_the_same_weights(other: int, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), "1", str(other)], check=True, timeout=400, env=environment
    )
    for mode in ("default", "history"):
        weights = [torch.load(tmp_path / f"{mode}_{world}.pt", weights_only=True) for world in (1, other)]
        one, many = (torch.cat([w.flatten() for w in each.values()]) for each in weights)
        assert torch.isfinite(one).all()
        assert float((many - one).norm() / one.norm()) < 1e-6
