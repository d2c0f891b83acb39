"""Choices check themselves and survive a trip through JSON."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from model.optim import MODES, Factor, History, Norm, Orthogonal, RangeFinder, Residual, Seeded, Svd, Tucker, choices
from model.optim.group_settings import check_together


@pytest.mark.parametrize("keyword", choices.CHOICES)
def test_every_choice_survives_json(keyword: str) -> None:
    for record in choices.CHOICES[keyword]:
        choice = record()
        assert choices.parse(keyword, json.loads(json.dumps(choices.to_plain(choice)))) == choice
    assert choices.parse(keyword, json.loads(json.dumps(choices.to_plain(None)))) is None


def test_settings_away_from_the_defaults_survive_json() -> None:
    settings: list[tuple[str, choices.Choice]] = [
        ("subspace", Tucker(rank=7, modes=(0, 2), iterations=5, refresh=11, rotate=False)),
        ("subspace", Seeded(fraction=0.125, side="columns", shared=False)),
        ("preconditioner", History(window=3, damping=0.5, relative=False, dtype="bfloat16")),
    ]
    for keyword, choice in settings:
        assert choices.parse(keyword, json.loads(json.dumps(choices.to_plain(choice)))) == choice


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Seeded(rank=0), "rank must be at least 1"),
        (lambda: Seeded(fraction=0.0), "fraction must be above 0"),
        (lambda: Svd(fraction=1.5), "at most 1"),
        (lambda: RangeFinder(refresh=0), "refresh must be at least 1"),
        (lambda: RangeFinder(oversample=-1), "oversample"),
        (lambda: Seeded(side=cast(Any, "left")), "side must be one of smaller, rows, columns"),
        (lambda: Tucker(modes=(1, 1)), "distinct"),
        (lambda: Tucker(modes=()), "distinct"),
        (lambda: Tucker(iterations=0), "iterations"),
        (lambda: History(window=0), "window"),
        (lambda: History(damping=0.0), "damping must be above 0"),
        (lambda: History(dtype=cast(Any, "float16")), "dtype must be one of float32, bfloat16"),
        (lambda: Factor(beta=1.0), "beta"),
        (lambda: Factor(exponent=0.0), "exponent"),
        (lambda: Factor(interval=0), "interval"),
        (lambda: Orthogonal(iterations=0), "iterations"),
        (lambda: Orthogonal(rows=1.0), "rows must be in"),
        (lambda: Orthogonal(polynomials=cast(Any, "cubic")), "polynomials must be one of newton_schulz, polar_express"),
        (lambda: choices.Momentum(beta=1.0), "beta must be in"),
        (lambda: Residual(limit=0.9), "limit"),
        (lambda: Norm(rule=cast(Any, "max")), "rule must be one of rms, fan_in, spectral, gradient"),
        (lambda: Norm(rms=0.0), "rms"),
        (lambda: choices.Adam(eps=0.0), "eps"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()


def test_plain_forms_that_mean_nothing_are_refused() -> None:
    with pytest.raises(ValueError, match=r"subspace has no kind 'random'; choose .*seeded"):
        choices.parse("subspace", {"kind": "random"})
    with pytest.raises(ValueError, match="kind seeded has no setting windows"):
        choices.parse("subspace", {"kind": "seeded", "windows": 3})
    with pytest.raises(TypeError, match="preconditioner must be one of History"):
        choices.parse("preconditioner", cast(Any, "history"))
    with pytest.raises(TypeError, match="moments must be one of"):
        choices.parse("moments", Factor())


def test_a_second_moment_of_what_is_orthogonalised_is_refused() -> None:
    with pytest.raises(ValueError, match="no second moment"):
        check_together(choices.Partition(), Orthogonal(), choices.Adam())


def test_choices_are_frozen_and_can_be_varied() -> None:
    assert replace(Seeded(), rank=3).rank == 3
    with pytest.raises(AttributeError):
        Seeded().rank = 3  # type: ignore[misc]


def test_the_source_row_is_the_source() -> None:
    source = MODES["source"]
    assert isinstance(source.subspace, Tucker)
    assert isinstance(source.preconditioner, History)
    assert not source.preconditioner.relative
    assert source.preconditioner.window == 10
    assert (source.moments, source.residual, source.norm) == (None, None, None)


def test_row_moments_are_refused_where_a_new_basis_changes_the_rows() -> None:
    with pytest.raises(ValueError, match="needs subspace=Partition"):
        check_together(Seeded(), Orthogonal(rows=0.9), choices.Momentum())
    check_together(choices.Partition(), Orthogonal(rows=0.9), choices.Momentum())


@pytest.mark.parametrize(
    ("how", "moments"),
    [(Orthogonal(), None), (choices.Factor(), None), (Factor(exponent=1.0), choices.Adam()), (None, None)],
)
def test_equal_divergence_is_refused_where_there_is_no_fisher_matrix(how: Any, moments: Any) -> None:
    with pytest.raises(ValueError, match="needs Factor"):
        check_together(choices.Partition(), how, moments, Norm(rule="kl"))
    check_together(choices.Partition(), Factor(exponent=1.0), choices.Momentum(), Norm(rule="kl"))


@pytest.mark.parametrize("how", [None, choices.Factor(), choices.History()])
def test_the_spectral_length_is_refused_where_nothing_is_orthogonal(how: Any) -> None:
    with pytest.raises(ValueError, match="needs preconditioner=Orthogonal"):
        check_together(choices.Partition(), how, choices.Momentum(), Norm(rule="spectral"))
    check_together(choices.Partition(), Orthogonal(), choices.Momentum(), Norm(rule="spectral"))
