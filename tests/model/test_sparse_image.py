import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from model.encoders.image import ImageEncoder
from model.learning import Plan, learn
from model.objectives.kept_units import encode_kept, kept_indices
from model.objectives.mask_sampling import hide_units
from model.objectives.masked_inputs import spread_mask
from model.objectives.sparse_image import SparseMaskedImage, cells_of
from model.presets import ImageConfig
from tests.support.drawn_pages import example, rotated


def encoder(**settings):
    """With windows of two by two units, which fit an image of 128 pixels without padding."""
    torch.manual_seed(0)
    config = ImageConfig(embed_dim=16, stages=(1, 2, 3, 2), global_attention=(4,), windows=(8, 4, 4, 2))
    return ImageEncoder(replace(config, **settings), 24).eval()


def noise(seed=0):
    return torch.rand(2, 3, 128, 128, generator=torch.Generator().manual_seed(seed)) * 4 - 2


@torch.no_grad()
def test_with_every_unit_kept_it_is_the_encoder_itself():
    whole, every = encoder(), torch.arange(16).expand(2, -1)
    sparse = encode_kept(whole, noise(), every)
    coarse = whole(noise()).coarse.unflatten(3, (4, 2)).unflatten(2, (4, 2)).permute(0, 2, 4, 3, 5, 1).flatten(1, 2)
    assert torch.allclose(sparse, coarse, atol=1e-5)


@torch.no_grad()
def test_a_dropped_unit_changes_nothing_and_a_kept_one_does():
    sparse = encoder()
    hidden = hide_units(torch.ones(2, 4, 4, dtype=torch.bool), 0.5, random.Random(1))
    kept = kept_indices(hidden, torch.ones_like(hidden))
    assert kept.shape == (2, 8)
    where = spread_mask(hidden, 128, 128)[:, None]
    made = encode_kept(sparse, noise(), kept)
    assert torch.equal(made, encode_kept(sparse, torch.where(where, noise(1), noise()), kept))
    other = noise()
    row, column = divmod(int(kept[0, 0]), 4)
    other[0, :, 32 * row : 32 * row + 32, 32 * column : 32 * column + 32] = 0
    assert (encode_kept(sparse, other, kept)[0, 1:] - made[0, 1:]).abs().amax(
        (1, 2, 3)
    ).min() > 1e-6  # global attention


@torch.no_grad()
def test_units_of_another_window_are_not_attended_to():
    apart = encoder(global_attention=())
    kept = torch.tensor([[0, 1, 10, 15]] * 2)  # two of the first window, two of the last
    other = noise()
    other[:, :, 64:, 64:] = 0
    one, two = (encode_kept(apart, image, kept) for image in (noise(), other))
    assert torch.allclose(one[:, :2], two[:, :2], atol=1e-6) and not torch.allclose(one[:, 2:], two[:, 2:], atol=1e-3)


def test_windows_that_cut_units_are_refused():
    with pytest.raises(ValueError, match="cuts a unit"):
        encode_kept(encoder(windows=(8, 4, 3, 2)), noise(), torch.arange(16).expand(2, -1))


def test_cells_are_of_kept_units_or_of_the_rest():
    visible, rest = cells_of(torch.tensor([[1, 2]]), (2, 2))
    assert visible.tolist() == [[2, 3, 6, 7, 8, 9, 12, 13]]
    assert sorted(visible[0].tolist() + rest[0].tolist()) == list(range(16))


def test_pages_of_different_shapes_learn_together(network):
    wide = example(image=True)
    assert wide.image is not None
    narrow = replace(wide, image=wide.image.crop((0, 0, 200, 800)), size=(200, 800))
    objective = SparseMaskedImage(network, lambda step: [narrow, rotated(example(image=True), step)])
    loss, parts = objective.loss(0, random.Random(0))
    loss.backward()
    assert torch.isfinite(loss) and parts["explained"] < 0.2
    assert network.image_encoder.trunk.patch_embed.proj.weight.grad.abs().sum() > 0


def test_hidden_pixels_are_learned(network):
    image = Image.fromarray(np.tile(np.array([0, 0, 255, 255], np.uint8).repeat(4), (128, 6)))
    page = replace(example(), image=image, size=image.size)
    objective = SparseMaskedImage(network, lambda step: [page, page])
    explained = []
    learn(
        objective,
        torch.optim.AdamW(objective.learned.parameters(), 3e-3),
        Plan(steps=40, warmup=5, metrics_every=10),
        on_metrics=lambda line: explained.append(line["explained"]),
    )
    assert explained[0] < 0.5 and explained[-1] > 0.8
