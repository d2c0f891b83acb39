"""Prepare pages without questions for the objectives that learn from them."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from model.devices import to_device
from model.examples import Example, Source
from model.inputs import PageBatch, batch_pages, prepare_page
from model.network import GroundingNetwork
from model.objectives.mask_sampling import page_cells
from model.objectives.objective import NetworkObjective
from model.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class SeenPages:
    """G pages with images, as a step reads them."""

    batch: PageBatch
    image: Tensor  # [G, 3, H, W], of the batch
    sizes: tuple[tuple[int, int], ...]  # width, height of each page's image
    long_side: int  # pixels that the long sides are scaled to

    def grid(self, cell: int) -> tuple[int, int]:
        """Return rows and columns of cells of `cell` pixels."""
        return self.image.shape[-2] // cell, self.image.shape[-1] // cell

    def cells(self, cell: int) -> Tensor:
        """Return which cells of `cell` pixels are page and not padding, bool [G, h, w], on the CPU."""
        return page_cells(self.sizes, self.long_side, cell, self.grid(cell))


class PageObjective(NetworkObjective):
    """Objective that reads rendered pages and asks nothing; for `heads` see `NetworkObjective`."""

    def __init__(self, network: GroundingNetwork, source: Source, **heads: nn.Module) -> None:
        super().__init__(network, **heads)
        self._source = source
        self._vocabulary = Vocabulary(network.config.text.buckets)

    def read_step(self, step: int) -> SeenPages:
        """Read the pages of a step; see `prepare`."""
        return self.prepare(self._source(step))

    def prepare(self, examples: Sequence[Example]) -> SeenPages:
        """Prepare pages on the network's device; ValueError if one of them has no image."""
        config = self.network.config
        prepared = [
            prepare_page(example.words, example.size, example.image, self._vocabulary, config) for example in examples
        ]
        batch = to_device(batch_pages(prepared), self.device)
        sizes = tuple(example.image.size for example in examples if example.image is not None)
        if batch.image is None or len(sizes) < len(examples):
            raise ValueError("Learning from pages without questions needs their images.")
        return SeenPages(batch, batch.image, sizes, config.image.long_side)
