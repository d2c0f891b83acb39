"""Learn words and image together without a question: masked images, joint embeddings, masked words.

A step does one of the three, drawn by their shares, because each hides something else and they cannot share a pass.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

from model.devices import to_device
from model.examples import Example, Source
from model.inputs import batch_pages, prepare_page
from model.network import GroundingNetwork
from model.objectives.alternating import Alternating
from model.objectives.djepa import JepaSettings, JointJepa
from model.objectives.masked_image import ImageHiding, MaskedImage
from model.objectives.masked_inputs import with_hidden_words
from model.objectives.masked_language import MaskedPages, MaskedWordHead, Masking, mask_words, word_mask_token
from model.objectives.objective import NetworkObjective
from model.pretraining.unigram import Unigram
from model.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """Shares of the three kinds of step, and the settings of each."""

    images: float = 0.3
    embeddings: float = 0.4
    words: float = 0.3
    hiding: ImageHiding = field(default_factory=ImageHiding)
    jepa: JepaSettings = field(default_factory=JepaSettings)
    masking: Masking = field(default_factory=Masking)


class SeenWords(NetworkObjective):
    """Cross-modal masked words: predict masked words from the words around them and the image.

    The states are those after fusion; `model.objectives.masked_language` uses the words alone.
    """

    def __init__(
        self, network: GroundingNetwork, source: Source, masking: Masking | None = None, guess: Unigram | None = None
    ) -> None:
        head, stand_in = MaskedWordHead(network, guess), word_mask_token(network)
        super().__init__(network, head=head, stand_in=stand_in)
        self.head, self.stand_in = head, stand_in
        self._source, self._masking = source, masking or Masking()
        self._vocabulary = Vocabulary(network.config.text.buckets)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Predict the masked words of the pages of a step; see `Objective.loss`."""
        examples = self._source(step)
        logits, wanted = self.predict(mask_words(examples, rng, self._masking), examples)
        loss = F.cross_entropy(logits, wanted)
        return loss, {"loss": loss.detach(), "accuracy": (logits.argmax(-1) == wanted).float().mean()}

    def predict(self, masked: MaskedPages, examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
        """Predict the masked words with the images in view.

        Args:
            masked: pages with M masked words.
            examples: the same pages with their images; without images the words alone are read.

        Returns:
            Logits [M, pieces] and the first pieces [M].
        """
        config = self.network.config
        pages = [
            replace(masked_page, image=page.image) for masked_page, page in zip(masked.pages, examples, strict=True)
        ]
        batch = batch_pages(
            [prepare_page(page.words, page.size, page.image, self._vocabulary, config) for page in pages]
        )
        hidden = torch.zeros_like(batch.valid)
        for page, own in enumerate(masked.hidden):
            hidden[page, : len(own)] = torch.tensor(own, dtype=torch.bool)
        view, seen = with_hidden_words(
            self.network, to_device(batch, self.device), hidden.to(self.device), self.stand_in
        )
        state = view.encode(seen)
        states = state.words if state.picture is None else state.picture.words
        rows, columns = torch.tensor(masked.asked, device=self.device).T
        pieces = self._vocabulary.pieces(list(masked.words))
        wanted = torch.tensor([int(ids[0]) for ids in pieces], device=self.device)
        return self.head(states[rows, columns], self.network.text_encoder.embedding.piece_vectors), wanted


class JointPretraining(Alternating):
    """Masked images, D-JEPA and cross-modal masked words on the same rendered pages.

    Names in the log begin with `images_`, `embeddings_` or `words_`, after the objective of the step. Pages without a
    word, such as blank backs, are masked images where masked words were drawn.
    """

    def __init__(self, network: GroundingNetwork, source: Source, mix: Mix | None = None) -> None:
        mix, source = mix or Mix(), lru_cache(maxsize=1)(source)  # a step is looked at before it is learned
        parts: dict[str, NetworkObjective] = {
            "images": MaskedImage(network, source, mix.hiding),
            "embeddings": JointJepa(network, source, mix.jepa),
            "words": SeenWords(network, source, mix.masking),
        }
        super().__init__(network, parts, (mix.images, mix.embeddings, mix.words))
        self._source = source

    def draw_objective(self, step: int, rng: random.Random) -> str:
        """Draw the objective of a step; see `Alternating.draw_objective`."""
        name = super().draw_objective(step, rng)
        if name == "words" and not any(page.words for page in self._source(step)):
            return "images"
        return name
