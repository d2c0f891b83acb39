"""Train how answers grow and how good they are, and nothing else.

Where the network points, whether a page answers, and the answers of the pixel path stay the same to the bit. Only the
words that belong to an answer and the ranking of several answers may change.
"""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from torch import Tensor, nn

from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.promptable import Asking, PromptableSegmentation

# Growth starts from the network's own choice more often than elsewhere, because its fit is judged there.
_ASKING = Asking(begun_inside=0.35)


def restart_fit(network: GroundingNetwork) -> None:
    """Set the last layer of the predicted fit to zero: one that is certain of everything learns doubt slowly."""
    last = network.word_head.growth.iou.last
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)


class Growing(PromptableSegmentation):
    """`PromptableSegmentation` on pages of words in which only `word_head.growth` has a gradient."""

    def __init__(self, network: GroundingNetwork, source: Source) -> None:
        super().__init__(network, source, _ASKING)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Compute the loss with gradients for growth alone; see `Objective.loss`."""
        with self._growth_alone():
            return super().loss(step, rng)

    @contextmanager
    def _growth_alone(self) -> Iterator[None]:
        """Switch off the gradients of all other parameters for graphs built inside."""
        growth = {id(parameter) for parameter in self.network.word_head.growth.parameters()}
        others = [
            parameter
            for parameter in self.network.parameters()
            if parameter.requires_grad and id(parameter) not in growth
        ]
        for parameter in others:
            parameter.requires_grad_(False)
        try:
            yield
        finally:
            for parameter in others:
                parameter.requires_grad_(True)
