"""Two processes that share a batch end where one ends that has all of it: DDP, and FSDP2 with weights in pieces."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.model.optim.ranks_script import network

SCRIPT = Path(__file__).with_name("ranks_script.py")


@pytest.mark.parametrize(
    ("how", "mode"), [("ddp", "whole"), ("fsdp", "whole"), ("fsdp", "blocks"), ("fsdp", "seeded"), ("fsdp", "source")]
)
def test_two_processes_end_where_one_ends(how: str, mode: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), how, mode, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    start = network().state_dict()
    ends = [torch.load(tmp_path / f"{name}.pt") for name in ("alone", "0", "1")]
    for end in ends[1:]:
        assert end["counts"] == ends[0]["counts"] and end["counts"]["skipped"] > 0
        for name, value in ends[0]["weights"].items():
            # Sums in another order round other codes of eight bits, which is little beside the way of five steps.
            assert float((end["weights"][name] - value).norm()) < 0.01 * float((value - start[name]).norm()), name
