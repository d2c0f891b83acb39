"""Train the pixel path alone on small images: the first stage of learning regions.

At a quarter of the pixels a step costs a quarter, and a signature or a stamp is visible there too; a later stage
trains at full size. Parameters of the word path alone stay as they are. Its answers on pages with images still change
where the network has learned to look at the image (`FusionLayer.to_words`).
"""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from model.batches import make_batch
from model.devices import to_device
from model.encoders.fusion import FusionLayer
from model.examples import Source
from model.network import GroundingNetwork
from model.objectives.objective import NetworkObjective
from model.objectives.segmentation import pixel_losses
from model.presets import NetworkConfig
from model.simulation import with_prompts
from model.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointing:
    """Settings of the first stage.

    Attributes:
        long_side: pixels to which pages are scaled.
        prompted_steps: share of the steps in which users click, box or mask.
        prompted_questions: share of the questions in such a step.
    """

    long_side: int = 256
    prompted_steps: float = 0.6
    prompted_questions: float = 0.7


class RegionMasks(NetworkObjective):
    """SAM's losses (`pixel_losses`) on the parts that learn pixels.

    They are the image encoder, the image's half of the fusion, drawn prompts, and the mask decoder.
    """

    def __init__(self, network: GroundingNetwork, source: Source, pointing: Pointing | None = None) -> None:
        super().__init__(network)
        self._source, self._pointing = source, pointing or Pointing()
        image = replace(network.config.image, long_side=self._pointing.long_side)
        self._config: NetworkConfig = replace(network.config, image=image)
        self._vocabulary = Vocabulary(network.config.text.buckets)

    def learning(self) -> list[nn.Parameter]:
        """Return the parameters that this objective trains."""
        return list(pixel_parts(self.network).parameters())

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Answer the questions of a step by pixels; see `Objective.loss`. ValueError without images."""
        pointing = self._pointing
        with only(self.network, self.learning()):
            batch = make_batch(self._source(step), self._vocabulary, self._config)
            if rng.random() < pointing.prompted_steps:
                batch = with_prompts(
                    self.network, batch, self._vocabulary, rng, pointing.prompted_questions, self._config
                )
            pages, questions = to_device(batch.pages, self.device), to_device(batch.questions, self.device)
            targets = to_device(batch.targets, self.device)
            pixels = self.network(pages, questions).pixels
        if pixels is None:
            raise ValueError("Learning the masks of regions needs the pictures of the pages.")
        parts = pixel_losses(pixels, targets)
        total = torch.stack(list(parts.values())).sum()
        return total, {name: value.detach() for name, value in parts.items()} | {"loss": total.detach()}


def pixel_parts(network: GroundingNetwork) -> nn.ModuleList:
    """Return the modules of the pixel path that read no word; the parameters are the network's own.

    They are the image encoder, the image's half of the fusion, drawn prompts, and the mask decoder.
    """
    prompts = network.prompt_encoder
    parts: list[nn.Module] = [network.image_encoder, network.mask_decoder, prompts.drawn_in]
    for layer in network.fusion.layers:
        assert isinstance(layer, FusionLayer)
        parts += [layer.norm_image, layer.to_image, layer.norm_mlp, layer.mlp]
    return nn.ModuleList([*parts, nn.ParameterList([prompts.nothing_drawn])])


@contextmanager
def only(network: nn.Module, learning: list[nn.Parameter]) -> Iterator[None]:
    """Switch off the gradients of all parameters but `learning`, for graphs built inside."""
    learning_ids = {id(parameter) for parameter in learning}
    silenced = [
        parameter for parameter in network.parameters() if parameter.requires_grad and id(parameter) not in learning_ids
    ]
    for parameter in silenced:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in silenced:
            parameter.requires_grad_(True)
