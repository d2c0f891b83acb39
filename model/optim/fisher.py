"""Compute Fisher matrices of low-rank gradients: history, r x r factor, orthogonalisation.

The functions are pure and work on stacks (leading dimension B). A history is kept as rows: H [B, s, k] holds the
columns g_i of the source's G [k, s], so that G^T G = H H^T. An empty slot is a row of zeros, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.linalg import LinAlgError  # type: ignore[attr-defined]  # torch's stubs lack it

# Diagonal added when a Cholesky factorisation fails, relative to the mean diagonal; then the plain gradient is used.
JITTER_LADDER = (0.0, 1e-10, 1e-8, 1e-6, 1e-4)

WIDE = 2  # times as many columns as rows: from here on the Gram matrix costs less than the matrix
WIDENED_ENTRIES = 1 << 15  # entries of a column in float64 at a time

# Composition of odd quintics nearest to 1 on [1e-2, 1], within 1.3 %: Polar Express (Amsel et al. 2025, algorithm 1),
# computed for the smallest singular value that a damping of 1e-4 leaves.
POLAR_EXPRESS = (
    (8.093368512548, -23.620430328824, 17.446151749836),
    (3.636585554259, -2.721926746609, 0.536546288327),
    (2.661299985777, -1.977154521885, 0.452616406996),
    (1.956171638884, -1.337507745944, 0.383852701330),
)
# The same for 1e-3, five of them, for whole matrices. All but the last leave room for values up to 1.01 of their
# interval, because bfloat16 rounds beyond it (algorithm 1, safety factor): within 14 % on [1e-3, 1].
POLAR_EXPRESS_WIDE = (
    (8.386464833558, -24.369653745174, 17.725119574235),
    (4.141420047961, -3.017274821612, 0.552427375588),
    (3.922630177477, -2.867184622018, 0.535652399619),
    (3.254043763018, -2.392231682620, 0.482733297383),
    (2.273748230719, -1.644658773668, 0.416190756587),
)
NEWTON_SCHULZ = ((3.4445, -4.7750, 2.0315),)  # Muon, Jordan et al. 2024


def dense_solve(columns: Tensor, gradient: Tensor, damping: float) -> Tensor:
    """Solve F^{-1} g with F = lambda I_k + G G^T written out (source, step 3): the slow reference.

    Args:
        columns: G, [k, s].
        gradient: g, [k].
        damping: lambda.

    Returns:
        [k].
    """
    fisher = columns @ columns.mT
    fisher.diagonal().add_(damping)
    solution: Tensor = torch.linalg.solve(fisher, gradient)
    return solution


def woodbury_solve(columns: Tensor, gradient: Tensor, damping: float) -> Tensor:
    """Solve F^{-1} g by Woodbury's identity and Cholesky (source, steps 4 and 5).

    F^{-1} g = (g - G z) / lambda with (lambda I_s + G^T G) z = G^T g. In float32 the subtraction loses every digit once
    lambda is small against tr(G^T G): the relative error is 0.54 at 1e-6 of it. The optimizer uses `dual_weights`,
    which is tested against this function.

    Args:
        columns: G, [k, s].
        gradient: any vector, [k].
        damping: lambda.

    Returns:
        [k].
    """
    small = columns.mT @ columns
    small.diagonal().add_(damping)
    z = torch.cholesky_solve((columns.mT @ gradient)[:, None], torch.linalg.cholesky(small))[:, 0]
    return (gradient - columns @ z) / damping


def dual_solve(columns: Tensor, index: int, damping: float) -> Tensor:
    """Solve F^{-1} g_t for the column g_t = G e_index, exactly and without subtraction.

    The result is G (lambda I_s + G^T G)^{-1} e_index, as the optimizer computes it with `push_column`, `dual_weights`
    and `combine`.

    Args:
        columns: G, [k, s].
        index: t.
        damping: lambda.

    Returns:
        [k].

    Raises:
        torch.linalg.LinAlgError: the damped Gram matrix could not be factorised.
    """
    gram = gram_of(columns.mT[None])
    weights, failed = dual_weights(gram, index, gram.new_full((1,), damping))
    if bool(failed.any()):
        raise LinAlgError("The damped Gram matrix could not be factorised.")
    return combine(columns.mT[None], weights, columns.dtype)[0]


def dual_weights(
    gram: Tensor,  # [B, s, s] float64: G^T G
    slot: int,
    damping: Tensor,  # [B] float64: lambda, above 0
) -> tuple[Tensor, Tensor]:
    """Solve z = (lambda I_s + G^T G)^{-1} e_slot by Cholesky (source, step 5).

    A failed factorisation climbs the jitter ladder. On failure of its last rung the weights are e_slot / lambda, which
    is the plain gradient up to lambda's scale.

    Returns:
        Weights [B, s], and which of the stack failed, bool [B].
    """
    size = gram.shape[-1]
    unit = torch.zeros(gram.shape[0], size, 1, dtype=gram.dtype, device=gram.device)
    unit[:, slot] = 1.0
    usable = torch.isfinite(damping) & (damping > 0) & torch.isfinite(gram).all(-1).all(-1)
    safe = torch.where(usable, damping, 1.0)
    gram = torch.where(usable[:, None, None], gram, 0.0)
    mean = gram.diagonal(dim1=-2, dim2=-1).mean(-1)
    solution = unit / safe[:, None, None]
    open_ = usable
    for jitter in JITTER_LADDER:
        shifted = gram + torch.diag_embed((safe + jitter * mean)[:, None].expand(-1, size))
        lower, info = torch.linalg.cholesky_ex(shifted)
        candidate = torch.cholesky_solve(unit, lower)
        good = open_ & (info == 0) & torch.isfinite(candidate).all(-1).all(-1)
        solution = torch.where(good[:, None, None], candidate, solution)
        open_ = open_ & ~good
        if not bool(open_.any()):
            break
    return solution[..., 0], open_ | ~usable


def relative_damping(gram: Tensor, columns: int, relative: float) -> Tensor:
    """Return lambda = relative * tr(G^T G) / s over the `columns` filled slots: [B, s, s] -> [B]."""
    return gram.diagonal(dim1=-2, dim2=-1).sum(-1) * (relative / columns)


def stored_column(low: Tensor, history: Tensor) -> Tensor:
    """Round the gradient to the history's dtype and back: [B, k] -> [B, k] in the dtype of computation.

    The dual form is exact for a column of G, not for the gradient before it was rounded.
    """
    return low.to(history.dtype).to(low.dtype)


def push_column(
    history: Tensor,  # [B, s, k]
    gram: Tensor,  # [B, s, s] float64
    column: Tensor,  # [B, k]
    slot: int,
) -> None:
    """Put a column into a slot, replacing the oldest (source, step 2), and update G^T G in place.

    Updating one row and column takes 2ks operations instead of 2ks^2.
    """
    history[:, slot] = column.to(history.dtype)
    row = products(history, column)
    gram[:, slot] = row
    gram[:, :, slot] = row


def products(history: Tensor, column: Tensor) -> Tensor:
    """Return G^T v for a stack: [B, s, k], [B, k] -> [B, s] float64.

    Sums are in float64, whatever the dtype of the history. lambda may be 1e-6 of the trace: a float32 sum over 400
    entries left F^{-1} g with an error of 1.3e-5, this one leaves 2e-7. The history is widened piece by piece, so that
    no wide copy of it exists.
    """
    total = history.new_zeros(history.shape[:2], dtype=torch.float64)
    for start in range(0, history.shape[2], WIDENED_ENTRIES):
        piece = slice(start, start + WIDENED_ENTRIES)
        total += (history[:, :, piece].double() @ column[:, piece, None].double())[..., 0]
    return total


def combine(history: Tensor, weights: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Return G z for a stack: [B, s, k], [B, s] -> [B, k] in `dtype`, or that of the weights.

    Sums are in float64 as in `products`. For nearly collinear gradients z is large and of both signs. At a distance of
    1e-3 of their length and a relative damping of 1e-6, a float32 sum left F^{-1} g with an error of 8e-5. This one
    leaves 3e-8.
    """
    wide = weights[:, None].double()
    result = history.new_empty(history.shape[0], history.shape[2], dtype=dtype or weights.dtype)
    for start in range(0, history.shape[2], WIDENED_ENTRIES):
        piece = slice(start, start + WIDENED_ENTRIES)
        result[:, piece] = (wide @ history[:, :, piece].double())[:, 0]
    return result


def gram_of(history: Tensor) -> Tensor:
    """Compute G^T G from scratch: [B, s, k] -> [B, s, s] float64.

    It is used after a change of basis, and as the reference for the streaming update.
    """
    gram = torch.stack([products(history, history[:, i]) for i in range(history.shape[1])], dim=1)
    return (gram + gram.mT) / 2


def pack(symmetric: Tensor, root: Tensor) -> Tensor:
    """Pack two symmetric matrices [B, r, r] into one tensor [B, r, r + 1].

    The first fills the lower triangle with its diagonal, the second the part above. This halves the state and keeps the
    root that was used, which a bit-exact resume needs.
    """
    packed = symmetric.new_zeros(*symmetric.shape[:-1], symmetric.shape[-1] + 1)
    packed[..., :-1] += symmetric.tril()
    packed[..., 1:] += root.triu()
    return packed


def unpack(packed: Tensor) -> tuple[Tensor, Tensor]:
    """Unpack what `pack` packed: [B, r, r + 1] -> two symmetric [B, r, r]."""
    lower, upper = packed[..., :-1].tril(), packed[..., 1:].triu()
    return lower + lower.tril(-1).mT, upper + upper.triu(1).mT


def inverse_root(
    symmetric: Tensor, damping: float, exponent: float, *, absolute: bool = False
) -> tuple[Tensor, Tensor]:
    """Compute (L + damping * largest eigenvalue * I)^{-exponent}, times a number, by eigendecomposition.

    Args:
        symmetric: L, [B, r, r].
        damping: relative to the largest eigenvalue.
        exponent: 0.5 whitens, 1 is the full inverse.
        absolute: whether the number is 1; it may then leave the range of the dtype, which is a failure. Otherwise it is
            the mean of L's diagonal to the power of the exponent, and a norm rule removes it.

    Returns:
        Roots [B, r, r], the identity for those that failed, and which failed, bool [B].
    """
    identity = torch.eye(symmetric.shape[-1], dtype=symmetric.dtype, device=symmetric.device)
    # Scaled to trace r first, because eigenvalues of gradients of 1e-20 underflow in float32.
    scale = symmetric.diagonal(dim1=-2, dim2=-1).mean(-1)
    usable = torch.isfinite(symmetric).all(-1).all(-1) & (scale > 0)
    scaled = torch.where(usable[:, None, None], symmetric / scale[:, None, None], identity)
    try:
        values, vectors = torch.linalg.eigh(scaled)
    except LinAlgError:
        return identity.expand_as(symmetric).clone(), torch.ones_like(usable)
    values = values.clamp_min(0)
    values = values + damping * values.amax(-1, keepdim=True)
    root = (vectors * values.pow(-exponent)[:, None]) @ vectors.mT
    if absolute:
        root = root * scale.pow(-exponent)[:, None, None]
    failed = ~usable | ~torch.isfinite(root).all(-1).all(-1)
    return torch.where(failed[:, None, None], identity, root), failed


def whitening_root(gram: Tensor, damping: float) -> tuple[Tensor, Tensor]:
    """Compute (L + damping * |L|_F I)^{-1/2} by matrix products alone.

    The polynomials POLAR_EXPRESS are composed on the Gram matrix. A damping below 1e-4 leaves the smallest singular
    values smaller than 1.

    Args:
        gram: L, symmetric and positive semi-definite, [B, r, r].
        damping: relative to the Frobenius norm.

    Returns:
        Roots [B, r, r], the identity for those that failed and for an L that is zero in effect, and which failed, bool
        [B].
    """
    # Scaled to trace r before squaring: the fourth power of gradients of 1e-16 or 1e16 leaves float32's range.
    scale = gram.diagonal(dim1=-2, dim2=-1).mean(-1)[:, None, None]
    # Denormal numbers have too few digits to form a semi-definite matrix, from which the update's length is computed.
    tiny = torch.finfo(gram.dtype).tiny
    usable = torch.isfinite(scale) & (scale > tiny)
    a = torch.where(usable, gram, 0.0) / torch.where(usable, scale, 1.0)
    norm = torch.linalg.vector_norm(a, dim=(-2, -1), keepdim=True).clamp_min(1e-30) * (1 + damping)
    a = a / norm
    a.diagonal(dim1=-2, dim2=-1).add_(damping / (1 + damping))
    root = _compose(a, POLAR_EXPRESS) * (torch.where(usable, scale, 1.0).rsqrt() * norm.rsqrt())
    whole = (usable | (scale.abs() <= tiny))[..., 0, 0] & torch.isfinite(root).all(-1).all(-1)
    identity = torch.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
    return torch.where((whole & usable[..., 0, 0])[:, None, None], root, identity), ~whole


def orthogonalise(
    matrix: Tensor, iterations: int, coefficients: Sequence[tuple[float, float, float]] = NEWTON_SCHULZ
) -> Tensor:
    """Return nearly U V^T of M = U S V^T, with singular values of about 1: [B, m, n] -> [B, m, n].

    Newton-Schulz iteration in Muon's form (Jordan et al. 2024). On CUDA products are taken in bfloat16, in which the
    polynomials are stable; elsewhere in the dtype of the matrix.

    Args:
        matrix: M.
        iterations: polynomials to apply.
        coefficients: of the odd quintics, one after the other; the last one repeats.
    """
    tall = matrix.shape[-2] > matrix.shape[-1]
    x: Tensor = matrix.mT if tall else matrix
    # Divided by the largest entry first, because the norm of entries of 1e-30 is zero in float32.
    x = x / x.abs().amax(dim=(-2, -1), keepdim=True).clamp_min(torch.finfo(x.dtype).tiny)
    x = x / (torch.linalg.vector_norm(x, dim=(-2, -1), keepdim=True).clamp_min(1e-7) * 1.01)
    steps = [coefficients[min(i, len(coefficients) - 1)] for i in range(iterations)]
    if x.is_cuda and x.dtype == torch.float32:
        x = _products(x.bfloat16(), steps)
    elif x.shape[-1] >= WIDE * x.shape[-2]:
        x = _products_of_gram(x, steps)
    else:
        x = _products(x, steps)
    return (x.mT if tall else x).to(matrix.dtype)


def _products(x: Tensor, steps: Sequence[tuple[float, float, float]]) -> Tensor:
    """Apply odd quintics to the singular values of [B, m, n]."""
    for a, b, c in steps:
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


def _products_of_gram(x: Tensor, steps: Sequence[tuple[float, float, float]]) -> Tensor:
    """The same by the Gram matrix [B, m, m] alone: less work for wide matrices, not exact enough in bfloat16."""
    return _compose(x @ x.mT, steps) @ x


def _compose(gram: Tensor, steps: Sequence[tuple[float, float, float]]) -> Tensor:
    """Return the matrix R [B, m, m] by which odd quintics, one after the other, turn X into R X; `gram` is X X^T."""
    root: Tensor | None = None
    for i, (linear, cubic, quintic) in enumerate(steps):
        factor = torch.baddbmm(gram, gram, gram, beta=cubic, alpha=quintic)
        factor.diagonal(dim1=-2, dim2=-1).add_(linear)
        root = factor if root is None else factor @ root
        if i + 1 < len(steps):
            gram = factor @ gram @ factor
    assert root is not None  # there is at least one step
    return root
