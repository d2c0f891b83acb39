import pytest
import torch

from model.objectives.predictor import embedding_error, plain_norm, standardise
from model.objectives.token_contrast import against_mean, token_contrast


def alike(count=64, width=16):
    """Tokens that share one long vector and differ a little, as cells of a page do."""
    torch.manual_seed(0)
    return 5 * torch.randn(width) + 0.1 * torch.randn(count, width)


def test_standardised_targets_lose_the_vector_that_all_tokens_share():
    tokens = alike()
    made = standardise(tokens, torch.ones(64))
    assert made.mean(0).abs().max() < 1e-4 and made.std(0, correction=0).min() > 0.99
    assert plain_norm(tokens).std(0).mean() < 0.1  # the layer norm keeps it


def test_tokens_without_weight_do_not_count_in_the_statistics():
    tokens = alike()
    weights = torch.arange(64) < 32
    made = standardise(torch.cat([tokens[:32], tokens[32:] + 100]), weights)
    assert torch.allclose(made[:32], standardise(tokens[:32], torch.ones(32)), atol=1e-3)


def test_contrast_tells_right_pairs_from_shuffled_ones():
    torch.manual_seed(0)
    target, ids = torch.randn(32, 16), torch.arange(32)
    assert token_contrast(target, target, ids) < 0.1 < 3 < token_contrast(target.roll(1, 0), target, ids)
    assert token_contrast(target[:1], target[:1], ids[:1]) == 0


def test_one_token_predicted_twice_is_not_its_own_negative():
    torch.manual_seed(0)
    target = torch.randn(8, 16).repeat(2, 1)
    twice = torch.arange(8).repeat(2)
    assert token_contrast(target, target, twice) < 0.1 < token_contrast(target, target, torch.arange(16))


def test_predicting_the_mean_is_the_baseline():
    target = torch.randn(3, 20, 16)
    weights = torch.rand(3, 20)
    mean = (target * weights[..., None]).sum((0, 1)) / weights.sum()
    found = against_mean(embedding_error(mean.expand_as(target), target, weights), target, weights)
    assert found["of_mean"] == pytest.approx(1.0, abs=1e-5)
    assert against_mean(torch.tensor(0.0), target, weights)["of_mean"] == 0
