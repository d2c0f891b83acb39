"""Project gradients into low-rank tensor subspaces and back, and change their basis.

Everything works on stacks: a leading dimension B of parameters with equal shapes. A subspace is a list of factors U_i
[B or 1, n_i, r_i], one for each projected mode; a matrix with one projected side has a single factor.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.linalg import LinAlgError  # type: ignore[attr-defined]  # torch's stubs lack it
from torch.nn.functional import pad

from model.optim.choices import Partition, RangeFinder, Subspace, Svd, Tucker


@dataclass(frozen=True, slots=True)
class Geometry:
    """How one parameter's gradient is read and projected.

    Attributes:
        view: shape in which it is projected.
        modes: projected dimensions of that view.
        ranks: r_i for each of them.
        transposed: whether the view is the transpose of [n_1, n_2 ... n_d].
        columns: whether one side is projected, so that columns of the low-rank gradient correspond to columns of the
            gradient and the residual is scaled column by column.
        blocks: number of blocks of a partition, 0 for none. `view` is then that of one block, and nothing is projected.
    """

    view: tuple[int, ...]
    modes: tuple[int, ...]
    ranks: tuple[int, ...]
    transposed: bool
    columns: bool
    blocks: int = 0

    @property
    def low(self) -> tuple[int, ...]:
        """Shape of the low-rank gradient."""
        sizes = list(self.view)
        for mode, rank in zip(self.modes, self.ranks, strict=True):
            sizes[mode] = rank
        return tuple(sizes)


def geometry(shape: Sequence[int], subspace: Subspace | None) -> Geometry | None:
    """Return the geometry of a parameter; None for one that steps by AdamW: without subspace, or a vector in effect."""
    if subspace is None or len(shape) < 2 or 0 in shape:
        return None
    rows, columns = shape[0], math.prod(shape[1:])
    if min(rows, columns) < 2:
        return None
    if isinstance(subspace, Tucker):
        modes = subspace.modes
        if modes is None:
            modes = tuple(range(len(shape))) if len(shape) <= 3 else (0, 1)
        if max(modes) >= len(shape):
            raise ValueError(f"Tucker modes {list(modes)} do not fit a parameter of shape {list(shape)}.")
        return Geometry(tuple(shape), modes, tuple(subspace.rank_of(shape[mode]) for mode in modes), False, False)
    if isinstance(subspace, Partition):
        fewest = math.ceil(rows / subspace.rank_of(rows))
        # Equal blocks if up to twice the fewest blocks allow it, because a padded block must be copied.
        count = next((count for count in range(fewest, 2 * fewest) if rows % count == 0), fewest)
        return Geometry((math.ceil(rows / count), columns), (), (), False, True, count)
    transposed = subspace.side == "columns" or (subspace.side == "smaller" and columns < rows)
    view = (columns, rows) if transposed else (rows, columns)
    return Geometry(view, (0,), (subspace.rank_of(view[0]),), transposed, True)


def as_view(tensor: Tensor, shape: Geometry) -> Tensor:
    """Return a gradient in the shape in which it is projected: [*parameter] -> [*view]."""
    if not shape.columns:
        return tensor.reshape(shape.view)
    matrix = tensor.reshape(tensor.shape[0], -1)
    return matrix.mT if shape.transposed else matrix


def from_view(tensor: Tensor, shape: Geometry, parameter: torch.Size) -> Tensor:
    """Undo `as_view`: [*view] -> [*parameter]."""
    return (tensor.mT if shape.transposed else tensor).reshape(parameter)


def mode_product(
    tensor: Tensor,  # [B, n_1, ..., n_d]
    matrix: Tensor,  # [B or 1, q, n_mode]
    mode: int,
) -> Tensor:
    """Compute X x_mode M for a stack: dimension `mode` (counted without the stack) becomes q."""
    moved = tensor.movedim(mode + 1, 1)
    product = matrix @ moved.flatten(2)
    return product.reshape(*product.shape[:2], *moved.shape[2:]).movedim(1, mode + 1)


def project(tensor: Tensor, factors: Sequence[Tensor], modes: Sequence[int]) -> Tensor:
    """Compute g_low = g x_1 U_1^T ... x_d U_d^T (source, step 1): [B, *view] -> [B, *low]."""
    for factor, mode in zip(factors, modes, strict=True):
        tensor = mode_product(tensor, factor.mT, mode)
    return tensor


def lift(low: Tensor, factors: Sequence[Tensor], modes: Sequence[int]) -> Tensor:
    """Compute x_1 U_1 ... x_d U_d (source, step 6): [B, *low] -> [B, *view]."""
    for factor, mode in zip(factors, modes, strict=True):
        low = mode_product(low, factor, mode)
    return low


def unfold(low: Tensor, shape: Geometry) -> Tensor:
    """Return the matrices that a Fisher factor acts on from the left: [B, *low] -> [B, r, rest].

    The first projected mode comes first.
    """
    return low.movedim(shape.modes[0] + 1, 1).flatten(2) if shape.modes else low


def fold(matrices: Tensor, low: Tensor, shape: Geometry) -> Tensor:
    """Undo `unfold`, to the shape of `low`."""
    if not shape.modes:
        return matrices
    mode = shape.modes[0] + 1
    return matrices.view(low.movedim(mode, 1).shape).movedim(1, mode)


def rows_of(tensor: Tensor) -> Tensor:
    """Return a parameter or gradient as the matrix [n_1, n_2 ... n_d]; a view where it is contiguous."""
    return tensor.reshape(tensor.shape[0], -1)


def blocks_of(matrix: Tensor, shape: Geometry, part: tuple[int, int] | None) -> Tensor:
    """Return blocks of neighbouring rows: [m, n] -> [blocks first to last in `part`, r, n].

    The last block is padded with zeros where the blocks do not divide the rows, which leaves its whitening unchanged.
    """
    rank = shape.view[0]
    start, stop = part or (0, shape.blocks)
    rows = matrix[start * rank : stop * rank]
    missing = (stop - start) * rank - rows.shape[0]
    filled = pad(rows, (0, 0, 0, missing)) if missing else rows
    return filled.reshape(stop - start, rank, -1)


def changes(new: Sequence[Tensor], old: Sequence[Tensor]) -> list[Tensor]:
    """Return R_i = U_new^T U_old for each mode: [B or 1, r_i, r_i]."""
    return [after.mT @ before for after, before in zip(new, old, strict=True)]


def derive_seed(*parts: int) -> int:
    """Derive a 63-bit seed from integers.

    Unlike Python's hash it is equal on every machine and in every session.
    """
    text = ",".join(str(part) for part in parts).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1


def _gaussian(rows: int, columns: int, seed: int, like: Tensor) -> Tensor:
    # Drawn on the CPU for every device, so that a run continues identically on another device.
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(rows, columns, generator=generator, dtype=like.dtype).to(like.device)


def seeded_basis(dimension: int, rank: int, seed: int, like: Tensor) -> Tensor:
    """Return an orthonormal basis [dimension, rank], uniform over all subspaces (Mezzadri 2007).

    It has `like`'s dtype and device. Its signs are those of a QR with a positive diagonal, which is unique, so that
    LAPACK and cuSOLVER agree to rounding.
    """
    q: Tensor
    q, r = torch.linalg.qr(_gaussian(dimension, rank, seed, like))
    return q * torch.where(r.diagonal() < 0, -1.0, 1.0).to(q.dtype)


def range_finder_basis(matrix: Tensor, rank: int, choice: RangeFinder, seed: int) -> Tensor:
    """Return an orthonormal basis [m, rank] that holds most of a matrix [m, n].

    Source: Halko, Martinsson and Tropp 2011, algorithms 4.4 and 5.1.
    """
    rows, columns = matrix.shape
    width = min(rank + choice.oversample, rows, columns)
    q = torch.linalg.qr(matrix @ _gaussian(columns, width, seed, matrix))[0]
    for _ in range(choice.power_iterations):
        q = torch.linalg.qr(matrix @ torch.linalg.qr(matrix.mT @ q)[0])[0]
    small = q.mT @ matrix
    values, vectors = torch.linalg.eigh(small @ small.mT)
    basis: Tensor = q @ vectors[:, values.argsort(descending=True)[:rank]]
    if basis.shape[1] < rank:  # the matrix has fewer directions: random ones complete the basis
        more = _gaussian(rows, rank - basis.shape[1], derive_seed(seed, 1), matrix)
        basis = torch.linalg.qr(torch.cat([basis, more], dim=1))[0]
    return basis


def svd_basis(matrix: Tensor, rank: int) -> Tensor:
    """Return the leading `rank` left singular vectors of [m, n], orthonormal [m, rank].

    Raises:
        torch.linalg.LinAlgError: the decomposition does not converge.
    """
    left: Tensor = torch.linalg.svd(matrix, full_matrices=matrix.shape[0] > matrix.shape[1])[0]
    return left[:, :rank].contiguous()


def tucker_factors(
    tensor: Tensor, modes: Sequence[int], ranks: Sequence[int], iterations: int, seed: int = 0
) -> list[Tensor]:
    """Compute orthonormal factors [n_i, r_i] by HOSVD and HOOI (Kolda and Bader 2009, figure 4.4).

    A factor holds no more directions of the tensor than the other ranks leave in its unfolding: of a 384 x 96 matrix at
    ranks 96 and 24, 24 each. The rest of the 96 are the leading directions of what the 24 leave over, for later
    gradients.

    Args:
        tensor: the gradient.
        modes: modes to project.
        ranks: r_i for each of them.
        iterations: rounds of HOOI.
        seed: of the directions that complete a factor.
    """
    sizes = list(tensor.shape)
    for mode, rank in zip(modes, ranks, strict=True):
        sizes[mode] = rank
    for mode in modes:
        sizes[mode] = min(sizes[mode], math.prod(sizes) // sizes[mode])
    import tensorly  # here alone: importing it, with SciPy, takes as long as a third of torch
    from tensorly.decomposition import partial_tucker

    with tensorly.backend_context("pytorch", local_threadsafe=True):
        (_, factors), _ = partial_tucker(
            tensor, rank=[sizes[mode] for mode in modes], modes=list(modes), init="svd", n_iter_max=iterations, tol=0
        )
    return [
        _complete_basis(factor, rank, tensor.movedim(mode, 0).flatten(1), derive_seed(seed, mode))
        for factor, rank, mode in zip(factors, ranks, modes, strict=True)
    ]


def _complete_basis(factor: Tensor, rank: int, unfolding: Tensor, seed: int) -> Tensor:
    """Complete an orthonormal [n, c] to [n, rank], first from the rest of the unfolding, then at random."""
    missing = rank - factor.shape[1]
    if missing == 0:
        return factor.contiguous()
    remainder = unfolding - factor @ (factor.mT @ unfolding)
    held = max(0, min(missing, remainder.shape[1] - factor.shape[1]))
    more = [range_finder_basis(remainder, held, RangeFinder(), seed)] if held else []
    more += [_gaussian(len(remainder), missing - held, seed, remainder)]
    basis: Tensor = torch.linalg.qr(torch.cat([factor, *more], dim=1))[0]
    return basis


def fit_factors(gradient: Tensor, shape: Geometry, choice: RangeFinder | Svd | Tucker, seed: int) -> list[Tensor]:
    """Compute the factors for one gradient [*view].

    A decomposition that fails, or is short or not orthonormal, is replaced by a seeded random basis, so that a refresh
    never ends a run.
    """
    try:
        if isinstance(choice, RangeFinder):
            factors = [range_finder_basis(gradient, shape.ranks[0], choice, seed)]
        elif isinstance(choice, Svd):
            factors = [svd_basis(gradient, shape.ranks[0])]
        else:
            factors = tucker_factors(gradient, shape.modes, shape.ranks, choice.iterations, seed)
    except (LinAlgError, ValueError):
        factors = []
    sizes = [(shape.view[mode], rank) for mode, rank in zip(shape.modes, shape.ranks, strict=True)]
    if [tuple(factor.shape) for factor in factors] == sizes and all(map(_is_orthonormal, factors)):
        return factors
    return [seeded_basis(n, r, derive_seed(seed, i), gradient) for i, (n, r) in enumerate(sizes)]


def _is_orthonormal(factor: Tensor) -> bool:
    identity = torch.eye(factor.shape[1], dtype=factor.dtype, device=factor.device)
    return bool(((factor.mT @ factor - identity).abs().amax() < 1e-3).item())
