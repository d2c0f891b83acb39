import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from model.inputs import batch_pages, prepare_page
from model.learning import Plan, learn
from model.objectives.masked_image import ImageHiding, MaskedImage, hidden_error, normalised_patches
from model.objectives.masked_inputs import (
    MaskToken,
    replace_part,
    spread_mask,
    token_width,
    with_hidden_image,
    with_hidden_words,
)
from tests.support.drawn_pages import SIZE, example, rotated

HIDDEN = torch.tensor([[[True, False, False], [False, True, False], [False, False, False], [False, False, True]]])


def noise(seed=0):
    return torch.rand(1, 3, 128, 96, generator=torch.Generator().manual_seed(seed)) * 4 - 2


def pages(step):
    """A page of its own size, differently each step."""
    page = example(image=True)
    return [rotated(page, step)]


def hidden_features(network, image, token):
    with torch.no_grad():
        encoder = with_hidden_image(network.image_encoder, HIDDEN, token)
        return encoder(image)


def test_a_hidden_pixel_changes_nothing(network):
    image, token = noise(), MaskToken(token_width(network.image_encoder))
    other = torch.where(spread_mask(HIDDEN, 128, 96)[:, None], noise(1), image)
    assert not torch.equal(image, other)
    one, two = hidden_features(network, image, token), hidden_features(network, other, token)
    assert (
        torch.equal(one.coarse, two.coarse) and torch.equal(one.skip4, two.skip4) and torch.equal(one.skip8, two.skip8)
    )


def test_a_seen_pixel_changes_what_is_made_of_hidden_ones(network):
    image, token = noise(), MaskToken(token_width(network.image_encoder))
    other = torch.where(spread_mask(HIDDEN, 128, 96)[:, None], image, noise(1))
    one, two = (hidden_features(network, one, token).coarse[0, :, :2, :2] for one in (image, other))  # the first unit
    assert not torch.allclose(one, two, atol=1e-4)


def test_the_token_stands_where_pixels_are_hidden(network):
    width = token_width(network.image_encoder)
    seen = []
    view = with_hidden_image(network.image_encoder, HIDDEN, MaskToken(width))
    view.trunk.patch_embed.register_forward_hook(lambda module, given, patches: seen.append(patches))
    with torch.no_grad():
        view(noise())
    hidden = spread_mask(HIDDEN, 32, 24)
    token = view.trunk.patch_embed.token
    assert torch.equal(seen[0][hidden], token.expand(int(hidden.sum()), -1))
    assert not (seen[0][~hidden] == token).all(-1).any()


def test_a_view_leaves_the_network_as_it_is(network):
    before = network.image_encoder(noise()).coarse
    view = with_hidden_image(network.image_encoder, HIDDEN, MaskToken(token_width(network.image_encoder)))
    assert torch.equal(network.image_encoder(noise()).coarse, before)
    assert view.lateral16.weight is network.image_encoder.lateral16.weight
    assert replace_part(network, "image_encoder", view).text_encoder is network.text_encoder


def test_a_hidden_word_can_be_any_word(network, vocabulary):
    words = list(example().words)
    other = [replace(words[0], text="2041.77%"), *words[1:]]
    batches = [batch_pages([prepare_page(some, SIZE, None, vocabulary, network.config)]) for some in (words, other)]
    hidden = torch.zeros(1, len(words), dtype=torch.bool)
    hidden[0, 0] = True
    token = MaskToken(network.config.width)
    with torch.no_grad():
        plain = [network.encode(batch).words for batch in batches]
        masked = []
        for batch in batches:
            view, pages_without = with_hidden_words(network, batch, hidden, token)
            masked.append(view.encode(pages_without).words)
    assert not torch.allclose(plain[0], plain[1], atol=1e-4)
    assert torch.equal(*masked)


def test_patches_are_normalised_one_by_one_and_flat_ones_stay_flat():
    image = noise() * 0.3 + 1
    image[..., :16, :16] = 2 + 0.001 * torch.randn(3, 16, 16)
    patches = normalised_patches(image, 16)
    assert patches.shape == (1, 8, 6, 768)
    expected = image[0, :, 16:32, 32:48].flatten()
    expected = (expected - expected.mean()) / (expected.var(correction=0) + 1e-2).sqrt()
    assert torch.allclose(patches[0, 1, 2], expected, atol=1e-5)
    assert patches[0, 0, 0].abs().max() < 0.1


def test_the_error_counts_hidden_patches_alone():
    truth = torch.zeros(1, 2, 2, 3)
    predicted = torch.tensor([1.0, 2.0, 3.0, 4.0]).view(1, 2, 2, 1).expand(-1, -1, -1, 3)
    hidden = torch.tensor([[[False, True], [True, False]]])
    assert hidden_error(predicted, truth, hidden) == pytest.approx((4 + 9) / 2)


def constant(pixels):
    return lambda coarse: pixels


def test_white_margins_teach_nothing(network, monkeypatch):
    """Beside a narrow page lies white; neither it nor what is predicted there counts."""
    narrow = [replace(one, image=one.image.crop((0, 0, 200, 800)), size=(200, 800)) for one in pages(0)]
    objective = MaskedImage(network, lambda step: narrow + pages(0))
    losses = []
    for size in (0.0, 1e6):
        margin = torch.zeros(2, 8, 6, 1)
        margin[0, :, 2:] = size  # the narrow page covers 32 of 96 pixels
        monkeypatch.setattr(objective._pixels, "forward", constant(margin.expand(-1, -1, -1, 768)))
        losses.append(objective.loss(0, random.Random(0))[0].item())
    assert losses[0] == losses[1] > 0


def test_a_ratio_outside_its_range_is_refused():
    with pytest.raises(ValueError, match="ratio between 0 and 1"):
        ImageHiding(ratio=1.0)


def test_pages_without_images_are_refused(network):
    with pytest.raises(ValueError, match="needs their images"):
        MaskedImage(network, lambda step: [example()]).loss(0, random.Random(0))


def test_a_map_of_any_scale_begins_with_the_same_error(network):
    page = pages(0)
    objective = MaskedImage(network, lambda step: page)
    losses = []
    for scale in (1.0, 1000.0):  # the map of a network that has learned is some eight hundred times larger
        with torch.no_grad():
            for layer in (network.image_encoder.lateral16, network.image_encoder.lateral32):
                layer.weight.mul_(scale)
                layer.bias.mul_(scale)
        losses.append(objective.loss(0, random.Random(0))[0].item())
    assert losses[1] == pytest.approx(losses[0], rel=0.01)


def test_hidden_pixels_are_learned(network):
    image = Image.fromarray(np.tile(np.array([0, 0, 255, 255], np.uint8).repeat(4), (128, 6)))
    page = replace(example(), image=image, size=image.size)
    objective = MaskedImage(network, lambda step: [page, page])
    explained = []
    learn(
        objective,
        torch.optim.AdamW(objective.learned.parameters(), 3e-3),
        Plan(steps=40, warmup=5, metrics_every=10),
        on_metrics=lambda line: explained.append(line["explained"]),
    )
    assert explained[0] < 0.5 and explained[-1] > 0.8
