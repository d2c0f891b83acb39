"""Several processes of one run, on gloo."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.support.repository import ROOT

SCRIPT = Path(__file__).with_name("ranks_script.py")
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """Where each run ended: [objective][run][rank]."""
    folder = tmp_path_factory.mktemp("ranks")
    subprocess.run([sys.executable, str(SCRIPT), "compare", str(folder)], check=True, env=ENVIRONMENT)
    return {
        name: {
            run: [torch.load(path, weights_only=True) for path in sorted((folder / name / run).iterdir())]
            for run in ("one", "two", "part", "rest")
        }
        for name in ("alternating", "segmentation")
    }


def same(one, other):
    return all(torch.equal(tensor, other["weights"][name]) for name, tensor in one["weights"].items())


@pytest.mark.parametrize("name", ["alternating", "segmentation"])
def test_two_processes_end_like_one_that_accumulates_twice_as_much(name, ends):
    one, (first, second) = ends[name]["one"][0], ends[name]["two"]
    assert same(first, second), "ranks must not drift apart"
    assert same(first, one)
    assert first["version"] == second["version"] == one["version"]


@pytest.mark.parametrize("name", ["alternating", "segmentation"])
def test_the_first_process_reports_the_means_over_all(name, ends):
    one, (first, second) = ends[name]["one"][0], ends[name]["two"]
    assert second["metrics"] == []
    for expected, line in zip(one["metrics"], first["metrics"], strict=True):
        assert line["step"] == expected["step"] and line["loss"] == pytest.approx(expected["loss"])
        assert line.keys() == expected.keys()


@pytest.mark.parametrize("name", ["alternating", "segmentation"])
def test_the_first_process_stops_all_and_another_number_goes_on_with_the_next_samples(name, ends):
    part, rest = ends[name]["part"], ends[name]["rest"][0]
    assert [(one["step"], one["cancelled"]) for one in part] == [(3, True), (3, True)]
    assert rest["step"] == 6 and not rest["cancelled"]
    assert same(rest, ends[name]["one"][0])


def test_a_killed_process_ends_all_with_a_sentence(tmp_path):
    # torchrun looks every two seconds: the other process ends by itself before torchrun ends it.
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--monitor-interval", "2", "--standalone"]
    done = subprocess.run(
        [*torchrun, "--nproc-per-node", "2", str(SCRIPT), "killed", str(tmp_path)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "SIGKILL" in done.stderr, "torchrun names the process that was killed"
    assert "Another process of this run ended" in done.stderr
