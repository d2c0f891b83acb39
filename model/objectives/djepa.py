"""Predict embeddings of hidden page regions (I-JEPA), alone or jointly with the words (D-JEPA).

I-JEPA (https://arxiv.org/abs/2301.08243): a context encoder reads a block of the image. A predictor then predicts what
a slowly following copy of the encoder computes for the hidden blocks, and the error is taken between embeddings, not
pixels. On a document the words are a second view of the same page; `JointJepa` predicts across both views.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor, nn

from model.encoders.image import STRIDE, ImageEncoder
from model.encoders.text import TextEncoder
from model.examples import Source
from model.inputs import PageBatch
from model.network import GroundingNetwork
from model.objectives.mask_sampling import Blocks, BlockShapes, draw_blocks
from model.objectives.masked_inputs import MaskToken, replace_part, token_width, with_hidden_image
from model.objectives.pages import PageObjective, SeenPages
from model.objectives.predictor import (
    MovingAverage,
    Predicted,
    Predictor,
    embedding_error,
    plain_norm,
    spread_penalty,
    standardise,
    target_spread,
)
from model.objectives.token_contrast import against_mean, token_contrast

IMAGE, WORDS = 0, 1  # kinds of tokens
_INK = 0.15  # standard deviation of a cell's normalised pixels; 2 is half the way from black to white


@dataclass(frozen=True, slots=True, kw_only=True)
class JepaSettings:
    """Settings of joint-embedding prediction.

    Attributes:
        momentum: of the targets' moving average at the start; it rises to 1 linearly over the run.
        narrow: width of the predictor, as a share of the network's width. The sources take less; nano is narrow itself.
        layers: layers of the predictor.
        blocks: shapes of hidden and visible blocks.
        apart: weight of `spread_penalty`, which keeps embeddings apart; without it, runs of this size collapse. More
            keeps more directions and makes targets harder to predict.
        paper: weight of a cell without ink in the error of regions; a cell with ink has 1.
        word_steps: share of steps that predict words (`JointJepa`).
        hidden_words: share of the other steps in which words inside hidden regions are hidden too (`JointJepa`).
        most_words: words predicted a page (`JointJepa`).
        norm: of the targets: over the dimensions of a "token", as the sources word it, or of each "dimension" over
            tokens (`standardise`).
        contrast: weight of `token_contrast` between predictions and targets; 0 leaves it out.
    """

    momentum: float = 0.996
    narrow: float = 1.0
    layers: int = 3
    blocks: BlockShapes = field(default_factory=BlockShapes)
    apart: float = 0.1
    paper: float = 0.1
    word_steps: float = 0.5
    hidden_words: float = 0.5
    most_words: int = 64
    norm: Literal["token", "dimension"] = "dimension"
    contrast: float = 0.1

    @classmethod
    def as_worded(cls) -> "JepaSettings":
        """Return the settings of the sources: layer norm inside a token, and no contrast."""
        return cls(norm="token", contrast=0.0)


class ImageJepa(PageObjective):
    """I-JEPA with the image encoder alone.

    The log has `target_std` and `collapsed` (`model.objectives.predictor.target_spread`), and `mean_error` and
    `of_mean` (`model.objectives.token_contrast.against_mean`).
    """

    def __init__(self, network: GroundingNetwork, source: Source, settings: JepaSettings | None = None) -> None:
        settings = settings or JepaSettings()
        stand_in, targets = MaskToken(token_width(network.image_encoder)), MovingAverage(image=network.image_encoder)
        predictor = predictor_for(network, settings, kinds=1)
        super().__init__(network, source, predictor=predictor, stand_in=stand_in, targets=targets)
        self._predictor, self._stand_in, self._targets, self._settings = predictor, stand_in, targets, settings

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Predict the hidden blocks of the pages of a step; see `Objective.loss`."""
        seen = self.read_step(step)
        page = seen.cells(STRIDE)
        blocks = blocks_on(draw_blocks(page, rng, self._settings.blocks), self.device)
        encoder = with_hidden_image(self.network.image_encoder, blocks.hidden, self._stand_in)
        coarse = as_tokens(encoder(seen.image).coarse)
        centres = cell_centres(seen.grid(STRIDE), self.device)
        context = gather_tokens(coarse, blocks.context), centres[blocks.context], torch.ones_like(blocks.context).bool()
        made, on_page = region_targets(self._targets, seen), page.flatten(1).to(self.device)
        weights = ink_weights(seen, self._settings.paper)
        target = normalise_targets(made, weights * on_page, self._settings.norm)
        loss, parts = region_loss(self._predictor, [context], centres, blocks, target, weights, self._settings)
        loss = loss + self._settings.apart * spread_penalty(coarse[on_page])
        return loss, {"loss": loss.detach(), **parts, **target_spread(plain_norm(made), on_page)}

    def after_step(self, done: float) -> None:
        """Update the moving average of the targets."""
        self._targets.follow(momentum_at(self._settings.momentum, done), image=self.network.image_encoder)


class JointJepa(PageObjective):
    """Predict regions from the visible image and the words, or words from the image.

    Each step draws one of both. Regions: the context is the fused state of the visible image and the words. In some of
    these steps the words inside hidden regions are left out, because with them the prediction may be a copy. Words: the
    context is the image encoder's map of the whole page, without any word. Targets come from each encoder's own input
    alone: the image without words, the words in their layout without image.
    """

    def __init__(self, network: GroundingNetwork, source: Source, settings: JepaSettings | None = None) -> None:
        settings = settings or JepaSettings()
        stand_in, predictor = MaskToken(token_width(network.image_encoder)), predictor_for(network, settings, kinds=2)
        targets = MovingAverage(**self._modules_to_follow(network))
        share_frozen_vectors(targets, network)
        super().__init__(network, source, predictor=predictor, stand_in=stand_in, targets=targets)
        self._predictor, self._stand_in, self._targets, self._settings = predictor, stand_in, targets, settings

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Predict regions or words of the pages of a step; see `Objective.loss`."""
        seen = self.read_step(step)
        if rng.random() < self._settings.word_steps and bool(seen.batch.valid.any()):
            return self.words_loss(seen, rng)
        return self.regions_loss(seen, rng)

    def after_step(self, done: float) -> None:
        """Update the moving average of the targets."""
        self._targets.follow(momentum_at(self._settings.momentum, done), **self._modules_to_follow(self.network))

    @staticmethod
    def _modules_to_follow(network: GroundingNetwork) -> dict[str, nn.Module]:
        return {"image": network.image_encoder, "text": network.text_encoder, "bias": network.layout_bias}

    def regions_loss(self, seen: SeenPages, rng: random.Random) -> tuple[Tensor, dict[str, Tensor]]:
        """Predict regions of pages from their visible image and words; returns what `loss` returns."""
        page = seen.cells(STRIDE)
        blocks = blocks_on(draw_blocks(page, rng, self._settings.blocks), self.device)
        batch = seen.batch
        if rng.random() < self._settings.hidden_words:
            batch = replace(batch, valid=batch.valid & ~words_in(batch, blocks.hidden))
        encoder = with_hidden_image(self.network.image_encoder, blocks.hidden, self._stand_in)
        state = replace_part(self.network, "image_encoder", encoder).encode(batch)
        assert state.picture is not None
        centres = cell_centres(seen.grid(STRIDE), self.device)
        context = (
            gather_tokens(as_tokens(state.picture.image.coarse), blocks.context),
            centres[blocks.context],
            torch.ones_like(blocks.context).bool(),
        )
        made, on_page = region_targets(self._targets, seen), page.flatten(1).to(self.device)
        words = (state.picture.words, word_centres(batch), batch.valid)
        weights = ink_weights(seen, self._settings.paper)
        target = normalise_targets(made, weights * on_page, self._settings.norm)
        loss, parts = region_loss(self._predictor, [context, words], centres, blocks, target, weights, self._settings)
        loss = loss + self._settings.apart * spread_penalty(as_tokens(state.picture.image.coarse)[on_page])
        return loss, {"loss": loss.detach(), **parts, **target_spread(plain_norm(made), on_page)}

    def words_loss(self, seen: SeenPages, rng: random.Random) -> tuple[Tensor, dict[str, Tensor]]:
        """Predict words of pages from the image; returns what `loss` returns, with names that begin with `word_`."""
        chosen, present = sample_words(seen.batch.valid, self._settings.most_words, rng)
        made, target = (gather_tokens(words, chosen) for words in (self._made_of_words(seen), self.word_targets(seen)))
        page = seen.cells(STRIDE).flatten(1).to(self.device)
        tokens = as_tokens(self.network.image_encoder(seen.image).coarse)
        predicted = self._predict(seen, tokens, page, chosen)
        error = embedding_error(predicted.embedding[present], target[present])
        bias = self.network.layout_bias(seen.batch)[: self.network.config.text.layers]
        states = self.network.text_encoder(seen.batch, bias)[0]
        apart = spread_penalty(tokens[page]) + spread_penalty(states[seen.batch.valid])
        contrast = token_contrast(
            predicted.match[present], target[present], torch.arange(int(present.sum()), device=page.device)
        )
        loss = error + self._settings.apart * apart + self._settings.contrast * contrast
        alarm = target_spread(plain_norm(made), present)
        alarm |= against_mean(error, target[present], torch.ones_like(target[present][..., 0]))
        alarm["contrast"] = contrast.detach()
        named = {f"word_{name}": value for name, value in alarm.items()}
        return loss, {"loss": loss.detach(), "words": error.detach(), **named}

    def predict_words(self, seen: SeenPages, chosen: Tensor) -> Predicted:
        """Predict the words [G, T] (indices) of G pages from the image and their positions.

        The predictions are for the same rows of `word_targets`.
        """
        tokens = as_tokens(self.network.image_encoder(seen.image).coarse)
        return self._predict(seen, tokens, seen.cells(STRIDE).flatten(1).to(self.device), chosen)

    def _predict(self, seen: SeenPages, tokens: Tensor, page: Tensor, chosen: Tensor) -> Predicted:
        centres = cell_centres(seen.grid(STRIDE), self.device).expand(len(tokens), -1, -1)
        places = gather_tokens(word_centres(seen.batch), chosen)
        foretold: Predicted = self._predictor([(tokens, centres, page)], places, WORDS)
        return foretold

    def word_targets(self, seen: SeenPages) -> Tensor:
        """Return the target embeddings of all words, [G, N, D], normalised.

        They come from the slow text encoder, without the image.
        """
        return normalise_targets(self._made_of_words(seen), seen.batch.valid, self._settings.norm)

    @torch.no_grad()
    def _made_of_words(self, seen: SeenPages) -> Tensor:
        bias = self._targets["bias"](seen.batch)[: self.network.config.text.layers]
        made: Tensor = self._targets["text"](seen.batch, bias)[0]
        return made


def predictor_for(network: GroundingNetwork, settings: JepaSettings, kinds: int) -> Predictor:
    """Build a predictor whose width is a multiple of what its heads and positions need.

    It begins by predicting the mean of standardised targets, which is zero.
    """
    heads = network.config.heads
    narrow = max(1, round(network.config.width * settings.narrow / (2 * heads))) * 2 * heads
    predictor = Predictor(network.config.width, narrow, settings.layers, heads, kinds, contrast=settings.contrast > 0)
    nn.init.zeros_(predictor.out.weight)
    nn.init.zeros_(predictor.out.bias)
    return predictor


def share_frozen_vectors(targets: MovingAverage, network: GroundingNetwork) -> None:
    """Share the frozen wordpiece vectors between both text encoders; they are large and never learn."""
    text = targets["text"]
    assert isinstance(text, TextEncoder)
    text.embedding.piece_vectors = network.text_encoder.embedding.piece_vectors


def momentum_at(momentum: float, done: float) -> float:
    """Return the momentum when the share `done` (0..1) of the run is done; it rises linearly to 1."""
    return momentum + (1 - momentum) * done


def blocks_on(blocks: Blocks, device: torch.device) -> Blocks:
    """Move blocks to a device."""
    return Blocks(blocks.context.to(device), blocks.targets.to(device), blocks.hidden.to(device))


def as_tokens(coarse: Tensor) -> Tensor:
    """Flatten a map into tokens: [G, D, h, w] -> [G, h * w, D]."""
    return coarse.flatten(2).transpose(1, 2)


def gather_tokens(tokens: Tensor, places: Tensor) -> Tensor:
    """Select tokens by index: tokens [G, K, D], indices [G, T] -> [G, T, D]."""
    return tokens.gather(1, places[..., None].expand(-1, -1, tokens.shape[-1]))


def cell_centres(grid: tuple[int, int], device: torch.device) -> Tensor:
    """Return x, y of the centres of a grid's cells, [height * width, 2], row by row; 1 is its longer side."""
    longest = max(grid)
    y, x = (torch.arange(side, device=device) + 0.5 for side in grid)
    return torch.stack(torch.meshgrid(y, x, indexing="ij")[::-1], -1).reshape(-1, 2) / longest


def word_centres(pages: PageBatch) -> Tensor:
    """Return x, y of the words' centres, [G, N, 2]; 1 is the page's long side."""
    return (pages.unit_boxes[..., :2] + pages.unit_boxes[..., 2:]) / 2


def words_in(pages: PageBatch, hidden: Tensor) -> Tensor:
    """Return which words have their centre in a hidden cell, bool [G, N]; `hidden` is bool [G, h, w]."""
    height, width = hidden.shape[1:]
    places = (word_centres(pages) * max(height, width)).long()
    x, y = places[..., 0].clamp(0, width - 1), places[..., 1].clamp(0, height - 1)
    return hidden.flatten(1).gather(1, y * width + x) & pages.valid


def sample_words(valid: Tensor, most: int, rng: random.Random) -> tuple[Tensor, Tensor]:
    """Draw words of each page at random.

    Args:
        valid: which words are not padding, bool [G, N].
        most: words to draw a page.
        rng: source of randomness.

    Returns:
        Indices [G, T] of at most `most` words a page, and which of them are not padding, bool [G, T].
    """
    rows = [row.nonzero()[:, 0].tolist() for row in valid]
    drawn = [sorted(rng.sample(row, min(most, len(row)))) for row in rows]
    longest = max(1, *(len(row) for row in drawn))
    numbers = torch.tensor([row + [0] * (longest - len(row)) for row in drawn])
    present = torch.arange(longest)[None] < torch.tensor([len(row) for row in drawn])[:, None]
    return numbers.to(valid.device), present.to(valid.device)


@torch.no_grad()
def region_targets(targets: MovingAverage, seen: SeenPages) -> Tensor:
    """Return the target embedding of each cell of the whole page, [G, K, D], from the slow image encoder."""
    encoder = targets["image"]
    assert isinstance(encoder, ImageEncoder)
    return as_tokens(encoder(seen.image).coarse)


def normalise_targets(made: Tensor, weights: Tensor, norm: str) -> Tensor:
    """Normalise targets [G, K, D] as `JepaSettings.norm` says; `weights` [G, K] weight the tokens' statistics."""
    return plain_norm(made) if norm == "token" else standardise(made, weights)


def region_loss(
    predictor: Predictor,
    seen: list[tuple[Tensor, Tensor, Tensor]],
    centres: Tensor,
    blocks: Blocks,
    target: Tensor,
    weights: Tensor,
    settings: JepaSettings,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Return the mean error over the blocks with their contrast, and its parts for the log.

    Each block is predicted by itself, so that none helps another. Cells without ink take no part in the contrast,
    because blank cells are all alike.

    Args:
        predictor: predicts embeddings.
        seen: for each kind of token: tokens [G, K, D], positions [G, K, 2], valid bool [G, K].
        centres: positions of all cells, [K, 2].
        blocks: blocks to predict.
        target: target embeddings of all cells, [G, K, D].
        weights: weight of each cell, [G, K].
        settings: weight of the contrast.
    """
    pages, count, size = blocks.targets.shape
    repeated = [
        (tokens.repeat_interleave(count, 0), places.repeat_interleave(count, 0), valid.repeat_interleave(count, 0))
        for tokens, places, valid in seen
    ]
    flat = blocks.targets.reshape(pages * count, size)
    predicted = predictor(repeated, centres[flat], IMAGE)
    cell_weights = weights.gather(1, blocks.targets.flatten(1)).view(pages * count, size)
    wanted = gather_tokens(target, blocks.targets.flatten(1)).view_as(predicted.embedding)
    error = embedding_error(predicted.embedding, wanted, cell_weights)
    cells = blocks.targets + torch.arange(pages, device=flat.device)[:, None, None] * target.shape[1]
    inked = cell_weights == 1
    contrast = token_contrast(predicted.match[inked], wanted[inked], cells.view_as(cell_weights)[inked])
    parts = {"regions": error.detach(), **against_mean(error, wanted, cell_weights), "contrast": contrast.detach()}
    return error + settings.contrast * contrast, parts


def ink_weights(seen: SeenPages, paper: float) -> Tensor:
    """Return the weight of each cell, [G, K]: 1 where something is printed, else `paper`."""
    height, width = seen.grid(STRIDE)
    cells = seen.image.mean(1).unflatten(1, (height, STRIDE)).unflatten(3, (width, STRIDE))
    printed = cells.std((2, 4)) > _INK
    return torch.where(printed, 1.0, paper).flatten(1)
