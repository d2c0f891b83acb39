"""The figures that docs/benchmarks.md prints for the optimizer hold: on fewer draws than its benchmarks take, with the same functions."""

from __future__ import annotations

import pytest
import torch

from tests.benchmarks.optim import gram, numerics, tucker
from tests.benchmarks.optim.characters import CharacterTask
from tests.benchmarks.optim.gradients import gradients_of, shipped_network
from tests.benchmarks.optim.rows import rows as quality_rows
from tests.benchmarks.optim.state import MATRICES_BAR, rows, shares
from tests.benchmarks.optim.trial import Settings, Trial, run


def test_inverse_fisher_products_are_those_of_a_dense_solve_where_the_published_form_is_not() -> None:
    worst = numerics.worst_errors(numerics.collected(draws=1))
    assert worst["float64"] <= numerics.BARS["float64"]
    assert worst["float32"] <= numerics.BARS["float32"] < 1e-2 < worst["published"]


@pytest.mark.parametrize("name", list(gram.SUBSPACES))
@pytest.mark.parametrize("shape", gram.SHAPES.values(), ids=list(gram.SHAPES))
def test_the_streaming_gram_matrix_is_the_recomputed_one_for_a_thousand_steps(
    name: str, shape: tuple[int, ...]
) -> None:
    course = gram.course(gram.SUBSPACES[name](refresh=50), shape, 10, "float32", 1000)
    assert (course.wraps, course.turns) == (100, 19)
    assert max(course.streaming) <= gram.BAR


def test_tucker_bases_hold_what_converged_hooi_holds_of_real_gradients() -> None:
    found = [held for held in tucker.measure(gradients_of(shipped_network(), 2), 0.25) if held.basis == "tucker"]
    assert {held.kind for held in found} == set(tucker.KINDS)
    assert min(held.energy / held.best for held in found) >= tucker.CLOSE


@pytest.mark.parametrize("network", ["nano", "base"])
def test_the_default_keeps_a_sixth_of_adamws_state_for_the_matrices(network: str) -> None:
    assert shares(rows()["whole"], network)[0] <= MATRICES_BAR


def test_the_default_trains_a_transformer_further_than_adamw_at_either_of_two_rates() -> None:
    task = CharacterTask(128, torch.device("cpu"))

    def trained(name: str, rate: float) -> Trial:
        return run(task, quality_rows()[name].make, Settings(rate, 0.9, 0.0), 0, 150)

    others = [trained("adamw", rate) for rate in (2e-3, 4e-3)]
    assert trained("whole", 4e-3).loss < min(one.loss for one in others)
    assert all(one.loss < one.curve[0][1] for one in others)
