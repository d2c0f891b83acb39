"""Distil a teacher into the text encoder: match its states of words and of whole texts.

The masked-word part of the loss follows DistilBERT (Sanh et al. 2019, https://arxiv.org/abs/1910.01108, section 3).
Matching states through a projection that is discarded afterwards follows TinyBERT (Jiao et al. 2019,
https://arxiv.org/abs/1909.10351, section 3). The student reads words on pages, so a text is set as a page.
"""

import math
import random
from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.examples import Example, Word
from model.network import GroundingNetwork
from model.objectives.masked_language import (
    MaskedWordHead,
    Masking,
    mask_words,
    predict_words,
    word_batch,
    word_mask_token,
    words_in_context,
)
from model.objectives.objective import NetworkObjective
from model.pretraining.teachers import Teacher
from model.pretraining.text_batches import Texts, batches, evaluating, mean_pool
from model.vocabulary import Vocabulary

MASKED_WEIGHT = 0.5
_PAGE = (800, 1000)  # pixels
_LEFT, _TOP, _LETTER, _LINE, _HEIGHT = 60, 80, 9, 28, 18
_JUDGED = 32  # texts at once


def set_page(text: str) -> Example:
    """Set a text as words in lines on a page, all letters equally wide; a long text runs over the bottom."""
    words, x, y = [], _LEFT, _TOP
    for word in text.split():
        width = _LETTER * len(word)
        if x > _LEFT and x + width > _PAGE[0] - _LEFT:
            x, y = _LEFT, y + _LINE
        words.append(Word(word, (x, y, x + width, y + _HEIGHT)))
        x += width + _LETTER
    return Example(tuple(words), _PAGE, ())


class Rotation(nn.Module):
    """Linear map that keeps angles where `out` is not less than `into`.

    It is discarded after training. A free matrix would learn which texts are alike, and the states would lack that; a
    rotation leaves it to the states. It is made by QR on each call, because torch's own parametrization keeps signs in
    a diagonal that weight decay reduces to 0.
    """

    def __init__(self, into: int, out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out, into))
        nn.init.orthogonal_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Rotate x: [..., into] -> [..., out]."""
        tall = self.weight.shape[0] >= self.weight.shape[1]
        axes = torch.linalg.qr(self.weight if tall else self.weight.T).Q
        turned: Tensor = x @ (axes.T if tall else axes)
        return turned


class Distillation(NetworkObjective):
    """1 - cosine of whole texts + squared error of the words' layer-normed states + .5 masked words.

    Each part begins at about one: the cross-entropy is divided by that of a uniform guess (the log of the number of
    pieces). In nats it dominates the other two, and the student hardly comes to agree with its teacher.
    """

    def __init__(
        self, network: GroundingNetwork, teacher: Teacher, texts: Texts, masking: Masking | None = None
    ) -> None:
        width = network.config.width
        self._norm = nn.LayerNorm(width)
        self._words = nn.Linear(width, teacher.width)
        self._whole = Rotation(width, teacher.width)
        self._masked, self._stand_in = MaskedWordHead(network), word_mask_token(network)
        super().__init__(
            network,
            norm=self._norm,
            words=self._words,
            whole=self._whole,
            masked=self._masked,
            stand_in=self._stand_in,
        )
        self.teacher, self._texts = teacher, texts
        self._masking = masking or Masking()
        self._vocabulary = Vocabulary(network.config.text.buckets)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Match the teacher on the texts of a step; see `Objective.loss`."""
        texts = self._texts(step)
        examples, readings = [set_page(text) for text in texts], self.teacher.encode(texts)
        pages = word_batch(self.network, examples, self._vocabulary)
        states = words_in_context(self.network, pages)
        whole = self._whole(mean_pool(states, pages.valid))
        targets = torch.zeros(*states.shape[:2], self.teacher.width)
        seen = torch.zeros(states.shape[:2], dtype=torch.bool)
        for row, reading in enumerate(readings):
            targets[row, : len(reading.words)] = reading.words.float()
            seen[row, : len(reading.words)] = reading.seen
        targets, seen = targets.to(states.device), seen.to(states.device)
        wholes = torch.stack([reading.whole for reading in readings]).to(states.device)
        masked = mask_words(examples, rng, self._masking)
        logits, wanted = predict_words(self.network, self._masked, self._stand_in, masked, self._vocabulary)
        parts = {
            "whole": 1 - F.cosine_similarity(whole, wholes, dim=-1).mean(),
            "words": F.mse_loss(self._words(self._norm(states[seen])), targets[seen]),
            "masked": MASKED_WEIGHT * F.cross_entropy(logits, wanted) / math.log(logits.shape[-1]),
        }
        total = torch.stack(list(parts.values())).sum()
        return total, {name: value.detach() for name, value in parts.items()} | {"loss": total.detach()}


def student_vectors(network: GroundingNetwork, texts: Sequence[str]) -> Tensor:
    """Return the mean of the text encoder's word states of each text, [S, D], on the CPU."""
    vocabulary, vectors = Vocabulary(network.config.text.buckets), []
    with evaluating(network):
        for some in batches(texts, _JUDGED):
            pages = word_batch(network, [set_page(text) for text in some], vocabulary)
            vectors.append(mean_pool(words_in_context(network, pages), pages.valid).cpu())
    return torch.cat(vectors)
