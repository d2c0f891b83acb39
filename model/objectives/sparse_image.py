"""Masked image modelling with dropped tokens: the encoder reads the visible units, a light decoder the rest."""

import random
from collections.abc import Mapping

import torch
from torch import Tensor

from model.encoders.image import STRIDE
from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.djepa import cell_centres, gather_tokens
from model.objectives.kept_units import encode_kept, kept_indices
from model.objectives.mask_sampling import UNIT, hide_units
from model.objectives.masked_image import ImageHiding, PixelHead, hidden_error, normalised_patches
from model.objectives.pages import PageObjective
from model.objectives.predictor import Predictor

_CELLS = UNIT // STRIDE  # cells of the coarse map on a unit's side
_DECODER_LAYERS = 2


class SparseMaskedImage(PageObjective):
    """Mean squared error over hidden patches, as `MaskedImage`; the encoder never reads hidden units.

    Source: MAE, https://arxiv.org/abs/2111.06377, section 3: an encoder of visible patches alone, and a narrow decoder
    of them and of mask tokens with their places. Hiera, https://arxiv.org/abs/2306.00989, section 3, drops units
    (`model.objectives.kept_units`). `explained` in the log compares with `MaskedImage`.
    """

    def __init__(self, network: GroundingNetwork, source: Source, hiding: ImageHiding | None = None) -> None:
        width, heads = network.config.width, network.config.heads
        narrow = max(1, width // (4 * heads)) * 2 * heads  # half of the width, as positions and heads divide it
        decoder, pixels = Predictor(width, narrow, _DECODER_LAYERS, heads, contrast=False), PixelHead(width)
        super().__init__(network, source, decoder=decoder, pixels=pixels)
        self._decoder, self._pixels, self._hiding = decoder, pixels, hiding or ImageHiding()

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Predict the hidden pixels of the pages of a step; see `Objective.loss`."""
        seen = self.read_step(step)
        units = seen.cells(UNIT)
        kept_units = kept_indices(hide_units(units, self._hiding.ratio, rng), units).to(self.device)
        tokens = encode_kept(self.network.image_encoder, seen.image, kept_units).flatten(1, 3)
        visible, wanted = cells_of(kept_units, seen.grid(UNIT))
        centres = cell_centres(seen.grid(STRIDE), self.device)
        present = torch.ones_like(visible, dtype=torch.bool)
        decoded = self._decoder([(tokens, centres[visible], present)], centres[wanted]).embedding
        predicted = self._pixels(decoded.mT.unsqueeze(2))
        truth = gather_tokens(normalised_patches(seen.image, STRIDE).flatten(1, 2), wanted)[:, None]
        page = seen.cells(STRIDE).flatten(1).to(self.device).gather(1, wanted)[:, None]
        loss = hidden_error(predicted, truth, page)
        spread_of_truth = hidden_error(torch.zeros_like(truth), truth, page)
        explained = (1 - loss.detach() / spread_of_truth.clamp_min(1e-6)).clamp_min(-1.0)  # a blank page has no spread
        return loss, {"loss": loss.detach(), "explained": explained}


def cells_of(kept: Tensor, grid: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """Return the cells of the coarse map inside kept units, and all others.

    Args:
        kept: indices of units, [G, K].
        grid: rows and columns of units.

    Returns:
        Indices [G, K * 4], unit by unit and row by row, and the rest [G, T], ascending. The rest is hidden or lies
        beside the page; it is equally many on every page.
    """
    width = grid[1] * _CELLS
    first = kept // grid[1] * _CELLS * width + kept % grid[1] * _CELLS
    offsets = torch.arange(_CELLS, device=kept.device)
    visible = (first[..., None, None] + offsets[:, None] * width + offsets).flatten(1)
    elsewhere = torch.ones(len(kept), grid[0] * _CELLS * width, dtype=torch.bool, device=kept.device)
    return visible, elsewhere.scatter_(1, visible, False).nonzero()[:, 1].view(len(kept), -1)
