"""Weights on the line between two networks."""

import pytest
import torch

from model.weight_interpolation import interpolate


def test_interpolation_takes_a_share_and_the_new_integer_tensors() -> None:
    before = {"a": torch.tensor([0.0, 2.0]), "n": torch.tensor(3)}
    after = {"a": torch.tensor([4.0, 2.0]), "n": torch.tensor(5)}
    assert interpolate(before, after, 0.25)["a"].tolist() == [1.0, 2.0]
    assert interpolate(before, after, 0.25)["n"].item() == 5
    assert torch.equal(interpolate(before, after, 1.0)["a"], after["a"])
    half = interpolate({"a": torch.zeros(2, dtype=torch.float16)}, {"a": torch.ones(2, dtype=torch.float16)}, 0.5)["a"]
    assert half.dtype == torch.float16 and half.tolist() == [0.5, 0.5]


def test_other_architectures_are_refused() -> None:
    with pytest.raises(ValueError, match="same architecture"):
        interpolate({"a": torch.zeros(2)}, {"a": torch.zeros(3)}, 0.5)
    with pytest.raises(ValueError, match="same architecture"):
        interpolate({"a": torch.zeros(2)}, {"b": torch.zeros(2)}, 0.5)
