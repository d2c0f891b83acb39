"""Define the optimizer's choices: frozen records that validate themselves and convert to plain JSON.

A model version stores the settings it was trained with, and `torch.load(..., weights_only=True)` accepts only tensors
and plain values, so every choice has one plain form: `{"kind": "seeded", "rank": null, ...}`. `None` is a choice too
and stays `null`: no preconditioner, no moments, no residual, no norm rule, and for `subspace` AdamW.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias, cast, get_args


def _check(condition: bool, sentence: str) -> None:
    if not condition:
        raise ValueError(sentence)


Side: TypeAlias = Literal["smaller", "rows", "columns"]
HistoryDtype: TypeAlias = Literal["float32", "bfloat16"]
MomentumDtype: TypeAlias = Literal["float32", "int8", "int8_root"]
Estimate: TypeAlias = Literal["gradient", "momentum"]
NormRule: TypeAlias = Literal["rms", "fan_in", "spectral", "gradient", "kl"]
Rounding: TypeAlias = Literal["stochastic", "nearest"]
Polynomials: TypeAlias = Literal["newton_schulz", "polar_express"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranked:
    """Rank of a subspace: `rank`, or where it is None, `fraction` of the dimension (at least 1)."""

    rank: int | None = None
    fraction: float = 0.25

    def __post_init__(self) -> None:
        _check(self.rank is None or self.rank >= 1, f"rank must be at least 1 or None, not {self.rank}.")
        _check(0.0 < self.fraction <= 1.0, f"fraction must be above 0 and at most 1, not {self.fraction}.")

    def rank_of(self, dimension: int) -> int:
        """Return the rank for a dimension, between 1 and the dimension."""
        rank = self.rank if self.rank is not None else round(self.fraction * dimension)
        return max(1, min(rank, dimension))


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition(_Ranked):
    """The whole space as an orthogonal sum of subspaces of `rank` neighbouring rows each.

    Rows are dimension 0: output features or channels. Nothing is projected away, no basis is stored, and each subspace
    has its own moments and Fisher matrix. Work and Fisher matrix grow with the rank; 64 keeps a step of a 1024 x 1024
    matrix within four of AdamW's.
    """

    kind: ClassVar[str] = "partition"
    rank: int | None = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subspace(_Ranked):
    """Common settings of subspaces with a basis.

    Attributes:
        refresh: steps between two bases.
        rotate: whether moments, Fisher factor and history are rotated into the new basis (R = U_new^T U_old). False
            leaves their coordinates unchanged, for the ablation.
    """

    refresh: int = 200
    rotate: bool = True

    def __post_init__(self) -> None:
        _Ranked.__post_init__(self)
        _check(self.refresh >= 1, f"refresh must be at least 1 step, not {self.refresh}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _OneSided(_Subspace):
    """A subspace of one side of a matrix; tensors of higher order are read as [n_1, n_2 ... n_d].

    Attributes:
        side: "smaller", "rows" (dimension 0) or "columns" (the rest).
    """

    side: Side = "smaller"

    def __post_init__(self) -> None:
        _Subspace.__post_init__(self)
        _check(self.side in get_args(Side), f"side must be one of {', '.join(get_args(Side))}, not {self.side!r}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeded(_OneSided):
    """Random orthonormal basis, generated from an integer seed and never stored.

    Attributes:
        shared: whether parameters of equal (dimension, rank) use one basis, which keeps one matrix for each distinct
            shape in memory. False derives the seed from the parameter's index too.
    """

    kind: ClassVar[str] = "seeded"
    shared: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeFinder(_OneSided):
    """Randomised range finder of the gradient, stored.

    Source: Halko, Martinsson and Tropp 2011, algorithms 4.4 and 5.1.
    """

    kind: ClassVar[str] = "range_finder"
    oversample: int = 8
    power_iterations: int = 1

    def __post_init__(self) -> None:
        _OneSided.__post_init__(self)
        _check(self.oversample >= 0, f"oversample must not be negative, not {self.oversample}.")
        _check(self.power_iterations >= 0, f"power_iterations must not be negative, not {self.power_iterations}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Svd(_OneSided):
    """Leading left singular vectors of the gradient (GaLore, Zhao et al. 2024), stored."""

    kind: ClassVar[str] = "svd"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tucker(_Subspace):
    """One orthonormal factor for each mode of the gradient's Tucker decomposition, stored.

    This is the source's subspace.

    Attributes:
        modes: modes to project. None takes all of them up to order 3, and modes 0 and 1 (output and input channels) of
            a convolution.
        iterations: rounds of higher-order orthogonal iteration after the HOSVD.
    """

    kind: ClassVar[str] = "tucker"
    modes: tuple[int, ...] | None = None
    iterations: int = 2

    def __post_init__(self) -> None:
        _Subspace.__post_init__(self)
        _check(self.iterations >= 1, f"iterations must be at least 1, not {self.iterations}.")
        if self.modes is not None:
            modes = self.modes
            _check(
                len(modes) > 0 and len(set(modes)) == len(modes) and min(modes) >= 0,
                f"modes must be distinct non-negative integers, not {list(modes)}.",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Fisher matrix of the last `window` low-rank gradients, F = lambda I + G G^T (source, steps 2 to 5).

    Attributes:
        window: number of gradients.
        damping: lambda, or with `relative` its factor.
        relative: if True, lambda = damping * tr(G^T G) / s and the result is lambda F^{-1} g, which keeps the scale of
            g. If False, lambda = damping and the result is F^{-1} g, as in the source.
        dtype: dtype of the stored window.
    """

    kind: ClassVar[str] = "history"
    window: int = 10
    damping: float = 1.0
    relative: bool = True
    dtype: HistoryDtype = "float32"

    def __post_init__(self) -> None:
        _check(self.window >= 1, f"window must be at least 1, not {self.window}.")
        _check(self.damping > 0.0, f"damping must be above 0, not {self.damping}.")
        allowed = get_args(HistoryDtype)
        _check(self.dtype in allowed, f"dtype must be one of {', '.join(allowed)}, not {self.dtype!r}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """Whitening by an r x r Fisher factor, an exponential average of g_low g_low^T / n.

    With of="momentum" and beta=0 the factor is that of the present momentum and no state. Exponent 0.5 then
    orthogonalises the momentum, as Muon does (Jordan et al. 2024), by matrix products alone.

    Attributes:
        of: whose columns are averaged, "gradient" or "momentum".
        beta: rate of the average.
        damping: relative to the largest eigenvalue; without memory, to the Frobenius norm.
        interval: steps between two eigendecompositions.
        exponent: 0.5 whitens, 1 is the full inverse.
    """

    kind: ClassVar[str] = "factor"
    of: Estimate = "gradient"
    beta: float = 0.95
    damping: float = 1e-4
    interval: int = 10
    exponent: float = 0.5

    @property
    def remembers(self) -> bool:
        """Whether an average is kept from one step to the next."""
        return self.of == "gradient" or self.beta > 0.0

    def __post_init__(self) -> None:
        _check(self.of in get_args(Estimate), f"of must be one of {', '.join(get_args(Estimate))}, not {self.of!r}.")
        _check(0.0 <= self.beta < 1.0, f"beta must be in [0, 1), not {self.beta}.")
        _check(self.damping > 0.0, f"damping must be above 0, not {self.damping}.")
        _check(self.interval >= 1, f"interval must be at least 1 step, not {self.interval}.")
        _check(0.0 < self.exponent <= 1.0, f"exponent must be above 0 and at most 1, not {self.exponent}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Orthogonal:
    """Orthogonalised momentum by odd polynomials of it (Muon, Jordan et al. 2024), inside the subspace.

    Attributes:
        iterations: polynomials applied one after the other.
        polynomials: "newton_schulz", Muon's one quintic again and again, or "polar_express", quintics that are the best
            for the singular values left by those before (Amsel et al. 2025).
        rows: rate of a second moment for each row of the orthogonalised momentum, by whose root the row is divided
            (NorMuon, Li et al. 2025); 0 for none.
        columns: the same for each column, after the rows.
    """

    kind: ClassVar[str] = "orthogonal"
    iterations: int = 5
    polynomials: Polynomials = "newton_schulz"
    rows: float = 0.0
    columns: float = 0.0

    def __post_init__(self) -> None:
        _check(self.iterations >= 1, f"iterations must be at least 1, not {self.iterations}.")
        allowed = get_args(Polynomials)
        _check(
            self.polynomials in allowed, f"polynomials must be one of {', '.join(allowed)}, not {self.polynomials!r}."
        )
        _check(0.0 <= self.rows < 1.0, f"rows must be in [0, 1), not {self.rows}.")
        _check(0.0 <= self.columns < 1.0, f"columns must be in [0, 1), not {self.columns}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Adam:
    """First and second moment of the low-rank gradient (Kingma and Ba 2015) at the group's `betas`."""

    kind: ClassVar[str] = "adam"
    eps: float = 1e-8

    def __post_init__(self) -> None:
        _check(self.eps > 0.0, f"eps must be above 0, not {self.eps}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Momentum:
    """First moment only.

    Attributes:
        beta: its rate; None for the first of the group's `betas`.
        nesterov: whether to look one gradient ahead, as Muon does.
        dtype: dtype of the stored moment. int8 has one scale for 256 neighbours in rows divisible by 256, else one a
            row (Dettmers et al. 2022, section 2, with linear codes that are rounded up or down by chance); int8_root
            the same of the signed root, so that small entries beside a large one keep digits.
        weight: share of the moment in the update, the rest is the gradient (quasi-hyperbolic momentum, Ma and Yarats
            2019); None for what `nesterov` says, which gives it the share beta.
    """

    kind: ClassVar[str] = "momentum"
    nesterov: bool = True
    dtype: MomentumDtype = "float32"
    beta: float | None = None
    weight: float | None = None

    def __post_init__(self) -> None:
        _check(self.beta is None or 0.0 <= self.beta < 1.0, f"beta must be in [0, 1) or None, not {self.beta}.")
        _check(
            self.weight is None or 0.0 <= self.weight <= 1.0, f"weight must be in [0, 1] or None, not {self.weight}."
        )
        allowed = get_args(MomentumDtype)
        _check(self.dtype in allowed, f"dtype must be one of {', '.join(allowed)}, not {self.dtype!r}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """The part outside the subspace, scaled column by column like the low-rank update.

    Source: Fira, Chen et al. 2024.

    Attributes:
        limit: largest factor by which the residual's norm may grow in a step.
    """

    kind: ClassVar[str] = "residual"
    limit: float = 1.01

    def __post_init__(self) -> None:
        _check(self.limit >= 1.0, f"limit must be at least 1, not {self.limit}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm:
    """Length of the low-rank update.

    Attributes:
        rule: "rms" gives every update the root mean square `rms`; "fan_in" the same at a fan-in of 64, falling with its
            root, so that outputs change alike in layers of all widths; "spectral" the same where all singular values of
            the orthogonalised momentum are 1, and less where small ones stayed small: Muon's length, by which the
            spectral norm is bounded (Bernstein and Newhouse 2024); "gradient" the length of the low-rank gradient;
            "kl" the length at which u . m = u^T F u is the same for every matrix, relative to the mean of F: that of
            "rms" where F is a multiple of the identity (trust region of Ba, Grosse and Martens 2017, section 5).
        rms: 0.2 is about what AdamW gives, so that its learning rates carry over.
        cautious: whether entries of the update whose sign is not the gradient's are set to zero before (Liang et al.
            2024).
    """

    kind: ClassVar[str] = "norm"
    rule: NormRule = "rms"
    rms: float = 0.2
    cautious: bool = False

    def __post_init__(self) -> None:
        allowed = get_args(NormRule)
        _check(self.rule in allowed, f"rule must be one of {', '.join(allowed)}, not {self.rule!r}.")
        _check(self.rms > 0.0, f"rms must be above 0, not {self.rms}.")


Subspace: TypeAlias = Partition | Seeded | RangeFinder | Svd | Tucker
Preconditioner: TypeAlias = History | Factor | Orthogonal
Moments: TypeAlias = Adam | Momentum
Choice: TypeAlias = Subspace | Preconditioner | Moments | Residual | Norm

# The keywords of NaturalGradient that hold a choice, and the records each may hold besides None.
CHOICES: Mapping[str, tuple[type[Choice], ...]] = {
    "subspace": (Partition, Seeded, RangeFinder, Svd, Tucker),
    "preconditioner": (History, Factor, Orthogonal),
    "moments": (Adam, Momentum),
    "residual": (Residual,),
    "norm": (Norm,),
}


def to_plain(choice: Choice | None) -> dict[str, Any] | None:
    """Return a choice as JSON values, its name under "kind"."""
    if choice is None:
        return None
    values = {field.name: getattr(choice, field.name) for field in fields(choice)}
    return {"kind": choice.kind} | {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def parse(keyword: str, value: Choice | Mapping[str, Any] | None) -> Choice | None:
    """Convert a keyword's value into a choice.

    Args:
        keyword: one of CHOICES.
        value: a record, its plain form, or None.

    Returns:
        The record, or None.

    Raises:
        TypeError: the value has a wrong type.
        ValueError: kind or settings are unknown or invalid.
    """
    allowed = CHOICES[keyword]
    if value is None or isinstance(value, allowed):
        return value
    if not isinstance(value, Mapping):
        names = ", ".join(record.__name__ for record in allowed)
        raise TypeError(f"{keyword} must be one of {names} or None, not {type(value).__name__}.")
    plain = dict(value)
    kind = plain.pop("kind", None)
    record = next((record for record in allowed if record.kind == kind), None)
    if record is None:
        raise ValueError(f"{keyword} has no kind {kind!r}; choose {', '.join(r.kind for r in allowed)} or null.")
    unknown = sorted(set(plain) - {field.name for field in fields(record)})
    if unknown:
        raise ValueError(f"{keyword} of kind {kind} has no setting {', '.join(unknown)}.")
    make = cast("Callable[..., Choice]", record)
    return make(**{name: tuple(v) if isinstance(v, list) else v for name, v in plain.items()})
