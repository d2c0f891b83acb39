"""Predict embeddings of hidden words from the visible words of a page: joint-embedding prediction by text alone.

I-JEPA's recipe (https://arxiv.org/abs/2301.08243) on words with a layout: the context encoder reads a page without
its hidden words, a predictor computes their embeddings at their positions, and a slowly following encoder reads the
whole page, and its states are the targets.
"""

import random
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from model.examples import Source
from model.inputs import PageBatch
from model.network import GroundingNetwork
from model.objectives.djepa import (
    JepaSettings,
    gather_tokens,
    momentum_at,
    normalise_targets,
    predictor_for,
    share_frozen_vectors,
    word_centres,
)
from model.objectives.masked_language import word_batch, words_in_context
from model.objectives.objective import NetworkObjective
from model.objectives.predictor import (
    MovingAverage,
    Predicted,
    embedding_error,
    plain_norm,
    spread_penalty,
    target_spread,
)
from model.objectives.token_contrast import against_mean, token_contrast
from model.vocabulary import Vocabulary

_HIDDEN = 0.3  # share of a page's words
_RUN = 6  # words of a run in reading order, at most: a single word is too easily told from its neighbours
_STATE = "text"


class TextJepa(NetworkObjective):
    """Joint-embedding prediction with the text encoder alone; `source` gives pages, whose images are not read."""

    def __init__(self, network: GroundingNetwork, source: Source, settings: JepaSettings | None = None) -> None:
        settings = settings or JepaSettings()
        predictor = predictor_for(network, settings, kinds=1)
        targets = MovingAverage(**self._modules_to_follow(network))
        share_frozen_vectors(targets, network)
        super().__init__(network, predictor=predictor, targets=targets)
        self._predictor, self._targets, self._settings = predictor, targets, settings
        self._source = source
        self._vocabulary = Vocabulary(network.config.text.buckets)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Predict the hidden words of the pages of a step; see `Objective.loss`."""
        pages = word_batch(self.network, [page for page in self._source(step) if page.words], self._vocabulary)
        hidden = hidden_runs(pages.valid, rng).to(pages.valid.device)
        states = words_in_context(self.network, replace(pages, valid=pages.valid & ~hidden))
        chosen, present = indices_of(hidden)
        every = self._encode_words(pages)
        target = gather_tokens(normalise_targets(every, pages.valid, self._settings.norm), chosen)
        foretold, wanted = self.predict(pages, states, hidden, chosen), target[present]
        error = embedding_error(foretold.embedding[present], wanted)
        contrast = token_contrast(foretold.match[present], wanted, torch.arange(len(wanted), device=wanted.device))
        apart = spread_penalty(states[pages.valid & ~hidden])
        loss = error + self._settings.contrast * contrast + self._settings.apart * apart
        log = against_mean(error, wanted, torch.ones_like(wanted[..., 0]))
        spread = target_spread(plain_norm(every), pages.valid)
        return loss, {"loss": loss.detach(), "words": error.detach(), "contrast": contrast.detach(), **log, **spread}

    def after_step(self, done: float) -> None:
        """Update the moving average of the targets."""
        self._targets.follow(momentum_at(self._settings.momentum, done), **self._modules_to_follow(self.network))

    @staticmethod
    def _modules_to_follow(network: GroundingNetwork) -> dict[str, nn.Module]:
        return {_STATE: network.text_encoder, "bias": network.layout_bias}

    def predict(self, pages: PageBatch, states: Tensor, hidden: Tensor, chosen: Tensor) -> Predicted:
        """Predict the embeddings of words from the states of those that are not hidden.

        Args:
            pages: G pages of N words.
            states: of the words, read without the hidden ones, [G, N, D].
            hidden: bool [G, N].
            chosen: indices of the words to predict, [G, T].
        """
        centres = word_centres(pages)
        foretold: Predicted = self._predictor(
            [(states, centres, pages.valid & ~hidden)], gather_tokens(centres, chosen)
        )
        return foretold

    @torch.no_grad()
    def _encode_words(self, pages: PageBatch) -> Tensor:
        bias = self._targets["bias"](pages)[: self.network.config.text.layers]
        made: Tensor = self._targets[_STATE](pages, bias)[0]
        return made


def indices_of(hidden: Tensor) -> tuple[Tensor, Tensor]:
    """Return the indices [G, T] of the hidden words of each page, bool [G, N], and which of them are no padding."""
    longest = max(1, int(hidden.sum(1).max()))
    chosen = torch.argsort(hidden.int(), dim=1, descending=True, stable=True)[:, :longest]
    return chosen, hidden.gather(1, chosen)


def hidden_runs(valid: Tensor, rng: random.Random) -> Tensor:
    """Draw runs of words, consecutive in reading order, that are hidden; bool [G, N] like `valid`.

    A page of several words keeps at least one, and hides at least one.
    """
    hidden = torch.zeros_like(valid, device="cpu")
    for row, words in zip(hidden, valid.cpu(), strict=True):
        count = int(words.sum())
        most = min(count - 1, max(1, round(_HIDDEN * count)))
        while int(row.sum()) < most:
            start = rng.randrange(count)
            row[start : min(count, start + rng.randint(1, min(_RUN, most - int(row.sum()))))] = True
    return hidden
