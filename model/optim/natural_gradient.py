"""NaturalGradient: online natural gradient in a low-rank tensor subspace, as a torch.optim.Optimizer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Self, cast, overload

import torch
from torch import Tensor
from torch.optim.optimizer import Optimizer, ParamsT

from model.optim import adamw, lowrank, state_dicts
from model.optim.basis import SeededBases
from model.optim.choices import (
    CHOICES,
    Moments,
    Norm,
    Preconditioner,
    Residual,
    Rounding,
    Subspace,
    to_plain,
)
from model.optim.counting import INTEGERS, State, fresh_state, on_device, place_counts
from model.optim.gradient_norms import dtype_of, norm_range, norms_of
from model.optim.group_settings import step_settings, validate_settings
from model.optim.modes import MODES, Mode
from model.optim.sharded import own_gradient, whole
from model.optim.stack import Scratch, Stack, chunks
from model.optim.subspace import geometry

_DEFAULT = MODES["whole"]


class NaturalGradient(Optimizer):
    """Natural gradient over matrices and tensors, AdamW over the rest.

        from model.optim import NaturalGradient, parameter_groups

        optimizer = NaturalGradient(parameter_groups(network), lr=1e-3)
        loss.backward()
        optimizer.step()

    | mode       | subspace  | preconditioner       | moments        | residual | norm |                               |
    |------------|-----------|----------------------|----------------|----------|------|-------------------------------|
    | whole      | -         | orthogonal, moments  | momentum, int8 | -        | fan_in | an eighth of AdamW's state |
    | blocks     | partition | factor of momentum   | momentum, int8 | -        | rms  | the same state; fast on a CPU |
    | seeded     | seeded    | factor of gradients  | momentum       | yes      | rms  | low rank, a sixth             |
    | source     | tucker    | history, lambda      | none           | no       | none | the source's equations        |
    | history    | seeded    | history, relative    | momentum       | yes      | rms  | the source's metric, no scale |
    | orthogonal | seeded    | orthogonal           | momentum       | yes      | rms  | Muon inside a subspace        |
    | galore     | svd       | none                 | adam           | no       | none | for comparison                |
    | fira       | svd       | none                 | adam           | yes      | none | for comparison                |

    The source is the method from which this optimizer started, "random subspace projection and natural gradients": a
    gradient in a Tucker subspace, F = lambda I + G G^T over a window of such gradients, and F^{-1} g by Woodbury's
    identity.

    `NaturalGradient.from_mode(params, "source", lr=...)` takes a row of the table. Each column has its own keyword, as
    a record or in its plain form, and must go with the others of its row:
    `from_mode(params, "seeded", subspace=Seeded(rank=32), norm={"kind": "norm", "rule": "gradient"})`. A parameter
    group may set any of them. `"subspace": None` gives its parameters to AdamW. Scalars, vectors and matrices with a
    side of 1 always go there; `parameter_groups` also sends norms and embeddings there.

    "whole" is the default. It orthogonalises the momentum of the whole matrix as Muon does (Jordan et al. 2024), keeps
    it in eight bits, divides rows and columns of the result by the root of their second moments (rows: NorMuon, Li et
    al. 2025), and gives the update a length that falls with the root of the fan-in.

    "blocks" cuts a matrix into blocks of 64 rows and steps each by F^{-1/2} m, where m is the momentum of the block and
    F = m m^T / n its Fisher factor. Without memory of earlier factors this orthogonalises m block by block (one-sided
    Shampoo, Gupta et al. 2018, section 3, in the limit that Jordan et al. 2024 call Muon). Both are the square root of
    a natural gradient without memory; "source" and "history" are natural gradients.

    Learning rate: with the norm rule "fan_in" of the default, the rate of AdamW's parameters serves matrices too, 2e-3
    at first. With "rms" every update has root mean square 0.2 lr, about AdamW's; "blocks" did best at two to four times
    AdamW's rate. The source mode has no norm rule. Its update has the length of F^{-1} g, which is g / lambda for
    lambda far above tr(G^T G)/s.

    Rank: in "blocks" it is the number of rows of a block; higher ranks cost time and gain little
    (tests/benchmarks/optim). In seeded modes it is the dimension of the subspace; a quarter of the smaller side has a
    sixth of AdamW's state. Refresh: 200 steps for seeded and fitted bases; shorter intervals made no difference. A
    refresh of seeded bases costs one QR for each distinct (dimension, rank).

    State: tensors and integers for each parameter, in float32 (float64 under float64 parameters) whatever the dtype of
    the parameter; `load_state_dict` keeps it so. A gradient is skipped if it is not finite, or if its squares leave the
    range of the state's dtype. A matrix's gradient is also skipped if it is zero. `counts()` returns how often. Two
    runs from one seed are equal to the bit, resumed or not.

    Args:
        params: parameters or parameter groups.
        lr: learning rate (number or one-element tensor).
        weight_decay: decoupled, applied before the update.
        betas: rates of the first and second moment.
        eps: AdamW's epsilon.
        subspace, preconditioner, moments, residual, norm: the choices, as records, their plain form, or None.
        seed: of the random subspaces.
        maximize: whether to maximise instead of minimise.
        rounding: how results are rounded to bfloat16 parameters: "stochastic", which keeps small updates in the mean,
            or "nearest". Other dtypes are rounded to the nearest.
        guarded: whether gradients are checked before a step, which waits for the device once. Without, no step of
            "whole" and "blocks" waits; others still wait for their factorisations. A gradient that is not finite then
            makes the state useless, and a zero one is a step.
        capturable: whether steps are counted on the device, for torch.compile of a step and for CUDA graphs: only with
            guarded=False, in the modes "whole" and "blocks". Give a rate that changes as a tensor on the device.

    Raises:
        ValueError: a setting is invalid.
        TypeError: a choice has a wrong type.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        *,
        weight_decay: float = 0.0,
        betas: tuple[float, float] = (0.9, 0.99),
        eps: float = 1e-8,
        subspace: Subspace | Mapping[str, Any] | None = _DEFAULT.subspace,
        preconditioner: Preconditioner | Mapping[str, Any] | None = _DEFAULT.preconditioner,
        moments: Moments | Mapping[str, Any] | None = _DEFAULT.moments,
        residual: Residual | Mapping[str, Any] | None = _DEFAULT.residual,
        norm: Norm | Mapping[str, Any] | None = _DEFAULT.norm,
        seed: int = 0,
        maximize: bool = False,
        rounding: Rounding = "stochastic",
        guarded: bool = True,
        capturable: bool = False,
    ) -> None:
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "betas": betas,
            "eps": eps,
            "subspace": subspace,
            "preconditioner": preconditioner,
            "moments": moments,
            "residual": residual,
            "norm": norm,
            "seed": seed,
            "maximize": maximize,
            "rounding": rounding,
            "guarded": guarded,
            "capturable": capturable,
        }
        self._bases, self._scratch = SeededBases(), Scratch()
        super().__init__(params, validate_settings(defaults))

    @classmethod
    def from_mode(cls, params: ParamsT, mode: str | Mode = "whole", **settings: Any) -> Self:
        """Build an optimizer from a row of the table of modes; keywords override its columns.

        Args:
            params: parameters or parameter groups.
            mode: name of a mode, or a mode.
            settings: keywords of the constructor.

        Raises:
            ValueError: no mode has that name.
        """
        if isinstance(mode, str):
            if mode not in MODES:
                raise ValueError(f"There is no mode {mode!r}; choose {', '.join(MODES)}.")
            mode = MODES[mode]
        columns = {field.name: getattr(mode, field.name) for field in fields(mode)}
        return cls(params, **(columns | settings))

    @classmethod
    def source(cls, params: ParamsT, lr: float, *, damping: float = 1.0, window: int = 10, **settings: Any) -> Self:
        """Build the source's method exactly: Tucker subspace, update F^{-1} g over `window` gradients.

        Args:
            params: parameters or parameter groups.
            lr: learning rate.
            damping: lambda of F = lambda I + G G^T, absolute; choose it near tr(G^T G)/s of the network's gradients.
            window: number of gradients.
            settings: other keywords of the constructor.
        """
        history = {"kind": "history", "window": window, "damping": damping, "relative": False}
        return cls.from_mode(params, "source", lr=lr, preconditioner=history, **settings)

    @classmethod
    def from_settings(cls, params: ParamsT, settings: Mapping[str, Any]) -> Self:
        """Build an optimizer with the settings that `settings()` returned, also after conversion to JSON."""
        return cls(params, **{**settings, "betas": tuple(settings["betas"])})

    def settings(self) -> dict[str, Any]:
        """Return the constructor's settings as JSON values, as a model version stores them."""
        plain: dict[str, Any] = {
            key: to_plain(value) if key in CHOICES else value for key, value in self.defaults.items()
        }
        plain.pop("differentiable", None)  # torch adds it when an optimizer is unpickled
        return plain | {"lr": float(plain["lr"]), "betas": list(plain["betas"])}

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, also during a run; choices may be records or plain."""
        super().add_param_group(param_group)
        group = self.param_groups[-1]
        try:
            group.update(validate_settings(group))
            for parameter in group["params"]:
                if torch.is_complex(parameter):
                    raise ValueError("NaturalGradient takes real parameters only; view a complex one as real.")
                geometry(parameter.shape, group["subspace"])  # raises where they do not fit
        except (TypeError, ValueError):
            self.param_groups.pop()
            raise

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], float]) -> float: ...
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Take one step.

        Args:
            closure: evaluates the model again, calls backward and returns the loss.

        Returns:
            The loss of the closure, or None.

        Raises:
            RuntimeError: a gradient is sparse.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group, touched in self._collect_touched():
                self._step_group(group, touched)
            self._bases.forget_unused()
        return loss

    def counts(self) -> dict[str, int]:
        """Count skipped gradients and fallbacks over all parameters and the whole run.

        Returns:
            `skipped`: gradients that were zero or not finite. `fallbacks`: steps with the plain gradient because a
            factorisation failed.
        """
        self._scratch.settle()
        states = cast("list[State]", list(self.state.values()))
        return {key: sum(int(state.get(key, 0)) for state in states) for key in ("skipped", "fallbacks")}

    def reset(self) -> None:
        """Drop all state, as if no step had been taken."""
        self._scratch.settle()
        self.state.clear()

    def state_dict(self) -> dict[str, Any]:
        """Return torch's state dict in plain values: tensors, numbers, strings, lists, dicts.

        Under FSDP2 the states of vectors, norms and embeddings are DTensors, because each process has a piece.
        """
        self._scratch.settle()
        return state_dicts.made_plain(self.param_groups, super().state_dict())

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state dict and keep every tensor's dtype.

        torch's own method casts state to the parameter's dtype; here float32 state stays float32 under bfloat16
        parameters. How steps are taken is not loaded: `guarded`, `capturable` and a tensor as learning rate stay those
        of this optimizer; the tensor gets the loaded rate.
        """
        self._scratch.settle()
        state_dicts.load(self, state_dict, super().load_state_dict)

    def __getstate__(self) -> dict[str, Any]:
        self._scratch.settle()
        return super().__getstate__()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._bases, self._scratch = SeededBases(), Scratch()  # pickled, copied and loaded are state and groups only
        super().__setstate__(state)
        for group in self.param_groups:
            group.update(validate_settings(dict(self.defaults) | group, rates=False))

    def _collect_touched(self) -> list[tuple[dict[str, Any], list[tuple[Tensor, Tensor, State]]]]:
        """Return the parameters that step now, by group, with gradient and state; raises before any change."""
        candidates: list[tuple[int, dict[str, Any], Tensor, Tensor]] = []
        index = 0
        for position, group in enumerate(self.param_groups):
            if any(isinstance(group[keyword], Mapping) for keyword in CHOICES):  # set in the middle of a run
                group.update(validate_settings(group))
            for parameter in group["params"]:
                if parameter.grad is not None:
                    if parameter.grad.layout != torch.strided:
                        raise RuntimeError(
                            "NaturalGradient does not support sparse gradients: make the embedding with sparse=False."
                        )
                    candidates.append((position, group, parameter, parameter.grad))
                    state = self.state[parameter]
                    if not state:
                        state.update(fresh_state(index, parameter, group["capturable"]))
                    elif on_device(state) != group["capturable"]:  # set after a state was loaded
                        state.update(place_counts(state, parameter.device, group["capturable"]))
                index += 1
        guarded = [gradient for _, group, _, gradient in candidates if group["guarded"]]
        sizes = norms_of(guarded)
        sizes.reverse()  # taken from the end
        if guarded:  # the device has just been waited for
            self._scratch.settle()
        touched: list[list[tuple[Tensor, Tensor, State]]] = [[] for _ in self.param_groups]
        for position, group, parameter, gradient in candidates:
            state = self.state[parameter]
            if not group["guarded"]:
                touched[position].append((parameter, gradient, state))
                continue
            size = sizes.pop()
            smallest, largest = norm_range(dtype_of(parameter))
            small = (
                size < smallest
                and geometry(parameter.shape, group["subspace"]) is not None
                and not _only_prepares(group, state)
            )
            if small or not size < largest:  # also true for NaN
                state["skipped"] += 1
                continue
            touched[position].append((parameter, gradient, state))
        return list(zip(self.param_groups, touched, strict=True))

    def _step_group(self, group: dict[str, Any], touched: list[tuple[Tensor, Tensor, State]]) -> None:
        matrices: defaultdict[tuple[Any, ...], list[tuple[Tensor, Tensor, State]]] = defaultdict(list)
        vectors: defaultdict[tuple[Any, ...], list[tuple[Tensor, Tensor, State]]] = defaultdict(list)
        for entry in touched:
            parameter, _, state = entry
            shape = geometry(parameter.shape, group["subspace"])
            alike = (parameter.dtype, parameter.device, None if group["capturable"] else state["step"])
            if shape is None:
                vectors[alike].append(entry)
            else:
                matrices[(shape, parameter.shape, *alike)].append(entry)
        for entries in vectors.values():
            adamw.step_states(group, *_gather(group, entries, own_gradient))
        settings, scratch = None, Scratch(keeps=False) if group["capturable"] else self._scratch
        for (shape, size, _, device, _), entries in matrices.items():
            settings = settings or step_settings(group)
            for chunk in chunks(len(entries), size.numel(), device):
                parameters, gradients, states = _gather(group, entries[chunk], lambda gradient, _: whole(gradient))
                lowrank.step(
                    Stack(parameters, gradients, states, shape.blocks, scratch=scratch), shape, settings, self._bases
                )


def _only_prepares(group: Mapping[str, Any], state: State) -> bool:
    """Return whether a step of a gradient of zero is to make states and no change: the rate is zero, and none is there.

    So torch.distributed.checkpoint asks a new optimizer what it has to load.
    """
    return state.keys() <= set(INTEGERS) and float(group["lr"]) == 0


def _gather(
    group: Mapping[str, Any], entries: list[tuple[Tensor, Tensor, State]], taken: Callable[[Tensor, Tensor], Tensor]
) -> tuple[list[Tensor], list[Tensor], list[State]]:
    """Return parameters, gradients in the dtype of computation with the sign of a descent, and states.

    Gradients are gathered by `taken`, from gradient and parameter, and widened a chunk at a time, so that no such copy
    of all of them exists.
    """
    parameters, gradients, states = (list(column) for column in zip(*entries, strict=True))
    dtype = dtype_of(parameters[0])
    wide = [taken(gradient, parameter).to(dtype) for gradient, parameter in zip(gradients, parameters, strict=True)]
    return parameters, [-gradient for gradient in wide] if group["maximize"] else wide, states
