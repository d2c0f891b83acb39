"""Masked image modelling: predict hidden pixels from visible ones."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.encoders.image import STRIDE
from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.mask_sampling import UNIT, hide_units
from model.objectives.masked_inputs import MaskToken, spread_mask, token_width, with_hidden_image
from model.objectives.pages import PageObjective

_FLAT = 1e-2  # added to the variance; MAE's 1e-6 would amplify the grain of blank paper to the level of print


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageHiding:
    """Share `ratio` of the units (32 x 32 pixels) that are hidden."""

    ratio: float = 0.6

    def __post_init__(self) -> None:
        if not 0 < self.ratio < 1:
            raise ValueError("Between none and all of a page can be hidden: a ratio between 0 and 1.")


class PixelHead(nn.Module):
    """Layer norm and a linear layer that predict the pixels of each patch from its token.

    SimMIM (https://arxiv.org/abs/2111.09886, section 3.3) has the same linear head; its encoder, too, reads tokens of
    hidden patches, and ends with a norm. The map here has none and grows with training: its deviation was .19 in a
    fresh network and 158 in one that answers, so that without a norm the first loss was 10,000 and the gradient shrank
    the map.
    """

    def __init__(self, width: int, patch: int = STRIDE) -> None:
        super().__init__()
        self.patch = patch
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 3 * patch**2)

    def forward(self, coarse: Tensor) -> Tensor:
        """Predict pixels: [G, D, h, w] -> [G, h, w, 3 * patch * patch]."""
        pixels: Tensor = self.out(self.norm(coarse.permute(0, 2, 3, 1)))
        return pixels


class MaskedImage(PageObjective):
    """Mean squared error over hidden patches, on the normalised pixels of each patch.

    Source: MAE, https://arxiv.org/abs/2111.06377, section 3. `explained` in the log is the share of the patches'
    variance that is predicted; predicting each patch's mean gives 0.
    """

    def __init__(self, network: GroundingNetwork, source: Source, hiding: ImageHiding | None = None) -> None:
        pixels, stand_in = PixelHead(network.config.width), MaskToken(token_width(network.image_encoder))
        super().__init__(network, source, pixels=pixels, stand_in=stand_in)
        self._pixels, self._stand_in = pixels, stand_in
        self._hiding = hiding or ImageHiding()

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Predict the hidden pixels of the pages of a step; see `Objective.loss`."""
        seen = self.read_step(step)
        hidden = hide_units(seen.cells(UNIT), self._hiding.ratio, rng).to(self.device)
        encoder = with_hidden_image(self.network.image_encoder, hidden, self._stand_in)
        predicted = self._pixels(encoder(seen.image).coarse)
        truth = normalised_patches(seen.image, STRIDE)
        patches = spread_mask(hidden, *truth.shape[1:3]) & seen.cells(STRIDE).to(self.device)
        loss = hidden_error(predicted, truth, patches)
        spread_of_truth = hidden_error(torch.zeros_like(truth), truth, patches)
        explained = (1 - loss.detach() / spread_of_truth.clamp_min(1e-6)).clamp_min(-1.0)  # a blank page has no spread
        return loss, {"loss": loss.detach(), "explained": explained}


def normalised_patches(image: Tensor, patch: int) -> Tensor:
    """Cut images into patches, each with mean 0 and, unless flat, variance 1.

    Args:
        image: [G, 3, H, W].
        patch: side of a patch in pixels.

    Returns:
        [G, H / patch, W / patch, 3 * patch * patch].
    """
    patches = F.unfold(image.float(), patch, stride=patch).transpose(1, 2)
    patches = patches.reshape(len(image), image.shape[-2] // patch, image.shape[-1] // patch, -1)
    variance, mean = torch.var_mean(patches, -1, correction=0, keepdim=True)
    normalised: Tensor = (patches - mean) / (variance + _FLAT).sqrt()
    return normalised


def hidden_error(predicted: Tensor, truth: Tensor, hidden: Tensor) -> Tensor:
    """Return the mean squared error over the patches `hidden` (bool [G, h, w]); 0 if there is none."""
    patch_error = (predicted.float() - truth).square().mean(-1)
    return (patch_error * hidden).sum() / hidden.sum().clamp_min(1)
