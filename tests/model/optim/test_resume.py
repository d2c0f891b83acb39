"""A run that is saved, loaded and continued is equal to the bit to the one that was never interrupted."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR

from model.optim import MODES, Factor, History, NaturalGradient, RangeFinder, Seeded, Tucker
from tests.support.optimizer_problems import SEEDED, copied, network, short, train
from tests.support.repository import ROOT

SCRIPT = Path(__file__).with_name("resume_script.py")

# Bases are drawn at steps 0, 5, 10 and 15; the window is full after step 6; roots are taken every third step. A save
# after 8 steps lies inside all of these periods, also for the one parameter that has made 7.
REFRESH, WINDOW, INTERVAL = 5, 6, 3
SAVED, END = 8, 17

VARIANTS: dict[str, dict[str, Any]] = {
    **{mode: short(mode, REFRESH, WINDOW, INTERVAL) for mode in MODES},
    "range finder": SEEDED | {"subspace": RangeFinder(refresh=REFRESH)},
    "own seeds, slow roots": SEEDED
    | {"subspace": Seeded(refresh=REFRESH, shared=False), "preconditioner": Factor(interval=50)},
    "tucker with a history in bfloat16": SEEDED
    | {"subspace": Tucker(refresh=REFRESH), "preconditioner": History(window=WINDOW, dtype="bfloat16")},
}

every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
every_dtype = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])


def begun(variant: dict[str, Any], dtype: torch.dtype) -> tuple[nn.Module, NaturalGradient, OneCycleLR]:
    layers = network(dtype)
    optimizer = NaturalGradient(layers.parameters(), lr=0.01, weight_decay=0.01, **variant)
    return layers, optimizer, OneCycleLR(optimizer, max_lr=0.02, total_steps=END, cycle_momentum=True)


def saved(layers: nn.Module, optimizer: NaturalGradient, schedule: OneCycleLR) -> dict[str, Any]:
    parts: dict[str, Any] = {"layers": layers, "optimizer": optimizer, "schedule": schedule}
    return {name: part.state_dict() for name, part in parts.items()}


@every_dtype
@every_variant
def test_a_resumed_run_is_equal_to_the_bit(variant: dict[str, Any], dtype: torch.dtype, tmp_path: Path) -> None:
    layers, optimizer, schedule = begun(variant, dtype)
    train(layers, optimizer, range(SAVED), schedule)
    torch.save(saved(layers, optimizer, schedule), tmp_path / "run.pt")
    steps = {state["step"] for state in optimizer.state.values()}
    assert steps == {SAVED, SAVED - 1}
    assert all(step % period for step in steps for period in (REFRESH, WINDOW, INTERVAL))
    assert min(steps) > WINDOW
    train(layers, optimizer, range(SAVED, END), schedule)

    ends = []
    for with_state in (True, False):
        loaded = torch.load(tmp_path / "run.pt", weights_only=True)
        if not with_state:
            loaded["optimizer"]["state"] = {}
        # Built with other settings and another schedule: what was saved wins, as it does in torch.
        resumed = network(dtype)
        again = NaturalGradient(resumed.parameters(), lr=1.0)
        beside = OneCycleLR(again, max_lr=0.5, total_steps=3)
        for part, name in ((resumed, "layers"), (again, "optimizer"), (beside, "schedule")):
            part.load_state_dict(loaded[name])
        train(resumed, again, range(SAVED, END), beside)
        ends.append(copied(again, list(resumed.parameters())))
        if with_state:
            assert again.counts() == optimizer.counts()
            assert again.counts()["skipped"] == 1
    whole = copied(optimizer, list(layers.parameters()))
    assert [value.dtype for value in ends[0]] == [value.dtype for value in whole]
    assert all(torch.equal(a, b) for a, b in zip(ends[0], whole, strict=True))
    weights = len(list(layers.parameters()))
    assert not any(torch.equal(a, b) for a, b in zip(ends[1][:weights], whole[:weights], strict=True))


def test_a_new_process_goes_on_from_the_file_to_the_bit(tmp_path: Path) -> None:
    runs = {
        f"{name}, {dtype}": begun(variant, dtype)
        for name, variant in VARIANTS.items()
        for dtype in (torch.float32, torch.bfloat16)
    }
    for layers, optimizer, schedule in runs.values():
        train(layers, optimizer, range(SAVED), schedule)
    torch.save({name: saved(*run) for name, run in runs.items()}, tmp_path / "begun.pt")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, str(SCRIPT), str(tmp_path), str(SAVED), str(END)], check=True, env=environment)
    ended = torch.load(tmp_path / "ended.pt", weights_only=True)
    assert set(ended) == set(runs)
    for name, (layers, optimizer, schedule) in runs.items():
        train(layers, optimizer, range(SAVED, END), schedule)
        whole = copied(optimizer, list(layers.parameters()))
        assert all(torch.equal(a, b) for a, b in zip(ended[name], whole, strict=True)), name
