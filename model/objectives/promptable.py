"""Train promptable segmentation: questions with hidden anchors, and simulated clicks, boxes and masks."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from model.batches import make_batch
from model.devices import to_device
from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.objective import NetworkObjective
from model.objectives.segmentation import begun_inside, loss_of
from model.simulation import with_prompts
from model.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Settings of the questions asked in training."""

    prompted_steps: float = 0.3  # share of steps in which users click, box or mask
    prompted_questions: float = 0.6  # share of questions in such a step
    anchors_dropped: float = 0.15  # share of questions whose lexical anchors are hidden
    begun_inside: float = 0.7  # share of questions whose answer grows from a true word (teacher forcing)
    pixel_weight: float = 1.0
    multimask: bool = True


class PromptableSegmentation(NetworkObjective):
    """Loss on words and pixels of the answers to the questions that `source` gives.

    The parts of the loss are in `model.objectives.segmentation`.
    """

    def __init__(self, network: GroundingNetwork, source: Source, asking: Asking | None = None) -> None:
        super().__init__(network)
        self._source, self._asking = source, asking or Asking()
        self._vocabulary = Vocabulary(network.config.text.buckets)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Answer the questions of a step; see `Objective.loss`."""
        asking, examples = self._asking, self._source(step)
        hidden = [[rng.random() < asking.anchors_dropped for _ in example.questions] for example in examples]
        batch = make_batch(examples, self._vocabulary, self.network.config, without_anchors=hidden)
        if rng.random() < asking.prompted_steps:
            batch = with_prompts(self.network, batch, self._vocabulary, rng, asking.prompted_questions)
        pages, questions = to_device(batch.pages, self.device), to_device(batch.questions, self.device)
        targets = to_device(batch.targets, self.device)
        targets = begun_inside(targets, asking.begun_inside)
        return loss_of(self.network(pages, questions, targets.towards), targets, asking.pixel_weight, asking.multimask)
