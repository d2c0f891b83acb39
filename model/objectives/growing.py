"""Growing answers, and telling how good they are, with all else as it is.

Where the network points, whether a page answers, and what the pixel path makes of a question stay the same to the bit; what may
change is which words belong to an answer, and which of several answers is expected to fit best.
"""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from torch import Tensor, nn

from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.promptable import Asking, PromptableSegmentation

_ASKING = Asking(
    begun_inside=0.35
)  # more often than else from where the network points: there it is asked how good it is


class Growing(PromptableSegmentation):
    """As PromptableSegmentation on pages of words, but only ``word_head.growth`` gets a gradient, and its last layer that tells
    how good an answer is begins at nothing: one that is certain of everything would take long to be taught doubt."""

    def __init__(self, network: GroundingNetwork, source: Source) -> None:
        super().__init__(network, source, _ASKING)
        last = network.word_head.growth.iou.last
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        with self._growth_alone():
            return super().loss(step, rng)

    @contextmanager
    def _growth_alone(self) -> Iterator[None]:
        """A forward pass inside builds a graph of growth alone."""
        growth = {id(parameter) for parameter in self.network.word_head.growth.parameters()}
        others = [one for one in self.network.parameters() if one.requires_grad and id(one) not in growth]
        for one in others:
            one.requires_grad_(False)
        try:
            yield
        finally:
            for one in others:
                one.requires_grad_(True)
