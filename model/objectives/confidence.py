"""How good an answer by words is: the last thing that is learned, with all else as it is.

The network points, grows answers from where it points and from elsewhere, and learns to tell how much of each is right; what it
answers does not change but in which of its answers comes first (model.answers).
"""

import random
from collections.abc import Mapping

from torch import Tensor

from model.batches import make_batch
from model.blocks import Perceptron
from model.devices import moved
from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.objective import NetworkObjective
from model.objectives.segmentation import begun_inside, word_losses
from model.vocabulary import Vocabulary


class Confidence(NetworkObjective):
    """Learns ``word_head.growth.iou`` anew, on the pages that ``source`` gives."""

    def __init__(self, network: GroundingNetwork, source: Source) -> None:
        super().__init__(network)
        width = network.config.width
        network.word_head.growth.iou = Perceptron(width, width, 1).to(self.device)
        self._source, self._vocabulary = source, Vocabulary(network.config.text.buckets)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        batch = make_batch(self._source(step), self._vocabulary, self.network.config)
        pages, questions, targets = (moved(part, self.device) for part in (batch.pages, batch.questions, batch.targets))
        targets = begun_inside(targets, 0.0)
        fit = word_losses(self.network(pages, questions, targets.towards).words, targets)["word_iou"]
        return fit, {"word_iou": fit.detach(), "loss": fit.detach()}
