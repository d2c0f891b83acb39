"""Settings of a parameter group: checked, and as a step takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, cast, get_args

from torch import Tensor

from model.optim import lowrank
from model.optim.adamw import rate_of
from model.optim.choices import (
    CHOICES,
    Adam,
    Choice,
    Factor,
    Moments,
    Momentum,
    Norm,
    Orthogonal,
    Partition,
    Preconditioner,
    Rounding,
    Subspace,
    parse,
)

_OF_A_STEP = tuple(field.name for field in fields(lowrank.Settings))


def validate_settings(settings: Mapping[str, Any], rates: bool = True) -> dict[str, Any]:
    """Return the optimizer's keywords among `settings`, validated; choices become records.

    Args:
        settings: of a group, or the constructor's.
        rates: whether numbers are checked too.

    Raises:
        ValueError: a setting is invalid.
        TypeError: a choice has a wrong type.
    """
    lr, decay, eps, betas = settings["lr"], settings["weight_decay"], settings["eps"], settings["betas"]
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if rates:  # during a run a tensor lr is not read back from its device
        for name, value in (("learning rate", lr), ("weight_decay value", decay), ("epsilon value", eps)):
            if not float(value) >= 0.0:
                raise ValueError(f"Invalid {name}: {value}")
    if not isinstance(betas, Sequence) or len(betas) != 2:
        raise ValueError(f"Invalid betas: {betas}; two rates are needed, of the first and of the second moment.")
    if not all(0.0 <= beta < 1.0 for beta in betas):
        raise ValueError(f"Invalid betas: {betas}; both must be at least 0 and below 1.")
    choices: dict[str, Choice | None] = {keyword: parse(keyword, settings[keyword]) for keyword in CHOICES}
    check_together(
        cast("Subspace | None", choices["subspace"]),
        cast("Preconditioner | None", choices["preconditioner"]),
        cast("Moments | None", choices["moments"]),
        cast("Norm | None", choices["norm"]),
    )
    if settings["rounding"] not in get_args(Rounding):
        raise ValueError(f"rounding must be one of {', '.join(get_args(Rounding))}, not {settings['rounding']!r}.")
    validated = {name: settings[name] for name in ("lr", "weight_decay", "eps", "maximize", "rounding")}
    validated["guarded"] = bool(settings.get("guarded", True))  # an optimizer pickled by an earlier version lacks these
    validated["capturable"] = bool(settings.get("capturable", False))
    if validated["capturable"]:
        check_capturable(validated["guarded"], choices)
    return validated | {"betas": tuple(betas), "seed": int(settings["seed"])} | choices


def check_together(
    subspace: Subspace | None,
    preconditioner: Preconditioner | None,
    moments: Moments | None,
    norm: Norm | None = None,
) -> None:
    """Refuse pairs of choices that have no meaning.

    Raises:
        ValueError: a second moment would be orthogonalised afterwards, or a factor of the momentum has no momentum, or
            one already divided by its second moment, or row moments would be of coordinates that a new basis changes,
            or there is no F for the norm rule "kl", or nothing orthogonal for "spectral".
    """
    if (
        isinstance(preconditioner, Orthogonal)
        and (preconditioner.rows or preconditioner.columns)
        and not isinstance(subspace, Partition | None)
    ):
        raise ValueError(
            "Orthogonal(rows=..., columns=...) needs subspace=Partition(): rows of other subspaces change their "
            "meaning. Choose another preconditioner, or begin with another mode: NaturalGradient.from_mode(...)."
        )
    if norm is not None and norm.rule == "spectral" and not isinstance(preconditioner, Orthogonal):
        raise ValueError('Norm(rule="spectral") needs preconditioner=Orthogonal(), whose singular values it counts.')
    if norm is not None and norm.rule == "kl":
        factor = isinstance(preconditioner, Factor) and preconditioner.remembers and preconditioner.exponent == 1.0
        if not factor or not isinstance(moments, Momentum | None):
            raise ValueError('Norm(rule="kl") needs Factor(exponent=1.0) of gradients and no second moment.')
    if isinstance(preconditioner, Orthogonal) and isinstance(moments, Adam):
        raise ValueError("Orthogonal takes no second moment: use moments=Momentum() or moments=None with it.")
    if isinstance(preconditioner, Factor) and preconditioner.of == "momentum" and not isinstance(moments, Momentum):
        raise ValueError('Factor(of="momentum") needs moments=Momentum(); with others use of="gradient".')


def check_capturable(guarded: bool, choices: Mapping[str, Choice | None]) -> None:
    """Refuse settings whose steps depend on numbers that Python reads.

    Raises:
        ValueError: gradients are guarded, or the mode decomposes, draws or forgets at certain steps.
    """
    if guarded:
        raise ValueError("capturable=True needs guarded=False: a guard reads the gradients' norms from the device.")
    how = choices["preconditioner"]
    every_step = how is None or isinstance(how, Orthogonal) or (isinstance(how, Factor) and not how.remembers)
    if choices["subspace"] is None:
        return
    if (
        not isinstance(choices["subspace"], Partition)
        or not every_step
        or (isinstance(how, Factor) and how.exponent != 0.5)
    ):
        raise ValueError(
            "capturable=True needs a mode whose steps are all alike, whole or blocks: others decompose or draw at "
            "certain steps."
        )


def step_settings(group: Mapping[str, Any]) -> lowrank.Settings:
    """Return the settings of a group for a step of its matrices."""
    rate = rate_of(group, group["capturable"])
    return lowrank.Settings(**{name: group[name] for name in _OF_A_STEP} | {"lr": rate})
