"""The optimizer's steps against slow references written from the equations."""

from typing import Any

import pytest
import torch
from torch import Tensor

from model.optim import (
    MODES,
    Factor,
    History,
    Momentum,
    NaturalGradient,
    Norm,
    Orthogonal,
    Partition,
    Residual,
    Seeded,
    Svd,
    Tucker,
    fisher,
)
from model.optim.choices import Adam
from tests.support.optimizer_problems import SEEDED


def gradients(shape: tuple[int, ...], count: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    """Gradients with a persistent part, as a run has."""
    generator = torch.Generator().manual_seed(seed)
    base = torch.randn(shape, generator=generator, dtype=dtype)
    return [base + torch.randn(shape, generator=generator, dtype=dtype) for _ in range(count)]


def run(optimizer: NaturalGradient, parameter: Tensor, given: list[Tensor]) -> Tensor:
    for gradient in given:
        parameter.grad = gradient.clone()
        optimizer.step()
    return parameter.detach().clone()


def parameter_of(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 9) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype))


@pytest.mark.parametrize(("shape", "modes"), [((9, 7), (0, 1)), ((6, 5, 4), (0, 1, 2)), ((8, 6, 3, 3), (0, 1))])
def test_the_source_mode_is_the_source_equation_by_equation(shape: tuple[int, ...], modes: tuple[int, ...]) -> None:
    damping, window, lr = 3.0, 4, 0.1
    parameter = parameter_of(*shape)
    given = gradients(shape, 11)
    optimizer = NaturalGradient.source([parameter], lr=lr, damping=damping, window=window, subspace=Tucker(rank=3))
    expected = parameter.detach().clone()
    columns: list[Tensor] = []
    for gradient in given:
        run(optimizer, parameter, [gradient])
        factors = [optimizer.state[parameter][f"factor_{mode}"] for mode in modes]
        low = gradient
        for factor, mode in zip(factors, modes, strict=True):  # step 1
            low = torch.tensordot(factor.T, low, dims=([1], [mode])).movedim(0, mode)
        columns = [*columns, low.flatten()][-window:]  # step 2
        natural = fisher.dense_solve(torch.stack(columns, dim=1), low.flatten(), damping).view_as(low)  # steps 3 to 5
        for factor, mode in zip(factors, modes, strict=True):  # step 6
            natural = torch.tensordot(factor, natural, dims=([1], [mode])).movedim(0, mode)
        expected -= lr * natural
    assert torch.allclose(parameter, expected, rtol=1e-10, atol=1e-12)


def seeded_by_hand(start: Tensor, given: list[Tensor], lr: float, decay: float) -> Tensor:
    """The mode seeded at full rank in the identity basis, without a subspace: whitened momentum, RMS 0.2."""
    point, momentum = start.clone(), torch.zeros_like(start)
    factor = torch.zeros(start.shape[0], start.shape[0], dtype=start.dtype)
    for step, gradient in enumerate(given):
        factor = 0.95 * factor + 0.05 * gradient @ gradient.T / gradient.shape[1]
        momentum = 0.9 * momentum + 0.1 * gradient
        values, vectors = torch.linalg.eigh(factor)
        root = vectors @ torch.diag((values + 1e-4 * values.max()) ** -0.5) @ vectors.T
        ahead = 0.9 * momentum / (1 - 0.9 ** (step + 2)) + 0.1 * gradient / (1 - 0.9 ** (step + 1))
        update = root @ ahead
        point = point * (1 - lr * decay) - lr * update * 0.2 / update.square().mean().sqrt()
    return point


@pytest.mark.parametrize("shape", [(6, 9), (9, 6)])
def test_a_seeded_basis_of_full_rank_gives_what_no_basis_gives(shape: tuple[int, int]) -> None:
    # Every part turns with the basis, so at full rank a random basis, refreshed twice with rotation, must
    # give what no basis gives.
    parameter = parameter_of(*shape)
    given = gradients(shape, 10)
    tall = shape[0] > shape[1]
    expected = seeded_by_hand(
        parameter.detach().T if tall else parameter.detach(), [g.T if tall else g for g in given], 0.05, 0.1
    )
    optimizer = NaturalGradient(
        [parameter],
        lr=0.05,
        weight_decay=0.1,
        **SEEDED | {"subspace": Seeded(rank=6, refresh=4), "preconditioner": Factor(interval=1)},
    )
    found = run(optimizer, parameter, given)
    assert torch.allclose(found.T if tall else found, expected, rtol=1e-9, atol=1e-10)


def test_without_rotation_a_refresh_changes_the_path() -> None:
    given = gradients((6, 9), 10)
    ends = []
    for rotate in (True, False):
        parameter = parameter_of(6, 9)
        ends.append(
            run(
                NaturalGradient(
                    [parameter], lr=0.05, **SEEDED | {"subspace": Seeded(rank=6, refresh=4, rotate=rotate)}
                ),
                parameter,
                given,
            )
        )
    assert not torch.allclose(ends[0], ends[1], rtol=1e-3)


def test_history_at_full_rank_rotates_with_the_basis() -> None:
    given = gradients((6, 9), 12)
    columns: list[Tensor] = []
    parameter = parameter_of(6, 9)
    expected = parameter.detach().clone()
    for gradient in given:
        columns = [*columns, gradient.flatten()][-4:]
        history = torch.stack(columns, dim=1)
        damping = 0.1 * float(history.square().sum()) / len(columns)
        expected -= 0.01 * damping * fisher.dense_solve(history, gradient.flatten(), damping).view_as(gradient)
    optimizer = NaturalGradient(
        [parameter],
        lr=0.01,
        subspace=Seeded(rank=6, refresh=5),
        preconditioner=History(window=4, damping=0.1),
        moments=None,
        residual=None,
        norm=None,
    )
    assert torch.allclose(run(optimizer, parameter, given), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("of", ["gradient", "momentum"])
@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_a_factor_without_a_norm_rule_steps_by_the_inverse_itself(of: str, exponent: float) -> None:
    gradient = gradients((6, 9), 1)[0]
    for scale in (1e-2, 1.0, 1e2):
        parameter = parameter_of(6, 9)
        start = parameter.detach().clone()
        optimizer = NaturalGradient(
            [parameter],
            lr=1.0,
            weight_decay=0.0,
            subspace=Partition(rank=6),
            preconditioner=Factor(of=of, beta=0.9 if of == "gradient" else 0.0, exponent=exponent, damping=1e-10),  # type: ignore[arg-type]
            moments=Momentum(beta=0.0, nesterov=False),
            residual=None,
            norm=None,
        )
        run(optimizer, parameter, [scale * gradient])
        values, vectors = torch.linalg.eigh(scale**2 * gradient @ gradient.mT / 9)
        expected = vectors @ torch.diag(values**-exponent) @ vectors.mT @ (scale * gradient)
        off = float((start - parameter.detach() - expected).norm() / expected.norm())
        assert off < (0.02 if (of, exponent) == ("momentum", 0.5) else 1e-4), "a root by polynomials is less exact"


def test_adam_in_a_full_subspace_is_adamw_on_the_projected_gradient() -> None:
    given = gradients((6, 9), 8)
    parameter = parameter_of(6, 9)
    optimizer = NaturalGradient.from_mode([parameter], "galore", lr=0.01, subspace=Seeded(rank=3), betas=(0.9, 0.99))
    found = run(optimizer, parameter, given)
    from model.optim.subspace import derive_seed, seeded_basis

    basis = seeded_basis(6, 3, derive_seed(0, 0, 6, 3), given[0])
    inner = torch.nn.Parameter(torch.zeros(3, 9, dtype=torch.float64))
    reference = torch.optim.Adam([inner], lr=0.01, betas=(0.9, 0.99))
    for gradient in given:
        inner.grad = basis.T @ gradient
        reference.step()
    assert torch.allclose(found, parameter_of(6, 9).detach() + basis @ inner.detach(), rtol=1e-9)


@pytest.mark.parametrize("choice", [Seeded(rank=3), Svd(rank=3)])
@pytest.mark.parametrize("shape", [(6, 9), (9, 6)])
def test_the_residual_is_the_rest_of_the_gradient_scaled_like_the_update(choice: Any, shape: tuple[int, int]) -> None:
    gradient = gradients(shape, 1)[0]
    ends = {}
    for residual in (None, Residual()):
        parameter = parameter_of(*shape)
        optimizer = NaturalGradient([parameter], lr=1.0, subspace=choice, preconditioner=None, residual=residual)
        ends[residual] = parameter_of(*shape).detach() - run(optimizer, parameter, [gradient])
    tall = shape[0] > shape[1]
    inside, both, whole = (m.T if tall else m for m in (ends[None], ends[Residual()], gradient))
    basis = torch.linalg.svd(inside)[0][:, :3]  # the update spans the subspace
    low = basis.T @ whole
    outside = whole - basis @ low
    phi = inside.norm(dim=0) / low.norm(dim=0)
    assert torch.allclose(both - inside, outside * phi, rtol=1e-6, atol=1e-9)


def test_the_residual_may_grow_by_its_limit_and_no_more() -> None:
    parameter = parameter_of(6, 9)
    # Without a norm rule and moments the residual is as long as the gradient's rest, so a hundredfold gradient shows.
    optimizer = NaturalGradient(
        [parameter],
        lr=1.0,
        **SEEDED | {"subspace": Seeded(rank=3), "preconditioner": None, "moments": None, "norm": None},
    )
    gradient = gradients((6, 9), 1)[0]
    run(optimizer, parameter, [gradient])
    before = float(optimizer.state[parameter]["residual_norm"])
    start = parameter.detach().clone()
    end = run(optimizer, parameter, [100 * gradient])
    assert float(optimizer.state[parameter]["residual_norm"]) == pytest.approx(1.01 * before)
    from model.optim.subspace import derive_seed, seeded_basis

    basis = seeded_basis(6, 3, derive_seed(0, 0, 6, 3), gradient)
    outside = (start - end) - basis @ (basis.T @ (start - end))
    assert float(outside.norm()) == pytest.approx(1.01 * before)
    assert torch.allclose(basis.T @ (start - end), basis.T @ (100 * gradient))


def test_orthogonal_mode_moves_all_directions_alike() -> None:
    parameter = parameter_of(8, 12)
    optimizer = NaturalGradient(
        [parameter],
        lr=1.0,
        **SEEDED | {"subspace": Seeded(rank=4), "preconditioner": Orthogonal(), "residual": None},
    )
    skewed = gradients((8, 12), 1)[0] * torch.logspace(0, -2, 12, dtype=torch.float64)
    values = torch.linalg.svdvals(parameter_of(8, 12).detach() - run(optimizer, parameter, [skewed]))
    assert values[3] > 0.5 * values[0]
    assert values[4] < 1e-10
    assert float(torch.linalg.norm(values)) == pytest.approx(0.2 * (4 * 12) ** 0.5)


@pytest.mark.parametrize("rule", ["rms", "gradient"])
@pytest.mark.parametrize("scale", [1.0, 1e-14, 1e15])
def test_norm_rules_set_the_length_whatever_the_gradients_scale(rule: Any, scale: float) -> None:
    gradient = gradients((8, 12), 1, dtype=torch.float32)[0] * scale
    parameter = torch.nn.Parameter(torch.zeros(8, 12))
    optimizer = NaturalGradient(
        [parameter],
        lr=1.0,
        **SEEDED | {"subspace": Seeded(rank=8), "residual": None, "norm": Norm(rule=rule, rms=0.3)},
    )
    length = float(run(optimizer, parameter, [gradient]).double().norm())
    assert length == pytest.approx(0.3 * 96**0.5 if rule == "rms" else float(gradient.double().norm()), rel=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_vectors_and_groups_without_a_subspace_get_adamw(dtype: torch.dtype) -> None:
    shapes = [(5,), (), (1, 1), (1, 7), (4, 6)]
    own = [torch.nn.Parameter(torch.randn(s, dtype=dtype, generator=torch.Generator().manual_seed(1))) for s in shapes]
    theirs = [torch.nn.Parameter(p.detach().clone()) for p in own]
    groups: list[dict[str, Any]] = [
        {"params": own[:4]},
        {"params": own[4:], "subspace": None, "weight_decay": 0.3},
    ]
    optimizer = NaturalGradient(
        groups,
        lr=0.02,
        betas=(0.8, 0.97),
        weight_decay=0.1,
    )
    their_groups: list[dict[str, Any]] = [{"params": theirs[:4]}, {"params": theirs[4:], "weight_decay": 0.3}]
    reference = torch.optim.AdamW(
        their_groups,
        lr=0.02,
        betas=(0.8, 0.97),
        weight_decay=0.1,
    )
    generator = torch.Generator().manual_seed(2)
    for step in range(7):
        for a, b in zip(own, theirs, strict=True):
            a.grad = torch.randn(a.shape, dtype=dtype, generator=generator) if step != 3 or a.dim() != 1 else None
            b.grad = None if a.grad is None else a.grad.clone()
        optimizer.step()
        reference.step()
    for a, b in zip(own, theirs, strict=True):
        assert torch.allclose(a, b, rtol=1e-5 if dtype == torch.float32 else 1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_parameters_of_one_shape_step_alike_together_and_alone(mode: str) -> None:
    together = [parameter_of(6, 9, seed=s) for s in range(3)]
    alone = [parameter_of(6, 9, seed=s) for s in range(3)]
    settings: dict[str, Any] = {"lr": 0.05}
    stacked = NaturalGradient.from_mode(together, mode, **settings)
    singles = [NaturalGradient.from_mode([p], mode, **settings) for p in alone]
    # A refresh would draw a basis of its own for each, or fit one.
    assert getattr(MODES[mode].subspace, "refresh", 7) > 6
    for step in range(6):
        for i, (a, b) in enumerate(zip(together, alone, strict=True)):
            a.grad = gradients((6, 9), step + 1, seed=i)[step]
            b.grad = a.grad.clone()
        stacked.step()
        for single in singles:
            single.step()
    for a, b in zip(together, alone, strict=True):
        assert torch.allclose(a, b, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("mode", MODES)
def test_weight_decay_comes_before_the_update_and_is_decoupled(mode: str) -> None:
    given = gradients((6, 9), 1)
    plain, decayed = parameter_of(6, 9), parameter_of(6, 9)
    without = NaturalGradient.from_mode([plain], mode, lr=0.1)
    update = parameter_of(6, 9).detach() - run(without, plain, given)
    found = run(NaturalGradient.from_mode([decayed], mode, lr=0.1, weight_decay=0.5), decayed, given)
    assert torch.allclose(found, parameter_of(6, 9).detach() * (1 - 0.1 * 0.5) - update)
    assert update.abs().max() > 0


@pytest.mark.parametrize("mode", MODES)
def test_maximize_is_the_gradient_turned_round(mode: str) -> None:
    given = gradients((6, 9), 4)
    up, down = parameter_of(6, 9), parameter_of(6, 9)
    turned = run(NaturalGradient.from_mode([up], mode, maximize=True), up, given)
    assert torch.equal(turned, run(NaturalGradient.from_mode([down], mode), down, [-g for g in given]))
    assert not torch.equal(turned, parameter_of(6, 9))


def test_nesterov_looks_ahead() -> None:
    given = gradients((6, 9), 5)
    ends = []
    for nesterov in (False, True):
        parameter = parameter_of(6, 9)
        optimizer = NaturalGradient([parameter], **SEEDED | {"moments": Momentum(nesterov=nesterov)})
        ends.append(run(optimizer, parameter, given))
    assert not torch.allclose(ends[0], ends[1], rtol=1e-4)


def test_factor_with_adam_whitens_the_gradient_first() -> None:
    given = gradients((6, 9), 6)
    parameter, inner = parameter_of(6, 9), torch.nn.Parameter(torch.zeros(6, 9, dtype=torch.float64))
    settings: dict[str, Any] = {"subspace": Seeded(rank=6), "residual": None, "norm": None, "lr": 0.01}
    found = run(
        NaturalGradient([parameter], preconditioner=Factor(interval=1), moments=Adam(), **settings), parameter, given
    )
    from model.optim.subspace import derive_seed, seeded_basis

    basis = seeded_basis(6, 6, derive_seed(0, 0, 6, 6), given[0])
    reference = torch.optim.Adam([inner], lr=0.01, betas=(0.9, 0.99))
    factor = torch.zeros(6, 6, dtype=torch.float64)
    for gradient in given:
        low = basis.T @ gradient
        factor = 0.95 * factor + 0.05 * low @ low.T / 9
        inner.grad = fisher.inverse_root(factor[None], 1e-4, 0.5)[0][0] @ low
        reference.step()
    assert torch.allclose(found, parameter_of(6, 9).detach() + basis @ inner.detach(), rtol=1e-7)


@pytest.mark.parametrize("shape", [(8, 24), (24, 8), (6, 4, 3, 3)])
@pytest.mark.parametrize(("rows", "columns"), [(0.0, 0.0), (0.9, 0.0), (0.9, 0.8)])
@pytest.mark.parametrize("rule", ["fan_in", "spectral"])
def test_the_mode_whole_is_muon_with_moments_and_the_length_of_its_norm_rule(
    shape: tuple[int, ...], rows: float, columns: float, rule: Any
) -> None:
    beta, given = 0.8, gradients(shape, 5)
    parameter = parameter_of(*shape)
    how, moments = Orthogonal(rows=rows, columns=columns), Momentum(beta=beta)
    found = run(
        NaturalGradient.from_mode(
            [parameter], "whole", lr=0.1, preconditioner=how, moments=moments, norm=Norm(rule=rule, rms=1.0)
        ),
        parameter,
        given,
    )
    expected = parameter_of(*shape).detach().flatten(1)
    momentum, second = torch.zeros_like(expected), torch.zeros(shape[0], 1, dtype=torch.float64)
    across = torch.zeros(1, expected.shape[1], dtype=torch.float64)
    for count, gradient in enumerate(given, 1):
        momentum = beta * momentum + (1 - beta) * gradient.flatten(1)
        ahead = momentum * beta / (1 - beta ** (count + 1)) + gradient.flatten(1) * (1 - beta) / (1 - beta**count)
        x = (ahead.T if shape[0] > ahead.shape[1] else ahead) / (1.01 * ahead.norm())
        for _ in range(5):
            a, b, c = fisher.NEWTON_SCHULZ[0]
            x = a * x + b * (x @ x.T) @ x + c * (x @ x.T) @ (x @ x.T) @ x
        update = x.T if shape[0] > ahead.shape[1] else x
        share = torch.linalg.svdvals(update).square().mean().sqrt() if rule == "spectral" else 1.0
        if rows:
            second = rows * second + (1 - rows) * update.square().mean(1, keepdim=True)
            update = update / (second / (1 - rows**count)).sqrt()
        if columns:
            across = columns * across + (1 - columns) * update.square().mean(0, keepdim=True)
            update = update / (across / (1 - columns**count)).sqrt()
        rms = share * (64 / update.shape[1]) ** 0.5
        expected = expected - 0.1 * update * rms / update.square().mean().sqrt()
    assert torch.allclose(found.flatten(1), expected, rtol=1e-9)


def test_with_the_norm_rule_spectral_a_bare_step_is_torchs_muon() -> None:
    given = [gradient.float() for gradient in gradients((16, 40), 1)]  # in the first step the momentum is the gradient
    found, expected = torch.nn.Parameter(torch.zeros(16, 40)), torch.nn.Parameter(torch.zeros(16, 40))
    bare: dict[str, Any] = {"preconditioner": Orthogonal(), "moments": Momentum(), "norm": Norm(rule="spectral")}
    run(NaturalGradient.from_mode([found], "whole", lr=0.1, **bare), found, given)
    expected.grad = given[0]
    torch.optim.Muon([expected], lr=0.1, weight_decay=0.0).step()
    # With singular values of 1: .2 lr at a fan-in of 64, here lr / sqrt(40). torch orthogonalises in bfloat16.
    assert torch.linalg.vector_norm(found - 0.2 * 8 * expected) < 0.02 * torch.linalg.vector_norm(found)


def test_with_the_norm_rule_spectral_the_last_block_is_as_long_as_a_matrix_of_its_rows() -> None:
    given = gradients((11, 12), 3)  # cut into six rows and five
    how: dict[str, Any] = {"preconditioner": Orthogonal(), "moments": Momentum(), "norm": Norm(rule="spectral")}
    cut, rest = parameter_of(11, 12), torch.nn.Parameter(parameter_of(11, 12).detach()[6:].clone())
    run(NaturalGradient.from_mode([cut], "blocks", lr=0.1, subspace=Partition(rank=8), **how), cut, given)
    run(NaturalGradient.from_mode([rest], "whole", lr=0.1, **how), rest, [gradient[6:] for gradient in given])
    assert torch.allclose(cut[6:], rest, rtol=1e-9)


def test_a_momentum_of_its_own_goes_before_the_groups() -> None:
    given, ends = gradients((6, 9), 5), []
    for betas, beta in (((0.5, 0.99), None), ((0.9, 0.99), 0.5), ((0.9, 0.99), None)):
        parameter = parameter_of(6, 9)
        moments = Momentum(beta=beta)
        optimizer = NaturalGradient.from_mode([parameter], "whole", betas=betas, moments=moments)
        ends.append(run(optimizer, parameter, given))
    assert torch.equal(ends[0], ends[1])
    assert not torch.allclose(ends[0], ends[2], rtol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "int8_root"])
def test_the_weight_of_the_moment_is_that_of_quasi_hyperbolic_momentum(dtype: Any) -> None:
    given = gradients((6, 9), 5)
    parameter, moments = parameter_of(6, 9), Momentum(beta=0.7, weight=0.4, dtype=dtype)
    settings: dict[str, Any] = {"preconditioner": None, "moments": moments, "norm": None}
    found = run(NaturalGradient([parameter], lr=0.1, **settings), parameter, given)
    expected, momentum = parameter_of(6, 9).detach(), torch.zeros(6, 9, dtype=torch.float64)
    for count, gradient in enumerate(given, 1):
        momentum = 0.7 * momentum + 0.3 * gradient
        expected = expected - 0.1 * (0.4 * momentum / (1 - 0.7**count) + 0.6 * gradient)
    assert torch.allclose(found, expected, rtol=1e-9, atol=0.0 if dtype == "float32" else 5e-3)


def test_a_cautious_update_moves_no_entry_against_its_gradient() -> None:
    given, ends = gradients((8, 24), 2), []
    for cautious in (False, True):
        parameter = parameter_of(8, 24)
        optimizer = NaturalGradient([parameter], lr=0.1, norm=Norm(cautious=cautious))
        run(optimizer, parameter, given[:1])
        before = parameter.detach().clone()
        run(optimizer, parameter, given[1:])
        ends.append(before - parameter.detach())
    assert bool((ends[0] * given[1] < 0).any())
    assert bool((ends[1] * given[1] >= 0).all()) and bool((ends[1] == 0).any())
    assert [float(end.square().mean().sqrt()) for end in ends] == pytest.approx([0.02, 0.02])


def test_natural_gradients_of_equal_divergence_have_equal_products_with_the_momentum() -> None:
    moved = []
    for shape, scale in (((8, 24), 1.0), ((8, 24), 1e3), ((5, 40), 1e-3)):
        parameter, how = parameter_of(*shape), Factor(exponent=1.0, damping=1e-3)
        gradient = gradients(shape, 1)[0] * scale
        optimizer = NaturalGradient(
            [parameter], lr=1.0, subspace=Partition(rank=8), preconditioner=how, moments=None, norm=Norm(rule="kl")
        )
        update = parameter_of(*shape).detach() - run(optimizer, parameter, [gradient])
        matrix = gradient @ gradient.T
        fisher_matrix = matrix / (matrix.trace() / len(matrix))
        fisher_matrix = fisher_matrix + 1e-3 * torch.linalg.eigvalsh(fisher_matrix).max() * torch.eye(len(matrix))
        moved.append(float((update * (fisher_matrix @ update)).sum()) / update.numel())
    assert moved == pytest.approx([0.04] * 3)
