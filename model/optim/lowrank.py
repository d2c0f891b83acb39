"""Step a stack of parameters in their low-rank subspace.

The parts are projection, preconditioner, moments, length, residual, and lifting.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from model.optim import fisher, residual
from model.optim.basis import SeededBases, basis_of, rotate
from model.optim.choices import (
    Adam,
    Factor,
    History,
    Moments,
    Norm,
    Orthogonal,
    Partition,
    Preconditioner,
    Residual,
    Rounding,
    Subspace,
)
from model.optim.counting import State
from model.optim.moments import with_moments
from model.optim.rounding import draw_of, move
from model.optim.sharded import is_sharded, own, own_of, piece_of
from model.optim.stack import CUT_ELEMENTS, Stack
from model.optim.subspace import Geometry, as_view, blocks_of, fold, from_view, lift, project, rows_of, unfold

FAN_IN = 64  # at which the norm rules "rms" and "fan_in" agree


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of one parameter group."""

    lr: float | Tensor
    betas: tuple[float, float]
    weight_decay: float
    seed: int
    subspace: Subspace
    preconditioner: Preconditioner | None
    moments: Moments | None
    residual: Residual | None
    norm: Norm | None
    rounding: Rounding


def step(stack: Stack, shape: Geometry, settings: Settings, seeded: SeededBases) -> None:
    """Step every parameter of the stack in place; gradients must be finite and not all zero."""
    if not shape.blocks:
        whole = _project_update(stack, shape, settings, seeded)
        parts = [from_view(part, shape, p.shape) for part, p in zip(whole.unbind(0), stack.parameters, strict=True)]
        for parameter, part, state in zip(stack.parameters, parts, stack.states, strict=True):
            _move(parameter, part, settings, state)
        stack.close()
    else:
        # A large matrix is stepped in pieces that fit the cache; its blocks are independent of each other.
        size = max(1, CUT_ELEMENTS // math.prod(shape.view))
        first = stack.parameters[0]
        alone = len(stack) == 1 and first.is_contiguous() and first.device.type == "cpu" and not is_sharded(first)
        for piece in stack.split_blocks(size) if alone else [stack]:
            _step_blocks(piece, shape, settings)
            piece.close()
    stack.advance()


def _project_update(stack: Stack, shape: Geometry, settings: Settings, seeded: SeededBases) -> Tensor:
    """Return the whole update [B, *view] from a subspace and, with a residual, from outside it."""
    views = [as_view(gradient, shape) for gradient in stack.gradients]
    gradients = views[0].unsqueeze(0) if len(views) == 1 else torch.stack(views)
    basis = basis_of(gradients, stack, shape, settings.subspace, settings.seed, seeded)
    if basis.changed and not isinstance(settings.subspace, Partition) and settings.subspace.rotate:
        rotate(stack, basis.changed, shape, gradients.dtype)
    low = project(gradients, basis.factors, shape.modes)
    update = precondition(low, stack, shape, settings, basis.fresh)
    if settings.residual is None:
        return lift(update, basis.factors, shape.modes)
    before = stack.open_or_zeros("residual_norm", (), low.dtype)
    scaled = residual.scale_of(gradients, low, update, before, settings.residual.limit, shape.columns)
    before.copy_(scaled.norm)
    inside = lift(torch.addcmul(update, low, scaled.scale, value=-1), basis.factors, shape.modes)
    return inside.addcmul_(gradients, scaled.scale)


def _step_blocks(stack: Stack, shape: Geometry, settings: Settings) -> None:
    """Step the blocks of a partition, which has no outside; the norm rule holds for each block."""
    blocks = [blocks_of(rows_of(gradient), shape, stack.part) for gradient in stack.gradients]
    low = blocks[0] if len(blocks) == 1 else torch.cat(blocks)
    update = precondition(low, stack, shape, settings, fresh=False)
    rank = shape.view[0]
    first, last = stack.part or (0, shape.blocks)
    for parameter, part, state in zip(stack.parameters, update.tensor_split(len(stack)), stack.states, strict=True):
        rows = part.flatten(0, 1)[: parameter.shape[0] - first * rank]
        missing = (last - first) * rank - len(rows)
        if missing and settings.norm is not None and settings.norm.rule in ("rms", "fan_in", "kl"):
            # The padding rows of the last block took part of the length that the norm rule gives a whole block.
            rows[missing - rank :] *= math.sqrt(1 - missing / rank)
        if parameter.is_contiguous() and not is_sharded(parameter):
            _move(rows_of(parameter)[first * rank : first * rank + len(rows)], rows, settings, state, first)
        else:
            _move(parameter, rows.view(parameter.shape), settings, state)


def _move(parameter: Tensor, update: Tensor, settings: Settings, state: State, part: int = 0) -> None:
    draw = None
    if parameter.dtype == torch.bfloat16:
        draw = draw_of(settings.rounding, settings.seed, state, part, piece_of(parameter))
    update, parameter = own_of(update, parameter), own(parameter)
    decay_factor = 1 - settings.lr * settings.weight_decay if settings.weight_decay else 1.0
    move(parameter, update, scale=-settings.lr, decay_factor=decay_factor, draw=draw)


def precondition(low: Tensor, stack: Stack, shape: Geometry, settings: Settings, fresh: bool) -> Tensor:
    """Return the preconditioned low-rank update with the length of its norm rule: [B, *low] -> [B, *low].

    The history acts on the gradient, because the dual form needs g_t to be one of its columns. The factor and the
    orthogonalisation act on the momentum. With Adam's second moment, which must see the whitened gradient, the factor
    acts on the gradient too.
    """
    how, moments, norm = settings.preconditioner, settings.moments, settings.norm
    momentum, values = low, None
    if isinstance(how, History):
        update = with_moments(by_history(low, stack, how), stack, moments, settings.betas)
    elif isinstance(how, Factor) and isinstance(moments, Adam):
        whitened = by_root(remembered_root(gram_of_rows(low, shape), stack, how, fresh), low, shape, stack)
        update = with_moments(whitened, stack, moments, settings.betas)
    elif isinstance(how, Factor):
        momentum = with_moments(low, stack, moments, settings.betas)
        gram = gram_of_rows(momentum if how.of == "momentum" else low, shape)
        if how.remembers:
            root = remembered_root(gram, stack, how, fresh, absolute=norm is None)
            update = by_root(root, momentum, shape, stack)
        else:
            update = by_root(present_root(gram, stack, how, norm), momentum, shape, stack)
            if norm is None or not norm.cautious:
                return update  # the root has the length of the norm rule
    else:
        update = with_moments(low, stack, moments, settings.betas)
        if isinstance(how, Orthogonal):
            whitened, values = orthogonal(unfold(update, shape), stack, how)
            update = fold(whitened, update, shape)
    return with_length(update, low, momentum, norm, stack, values)


def orthogonal(matrices: Tensor, stack: Stack, how: Orthogonal) -> tuple[Tensor, Tensor]:
    """Return the orthogonalised momentum, [B, m, n] -> [B, m, n], and the root mean square of its singular values, [B].

    Its rows, and then its columns, are then divided by the root of their second moments, where there are any.

    The row moment is NorMuon's (Li et al. 2025, algorithm 1); it is of O, whose rows have a mean square near 1/n. The
    column moment is of what the row moment left.
    """
    polynomials = fisher.POLAR_EXPRESS_WIDE if how.polynomials == "polar_express" else fisher.NEWTON_SCHULZ
    whitened = fisher.orthogonalise(matrices, how.iterations, polynomials)
    values = torch.linalg.vector_norm(whitened, dim=(-2, -1)) / min(whitened.shape[-2:]) ** 0.5
    for side, beta in ((-1, how.rows), (-2, how.columns)):
        if beta:
            seen = whitened.square().mean(side)
            square_mean = stack.open_or_zeros(
                "row_moment" if side == -1 else "column_moment", seen.shape[1:], seen.dtype
            )
            square_mean.lerp_(seen, 1 - beta)
            root = (square_mean / stack.bias_correction(beta, square_mean.dim())).sqrt_().clamp_min_(1e-8)
            whitened = whitened / root.unsqueeze(side)
    return whitened, values


def by_history(low: Tensor, stack: Stack, how: History) -> Tensor:
    """Return F^{-1} g_t, or lambda F^{-1} g_t, with F = lambda I + G G^T over the last s gradients.

    Source, steps 2 to 6. Where no Cholesky factorisation succeeds, the gradient passes unchanged and the state's
    `fallbacks` counts it.
    """
    size = low[0].numel()
    dtype = torch.bfloat16 if how.dtype == "bfloat16" else low.dtype
    history = stack.open_or_zeros("history", (how.window, size), dtype)
    gram = stack.open_or_zeros("gram", (how.window, how.window), torch.float64)
    # The stack's count of steps equals the count of columns: skipped steps are in neither.
    slot, filled = stack.steps % how.window, min(stack.steps + 1, how.window)
    fisher.push_column(history, gram, fisher.stored_column(low.flatten(1), history), slot)

    if how.relative:
        damping = fisher.relative_damping(gram, filled, how.damping)
    else:
        damping = torch.full((len(stack),), how.damping, dtype=gram.dtype, device=gram.device)
    weights, failed = fisher.dual_weights(gram, slot, damping)
    if how.relative:
        weights = weights * torch.where(torch.isfinite(damping) & (damping > 0), damping, 1.0)[:, None]
    stack.count("fallbacks", failed)
    return fisher.combine(history, weights, low.dtype).view_as(low)


def gram_of_rows(low: Tensor, shape: Geometry) -> Tensor:
    """Return x x^T / n, [B, r, r], of the matrices that a factor acts on."""
    matrices = unfold(low, shape)
    return (matrices @ matrices.mT).div_(matrices.shape[2])


def by_root(root: Tensor, low: Tensor, shape: Geometry, stack: Stack) -> Tensor:
    """Apply the inverse root of a Fisher factor: [B, r, r], [B, *low] -> [B, *low]."""
    matrices = unfold(low, shape)
    return fold(torch.bmm(root, matrices, out=stack.scratch.take("whitened", matrices.shape, low)), low, shape)


def present_root(gram: Tensor, stack: Stack, how: Factor, norm: Norm | None) -> Tensor:
    """Return the inverse root [B, r, r] of the Fisher factor without memory, times the norm rule's length.

    tr(R L R) n is the squared length of the whitened momentum, so no pass over the momentum is needed.
    """
    if how.exponent == 0.5:
        root, failed = fisher.whitening_root(gram, how.damping)
    else:
        root, failed = fisher.inverse_root(gram, how.damping, how.exponent, absolute=norm is None)
    stack.count("fallbacks", failed)
    if norm is None:
        return root
    rank = gram.shape[-1]
    power = ((root @ gram) * root).sum((-2, -1)) / rank  # mean square of the update
    wanted = gram.diagonal(dim1=-2, dim2=-1).mean(-1).sqrt() if norm.rule == "gradient" else rms_of(norm, stack)
    return root * (wanted / power.clamp_min(torch.finfo(gram.dtype).tiny).sqrt())[:, None, None]


def remembered_root(gram: Tensor, stack: Stack, how: Factor, fresh: bool, *, absolute: bool = False) -> Tensor:
    """Return the inverse root [B', r, r] of the Fisher factor whose average includes this Gram matrix.

    It is decomposed again every `interval` steps, after a change of basis, and at steps 1, 2, 4 ... while the average
    is young. `absolute`: see `fisher.inverse_root`; the average is then corrected for its beginning at zero.
    """
    rank = gram.shape[-1]
    packed = stack.open_or_zeros("fisher", (rank, rank + 1), gram.dtype)
    factor, root = fisher.unpack(packed)
    factor.lerp_(gram, 1 - how.beta)
    count = stack.steps
    if fresh or count % how.interval == 0 or (count < how.interval and count & (count - 1) == 0):
        seen = stack.bias_correction(how.beta, 3) if absolute else 1.0
        root, failed = fisher.inverse_root(factor / seen, how.damping, how.exponent, absolute=absolute)
        stack.count("fallbacks", failed)
    packed.copy_(fisher.pack(factor, root))
    return root


def with_length(
    update: Tensor, low: Tensor, momentum: Tensor, norm: Norm | None, stack: Stack, values: Tensor | None = None
) -> Tensor:
    """Scale the update [B, *low] to the length of its norm rule; a zero update stays zero.

    Args:
        update: u = F^{-1} m.
        low: g.
        momentum: m.
        norm: rule; None for no change.
        stack: parameters.
        values: root mean square of the singular values of an orthogonalised momentum, [B].
    """
    if norm is None:
        return update
    if norm.cautious:
        update = torch.where(update * low > 0, update, 0.0)
    dims = tuple(range(1, update.dim()))
    if norm.rule == "kl":
        length: Tensor = (update * momentum).sum(dims, keepdim=True).clamp_min(0).sqrt_()
    else:
        length = torch.linalg.vector_norm(update, dim=dims, keepdim=True)
    if norm.rule == "gradient":
        wanted: Tensor = torch.linalg.vector_norm(low, dim=dims, keepdim=True)
    else:
        wanted = torch.full_like(length, rms_of(norm, stack) * update[0].numel() ** 0.5)
        if norm.rule == "spectral" and values is not None:
            wanted *= values.view_as(wanted)
    # Divided first: wanted / tiny overflows, and an update of zero would become NaN.
    return update.div(length.clamp_min(torch.finfo(update.dtype).tiny)).mul_(wanted)


def rms_of(norm: Norm, stack: Stack) -> float:
    """Return the root mean square that the norm rule gives an update."""
    first = stack.parameters[0]
    fan_in = first.numel() / first.shape[0]
    return norm.rms * (FAN_IN / fan_in) ** 0.5 if norm.rule in ("fan_in", "spectral") else norm.rms
