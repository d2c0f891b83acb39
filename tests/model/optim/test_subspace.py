"""Subspaces: bases, projection against tensorly, what a change of basis carries."""

import pytest
import tensorly
import torch
from tensorly import tenalg
from tensorly.decomposition import partial_tucker
from torch.linalg import LinAlgError  # type: ignore[attr-defined]  # torch's stubs lack it

from model.optim import RangeFinder, Seeded, Svd, Tucker, subspace
from model.optim.choices import Subspace


def low_rank(*shape: int, rank: int = 4, noise: float = 0.1, seed: int = 0) -> torch.Tensor:
    """A tensor of low Tucker rank and noise, float64."""
    generator = torch.Generator().manual_seed(seed)
    tensor = torch.randn(*[rank] * len(shape), generator=generator, dtype=torch.float64)
    for mode, size in enumerate(shape):
        factor = torch.randn(size, rank, generator=generator, dtype=torch.float64)
        tensor = torch.tensordot(factor, tensor, dims=([1], [mode])).movedim(0, mode)
    return tensor / tensor.std() + noise * torch.randn(shape, generator=generator, dtype=torch.float64)


def assert_orthonormal(factor: torch.Tensor) -> None:
    assert torch.allclose(factor.mT @ factor, torch.eye(factor.shape[1], dtype=factor.dtype), atol=1e-5)


@pytest.mark.parametrize(
    ("shape", "choice", "view", "low"),
    [
        ((8, 20), Seeded(rank=3), (8, 20), (3, 20)),
        ((20, 8), Seeded(rank=3), (8, 20), (3, 20)),
        ((20, 8), Svd(rank=3, side="rows"), (20, 8), (3, 8)),
        ((8, 20), RangeFinder(rank=3, side="columns"), (20, 8), (3, 8)),
        ((8, 20), Seeded(rank=50), (8, 20), (8, 20)),
        ((8, 20), Seeded(fraction=0.01), (8, 20), (1, 20)),
        ((16, 3, 3, 3), Seeded(), (16, 27), (4, 27)),
        ((8, 20), Tucker(rank=3), (8, 20), (3, 3)),
        ((8, 6, 10), Tucker(fraction=0.5), (8, 6, 10), (4, 3, 5)),
        ((16, 8, 3, 3), Tucker(), (16, 8, 3, 3), (4, 2, 3, 3)),
        ((8, 6, 10), Tucker(modes=(2,), rank=2), (8, 6, 10), (8, 6, 2)),
    ],
)
def test_geometry_of_a_parameter(shape: tuple[int, ...], choice: Subspace, view: object, low: object) -> None:
    found = subspace.geometry(shape, choice)
    assert found is not None
    assert (found.view, found.low) == (view, low)
    tensor = torch.randn(shape)
    assert subspace.as_view(tensor, found).shape == found.view
    assert torch.equal(subspace.from_view(subspace.as_view(tensor, found), found, tensor.shape), tensor)


@pytest.mark.parametrize("shape", [(), (5,), (1, 1), (1, 7), (7, 1), (1, 4, 6), (0, 4)])
def test_what_is_a_vector_in_effect_has_no_subspace(shape: tuple[int, ...]) -> None:
    assert subspace.geometry(shape, Seeded()) is None


def test_tucker_modes_that_a_parameter_lacks_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit a parameter of shape"):
        subspace.geometry((4, 5), Tucker(modes=(2,)))


@pytest.mark.parametrize(
    ("shape", "modes"), [((9, 7), (0, 1)), ((8, 6, 3, 3), (0, 1)), ((5, 6, 7), (0, 1, 2)), ((5, 6, 7), (2,))]
)
def test_projection_is_tensorlys_with_the_same_factors(shape: tuple[int, ...], modes: tuple[int, ...]) -> None:
    tensor = low_rank(*shape)
    factors = subspace.tucker_factors(tensor, modes, [3] * len(modes), 2)
    with tensorly.backend_context("pytorch", local_threadsafe=True):
        core = tenalg.multi_mode_dot(tensor, factors, modes=list(modes), transpose=True)
        back = tenalg.multi_mode_dot(core, factors, modes=list(modes))
    stacked = [factor[None] for factor in factors]
    low = subspace.project(tensor[None], stacked, modes)
    assert torch.allclose(low[0], core, rtol=1e-12, atol=1e-12)
    assert torch.allclose(subspace.lift(low, stacked, modes)[0], back, rtol=1e-12, atol=1e-12)


def test_a_stack_is_projected_like_its_parts() -> None:
    tensors = torch.stack([low_rank(6, 5, 4, seed=s) for s in range(3)])
    parts = [subspace.tucker_factors(tensor, (0, 2), (3, 2), 1) for tensor in tensors]
    factors = [torch.stack(each) for each in zip(*parts, strict=True)]
    whole = subspace.project(tensors, factors, (0, 2))
    for i, tensor in enumerate(tensors):
        alone = subspace.project(tensor[None], [f[None] for f in parts[i]], (0, 2))
        assert torch.allclose(whole[i], alone[0])


@pytest.mark.parametrize(("shape", "modes"), [((40, 30), (0, 1)), ((16, 12, 3, 3), (0, 1)), ((12, 10, 8), (0, 1, 2))])
def test_tucker_holds_nearly_the_energy_of_hooi(shape: tuple[int, ...], modes: tuple[int, ...]) -> None:
    tensor = low_rank(*shape, rank=3, noise=0.5)
    ranks = [3] * len(modes)
    with tensorly.backend_context("pytorch", local_threadsafe=True):
        (core, _), _ = partial_tucker(tensor, rank=ranks, modes=list(modes), init="svd", n_iter_max=100, tol=1e-8)
    factors = [f[None] for f in subspace.tucker_factors(tensor, modes, ranks, 2)]
    assert subspace.project(tensor[None], factors, modes).norm() > 0.95 * core.norm()


def test_tensorlys_backend_is_left_as_it_was() -> None:
    before = tensorly.get_backend()
    subspace.tucker_factors(low_rank(6, 5), (0, 1), (2, 2), 1)
    assert tensorly.get_backend() == before


def test_the_range_finder_completes_a_basis_of_a_matrix_with_fewer_directions() -> None:
    matrix = torch.randn(100, 10, generator=torch.Generator().manual_seed(2))
    basis = subspace.range_finder_basis(matrix, 30, RangeFinder(), seed=3)
    assert basis.shape == (100, 30)
    assert torch.allclose(basis.mT @ basis, torch.eye(30), atol=1e-5)
    assert float((basis.mT @ matrix).norm() / matrix.norm()) == pytest.approx(1.0, abs=1e-5)


def test_the_range_finder_holds_nearly_the_energy_of_the_svd() -> None:
    matrix = low_rank(40, 90, rank=8, noise=0.3)
    best = torch.linalg.svdvals(matrix)[:8].square().sum()
    basis = subspace.range_finder_basis(matrix, 8, RangeFinder(), seed=3)
    assert_orthonormal(basis)
    assert (basis.mT @ matrix).square().sum() > 0.98 * best
    leading = subspace.svd_basis(matrix, 8)
    assert torch.isclose((leading.mT @ matrix).square().sum(), best)


@pytest.mark.parametrize("choice", [RangeFinder(rank=6), Svd(rank=6), Tucker(rank=6)])
@pytest.mark.parametrize("shape", [(8, 30), (30, 8), (8, 3)])
def test_fitted_bases_are_orthonormal_even_for_a_gradient_of_rank_one(
    choice: RangeFinder | Svd | Tucker, shape: tuple[int, int]
) -> None:
    outer = torch.outer(torch.arange(1.0, shape[0] + 1), torch.ones(shape[1]))
    found = subspace.geometry(shape, choice)
    assert found is not None
    for gradient in (outer, torch.randn(shape)):
        factors = subspace.fit_factors(subspace.as_view(gradient, found), found, choice, seed=1)
        assert [f.shape[1] for f in factors] == list(found.ranks)
        for factor in factors:
            assert_orthonormal(factor)


def test_a_decomposition_that_fails_is_replaced_by_a_random_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise LinAlgError("did not converge")

    found = subspace.geometry((8, 30), Svd(rank=3))
    assert found is not None
    monkeypatch.setattr(torch.linalg, "svd", fails)
    (factor,) = subspace.fit_factors(torch.randn(8, 30), found, Svd(rank=3), seed=1)
    assert factor.shape == (8, 3)
    assert_orthonormal(factor)


def test_a_seeded_basis_is_orthonormal_and_the_same_every_time() -> None:
    like = torch.empty(0)
    first, again, other = (subspace.seeded_basis(40, 10, seed, like) for seed in (5, 5, 6))
    assert_orthonormal(first)
    assert torch.equal(first, again)
    assert (first.mT @ other).norm() < 0.8 * first.norm()


def test_derived_seeds_are_stable_and_apart() -> None:
    # The figure is part of the format: a resumed run on another machine must find the same basis.
    assert subspace.derive_seed(0, 1, 2) == 4727102316523150270
    seeds = {subspace.derive_seed(a, b) for a in range(30) for b in range(30)}
    assert len(seeds) == 900


def test_random_bases_are_uniform_over_directions() -> None:
    # The mean projector of a uniform random subspace is (r / n) I. A QR without the sign rule passes too, a biased
    # draw does not.
    bases = torch.stack([subspace.seeded_basis(6, 2, seed, torch.empty(0)) for seed in range(3000)])
    mean = (bases @ bases.mT).mean(0)
    assert torch.allclose(mean, torch.eye(6) / 3, atol=0.03)
    assert bases.mean(0).abs().max() < 0.05
