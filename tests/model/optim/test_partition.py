"""The mode blocks: a partition of independent blocks, whitened by products alone, with momentum in eight bits."""

from dataclasses import replace
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
    fisher,
    state_bytes,
)
from model.optim.moments import decode, encode, pieces
from model.optim.stack import CUT_ELEMENTS

PRESENT = Factor(of="momentum", beta=0.0, interval=1)


def gradients(shape: tuple[int, ...], count: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=dtype) for _ in range(count)]


def run(parameters: list[torch.nn.Parameter], given: list[list[Tensor]], **settings: Any) -> NaturalGradient:
    optimizer = NaturalGradient.from_mode(parameters, "blocks", lr=0.05, weight_decay=0.1, **settings)
    for step in given:
        for parameter, gradient in zip(parameters, step, strict=True):
            parameter.grad = gradient.clone()
        optimizer.step()
    return optimizer


@pytest.mark.parametrize("damping", [1e-4, 1e-3])
@pytest.mark.parametrize("smallest", [1.0, 1e-1, 1e-2])
@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
def test_products_alone_whiten_as_an_eigendecomposition_does(damping: float, smallest: float, scale: float) -> None:
    matrix = gradients((3, 32, 100), 1)[0] * torch.logspace(0, torch.log10(torch.tensor(smallest)), 32)[:, None]
    matrix = (matrix * scale).float()
    gram = matrix @ matrix.mT / 100
    root, failed = fisher.whitening_root(gram, damping)
    values, vectors = torch.linalg.eigh(gram.double())
    norm = torch.linalg.matrix_norm(gram.double())
    exact = (vectors * (values + damping * norm[:, None]).pow(-0.5)[:, None]) @ vectors.mT
    found, wanted = root.double() @ matrix.double(), exact @ matrix.double()
    assert not failed.any()
    assert float((found - wanted).norm() / wanted.norm()) < 0.02


def test_what_cannot_be_whitened_fails_and_what_is_zero_does_not() -> None:
    gram = torch.eye(4).repeat(3, 1, 1)
    gram[1] = 0.0
    gram[2, 0, 0] = float("nan")
    root, failed = fisher.whitening_root(gram, 1e-4)
    assert failed.tolist() == [False, False, True]
    assert torch.equal(root[1], torch.eye(4))
    assert torch.equal(root[2], torch.eye(4))


def whitened_by_hand(start: Tensor, given: list[Tensor], rank: int, exponent: float) -> Tensor:
    """The mode blocks written out: momentum of `rank` rows, times the inverse root of its Gram matrix, RMS 0.2."""
    point, momentum = start.clone(), torch.zeros_like(start)
    for t, gradient in enumerate(given, 1):
        momentum = 0.9 * momentum + 0.1 * gradient
        look = momentum * (0.9 / (1 - 0.9 ** (t + 1))) + gradient * (0.1 / (1 - 0.9**t))
        update = torch.zeros_like(point)
        for first in range(0, len(point), rank):
            block = look[first : first + rank]
            values, vectors = torch.linalg.eigh(block @ block.T / block.shape[1])
            damped = values + 1e-4 * values.max()
            block = vectors @ torch.diag(damped.pow(-exponent)) @ vectors.T @ block
            update[first : first + rank] = block * 0.2 / block.square().mean().sqrt()
        point = point * (1 - 0.05 * 0.1) - 0.05 * update
    return point


@pytest.mark.parametrize(("exponent", "tolerance"), [(0.4, 1e-9), (1.0, 1e-9), (0.5, 0.02)])
def test_the_mode_blocks_is_blockwise_whitened_momentum(exponent: float, tolerance: float) -> None:
    given = gradients((12, 20), 8)
    parameter = torch.nn.Parameter(torch.zeros(12, 20, dtype=torch.float64))
    run(
        [parameter],
        [[gradient] for gradient in given],
        subspace=Partition(rank=4),
        preconditioner=Factor(of="momentum", beta=0.0, interval=1, exponent=exponent),
        moments=Momentum(),
    )
    expected = whitened_by_hand(torch.zeros(12, 20, dtype=torch.float64), given, 4, exponent)
    assert float((parameter.detach() - expected).norm() / expected.norm()) < tolerance


VARIANTS: list[dict[str, Any]] = [
    {},
    {"moments": Momentum()},
    {"preconditioner": Factor(of="momentum", beta=0.8, interval=2)},
    {"preconditioner": Factor()},
    {"preconditioner": Orthogonal()},
    {"preconditioner": History(window=3)},
    {"preconditioner": None, "moments": MODES["galore"].moments},
    {"norm": Norm(rule="gradient")},
    {"norm": None, "preconditioner": None},
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("rows", "rank", "sizes"),
    [(12, 4, [4, 4, 4]), (50, 16, [10] * 5), (53, 16, [14, 14, 14, 11]), (7, 64, [7])],
)
@pytest.mark.parametrize("columns", [5, 256])
def test_a_matrix_steps_as_its_blocks_would_alone(
    rows: int, rank: int, sizes: list[int], columns: int, variant: dict[str, Any]
) -> None:
    given = gradients((rows, columns), 5)
    whole = torch.nn.Parameter(gradients((rows, columns), 1, seed=1)[0])
    parts = [torch.nn.Parameter(part.clone()) for part in whole.detach().split(sizes)]
    run([whole], [[gradient] for gradient in given], subspace=Partition(rank=rank), **variant)
    run(parts, [list(gradient.split(sizes)) for gradient in given], subspace=Partition(rank=rank), **variant)
    together = torch.cat([part.detach() for part in parts])
    # What fills up a block of 11 rows is seen by the damping of a window, and by nothing else.
    assert torch.allclose(whole.detach(), together, rtol=1e-6, atol=1e-8)


def test_a_large_matrix_steps_in_pieces_as_each_would_alone() -> None:
    rows = 2 * CUT_ELEMENTS // 4096 + 64
    given = gradients((rows, 4096), 2, dtype=torch.float32)
    whole = torch.nn.Parameter(torch.zeros(rows, 4096))
    parts = [torch.nn.Parameter(torch.zeros(64, 4096)) for _ in range(rows // 64)]
    first = run([whole], [[gradient] for gradient in given])
    second = run(parts, [list(gradient.split(64)) for gradient in given])
    assert torch.equal(whole.detach(), torch.cat([part.detach() for part in parts]))
    assert first.state[whole]["step"] == 2
    assert state_bytes(first) == state_bytes(second)


def test_a_convolution_in_another_memory_format_steps_alike() -> None:
    given = gradients((8, 6, 3, 3), 3, dtype=torch.float32)
    plain = torch.nn.Parameter(torch.zeros(8, 6, 3, 3))
    last = torch.nn.Parameter(torch.zeros(8, 6, 3, 3).to(memory_format=torch.channels_last))
    run([plain], [[gradient] for gradient in given])
    run([last], [[gradient.to(memory_format=torch.channels_last)] for gradient in given])
    assert torch.allclose(plain, last, atol=1e-7)


def test_a_block_without_gradient_stays_where_it_is_and_is_no_failure() -> None:
    gradient = gradients((16, 8), 1)[0]
    gradient[4:8] = 0.0
    parameter = torch.nn.Parameter(torch.zeros(16, 8, dtype=torch.float64))
    optimizer = run([parameter], [[gradient]], subspace=Partition(rank=4))
    assert torch.equal(parameter[4:8].detach(), torch.zeros(4, 8, dtype=torch.float64))
    assert parameter[8:].detach().abs().min() > 0
    assert optimizer.counts() == {"skipped": 0, "fallbacks": 0}


@pytest.mark.parametrize("length", [1, 7, 256, 768, 1000])
def test_eight_bits_are_off_by_half_a_code_at_most(length: int) -> None:
    given = gradients((4, length), 1, dtype=torch.float32)[0] * torch.logspace(-10, 10, 4)[:, None]
    codes, scales = torch.zeros(4, length, dtype=torch.int8), torch.zeros(4, pieces(length))
    encode(given, codes, scales)
    off = (decode(codes, scales) - given).abs().view(4, pieces(length), -1)
    assert bool((off <= 0.5001 * scales[..., None]).all())
    assert int(codes.abs().max()) == 127


def test_codes_of_roots_keep_what_a_large_neighbour_hides_from_linear_ones() -> None:
    given = gradients((4, 256), 1, dtype=torch.float32)[0]
    given[:, 7] = 1000.0
    kept = {}
    for root in (False, True):
        codes, scales = torch.zeros(4, 256, dtype=torch.int8), torch.zeros(4, 1)
        encode(given, codes, scales, root=root)
        found = decode(codes, scales, root=root)
        kept[root] = float((codes != 0).float().mean())
        off = (found - given).abs()
        assert bool((off <= (given.abs() * scales).sqrt() + 0.26 * scales if root else off <= 0.5001 * scales).all())
    assert kept[False] < 0.02 and kept[True] > 0.9


@pytest.mark.parametrize("dtype", ["int8", "int8_root"])
@pytest.mark.parametrize("mode", ["whole", "blocks"])
def test_the_momentum_of_a_dead_unit_fades_in_eight_bits_as_in_float32(mode: str, dtype: str) -> None:
    moved = {}
    for kept in ("float32", dtype):
        found = MODES[mode]
        assert isinstance(found.moments, Momentum)
        row = replace(found, moments=replace(found.moments, dtype=kept))  # type: ignore[arg-type]
        parameter = torch.nn.Parameter(torch.zeros(32, 256))
        optimizer = NaturalGradient.from_mode([parameter], row, lr=1e-3)
        for step, gradient in enumerate(gradients((32, 256), 200, dtype=torch.float32)):
            gradient[:, 7] *= step < 5
            parameter.grad = gradient
            optimizer.step()
        moved[kept] = float(parameter.detach()[:, 7].norm() / parameter.detach().norm(dim=0).mean())
    assert moved[dtype] == pytest.approx(moved["float32"], rel=0.1)


@pytest.mark.parametrize("dtype", ["int8", "int8_root"])
def test_a_small_steady_gradient_enters_eight_bits_beside_a_large_one(dtype: str) -> None:
    gradient = torch.full((4, 256), 1e-3)
    gradient[:, 0] = 1.0
    parameter = torch.nn.Parameter(torch.zeros(4, 256))
    optimizer = NaturalGradient(
        [parameter],
        lr=1.0,
        subspace=Partition(rank=4),
        preconditioner=None,
        moments=Momentum(dtype=dtype, beta=0.9),  # type: ignore[arg-type]
        norm=None,
        weight_decay=0.0,
    )
    for _ in range(200):
        parameter.grad = gradient.clone()
        optimizer.step()
    mean = parameter.detach()[:, 1:].mean() / (-200 * 1e-3)
    assert float(mean) == pytest.approx(1.0, rel=0.05)


def test_eight_bits_take_an_eighth_of_adamws_state_and_step_like_float32() -> None:
    given = gradients((64, 512), 30, dtype=torch.float32)
    common = gradients((64, 512), 1, seed=9, dtype=torch.float32)[0]
    ends = []
    for dtype in ("float32", "int8"):
        parameter = torch.nn.Parameter(torch.zeros(64, 512))
        optimizer = run([parameter], [[common + gradient] for gradient in given], moments=Momentum(dtype=dtype))  # type: ignore[arg-type]
        ends.append(parameter.detach())
    adamw = 2 * 4 * 64 * 512
    assert state_bytes(optimizer) <= 0.13 * adamw
    assert float((ends[1] - ends[0]).norm() / ends[0].norm()) < 0.01


def test_blocks_are_equal_where_a_few_more_of_them_allow_it() -> None:
    from model.optim.subspace import geometry

    def blocks(rows: int, rank: int) -> tuple[int, int]:
        shape = geometry((rows, 10), Partition(rank=rank))
        assert shape is not None
        return shape.blocks, shape.view[0]

    assert blocks(192, 64) == (3, 64)
    assert blocks(100, 64) == (2, 50)
    assert blocks(96, 64) == (2, 48)
    assert blocks(1024, 48) == (32, 32)
    assert blocks(53, 16) == (4, 14)
    assert blocks(3, 64) == (1, 3)
