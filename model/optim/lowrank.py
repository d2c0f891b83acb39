"""One step of a stack of parameters in their low-rank subspace: project, precondition, moments, length, residual, lift."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model.optim import fisher, residual
from model.optim.basis import SeededBases, basis_of, rotate
from model.optim.choices import Adam, Factor, History, Moments, Norm, Orthogonal, Preconditioner, Residual, Subspace
from model.optim.stack import Stack
from model.optim.subspace import Geometry, as_view, from_view, lift, project


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What one parameter group asks for."""

    lr: float
    betas: tuple[float, float]
    weight_decay: float
    seed: int
    subspace: Subspace
    preconditioner: Preconditioner | None
    moments: Moments | None
    residual: Residual | None
    norm: Norm | None


def step(stack: Stack, shape: Geometry, settings: Settings, seeded: SeededBases) -> None:
    """Step every parameter of the stack in place. Gradients must be finite and not all zero."""
    views = [as_view(gradient, shape) for gradient in stack.gradients]
    gradients = views[0].unsqueeze(0) if len(views) == 1 else torch.stack(views)
    basis = basis_of(gradients, stack, shape, settings.subspace, settings.seed, seeded)
    if basis.changed and settings.subspace.rotate:
        rotate(stack, basis.changed, shape, gradients.dtype)
    low = project(gradients, basis.factors, shape.modes)
    update = with_length(direction(low, stack, shape, settings, basis.fresh), low, settings.norm)

    if settings.residual is None:
        whole = lift(update, basis.factors, shape.modes)
    else:
        before = stack.opened_or_zeros("residual_norm", (), low.dtype)
        scaled = residual.scale_of(gradients, low, update, before, settings.residual.limit, shape.columns)
        before.copy_(scaled.norm)
        whole = lift(torch.addcmul(update, low, scaled.scale, value=-1), basis.factors, shape.modes).addcmul_(
            gradients, scaled.scale
        )

    parts = [from_view(part, shape, p.shape) for part, p in zip(whole.unbind(0), stack.parameters, strict=True)]
    for parameter, part in zip(stack.parameters, parts, strict=True):
        if settings.weight_decay != 0:
            parameter.mul_(1 - settings.lr * settings.weight_decay)
        parameter.add_(part, alpha=-settings.lr)
    stack.close()


def direction(low: Tensor, stack: Stack, shape: Geometry, settings: Settings, fresh: bool) -> Tensor:
    """The low-rank update before its length is set: [B, *low] -> [B, *low].

    The history acts on the gradient, because the dual form needs g_t to be one of its columns. The factor and the
    orthogonalisation act on the momentum; with Adam's second moment, which has to see what was whitened, the factor acts on the
    gradient as well.
    """
    how, moments = settings.preconditioner, settings.moments
    if isinstance(how, History):
        return with_moments(by_history(low, stack, how), stack, moments, settings.betas)
    if isinstance(how, Factor):
        root = factor_root(low, stack, shape, how, fresh)
        if isinstance(moments, Adam):
            return with_moments(by_matrix(root, low, shape), stack, moments, settings.betas)
        return by_matrix(root, with_moments(low, stack, moments, settings.betas), shape)
    update = with_moments(low, stack, moments, settings.betas)
    if isinstance(how, Orthogonal):
        mode = shape.modes[0] + 1
        moved = update.movedim(mode, 1)
        return fisher.orthogonalise(moved.flatten(2), how.iterations).view(moved.shape).movedim(1, mode)
    return update


def by_history(low: Tensor, stack: Stack, how: History) -> Tensor:
    """F^{-1} g_t (or lambda F^{-1} g_t) with F = lambda I + G G^T over the last s gradients: source, steps 2 to 6.

    Where no Cholesky factorisation succeeds the gradient passes as it is, and the state's `fallbacks` counts it.
    """
    size = low[0].numel()
    dtype = torch.bfloat16 if how.dtype == "bfloat16" else low.dtype
    history = stack.opened_or_zeros("history", (how.window, size), dtype)
    gram = stack.opened_or_zeros("gram", (how.window, how.window), torch.float64)
    # The stack's count of steps is the count of columns: a step that is skipped is in neither.
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


def factor_root(low: Tensor, stack: Stack, shape: Geometry, how: Factor, fresh: bool) -> Tensor:
    """Inverse root [B, r, r] of the Fisher factor, whose average takes in this gradient; decomposed anew every `interval`
    steps, after a change of basis, and at steps 1, 2, 4 ... while the average is young."""
    matrix = low.movedim(shape.modes[0] + 1, 1).flatten(2)
    rank = matrix.shape[1]
    packed = stack.opened_or_zeros("fisher", (rank, rank + 1), low.dtype)
    factor, root = fisher.unpack(packed)
    factor.lerp_(matrix @ matrix.mT / matrix.shape[2], 1 - how.beta)
    count = stack.steps
    if fresh or count % how.interval == 0 or (count < how.interval and count & (count - 1) == 0):
        root, failed = fisher.inverse_root(factor, how.damping, how.exponent)
        stack.count("fallbacks", failed)
    packed.copy_(fisher.pack(factor, root))
    return root


def by_matrix(matrix: Tensor, low: Tensor, shape: Geometry) -> Tensor:
    """A matrix [B, r, r] applied to the first projected mode."""
    mode = shape.modes[0] + 1
    moved = low.movedim(mode, 1)
    return (matrix @ moved.flatten(2)).view(moved.shape).movedim(1, mode)


def with_moments(low: Tensor, stack: Stack, moments: Moments | None, betas: tuple[float, float]) -> Tensor:
    """Bias-corrected momentum, or Adam's ratio, or the argument itself."""
    if moments is None:
        return low
    (beta1, beta2), count = betas, stack.steps + 1
    momentum = stack.opened_or_zeros("momentum", low.shape[1:], low.dtype).lerp_(low, 1 - beta1)
    if isinstance(moments, Adam):
        second = stack.opened_or_zeros("second_moment", low.shape[1:], low.dtype)
        second.mul_(beta2).addcmul_(low, low, value=1 - beta2)
        return (momentum / (1 - beta1**count)) / ((second / (1 - beta2**count)).sqrt_().add_(moments.eps))
    if moments.nesterov:
        return momentum * (beta1 / (1 - beta1 ** (count + 1))) + low * ((1 - beta1) / (1 - beta1**count))
    return momentum / (1 - beta1**count)


def with_length(update: Tensor, low: Tensor, norm: Norm | None) -> Tensor:
    """The update with the length its norm rule gives it; a zero update stays zero. [B, *low]."""
    if norm is None:
        return update
    dims = tuple(range(1, update.dim()))
    # By the largest entry first, so that squares of small entries do not vanish in float32.
    update = update / update.abs().amax(dims, keepdim=True).clamp_min(torch.finfo(update.dtype).tiny)
    length: Tensor = torch.linalg.vector_norm(update, dim=dims, keepdim=True)
    if norm.rule == "gradient":
        wanted: Tensor = torch.linalg.vector_norm(low, dim=dims, keepdim=True)
    else:
        wanted = torch.full_like(length, norm.rms * update[0].numel() ** 0.5)
    return update.mul_(wanted / length.clamp_min(torch.finfo(update.dtype).tiny))
