"""Decide which words answer: a decoder over page words and prompt tokens, with lexical anchors.

It points to a word of the answer and grows the answer from there (`model.heads.growth`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from model.anchors import ANCHORS
from model.blocks import Perceptron, RowsOf, additive_mask
from model.encoders.prompt import PromptTokens
from model.heads.growth import Growth, pick_seeds
from model.heads.word_layer import WordLayer
from model.inputs import PageBatch, QuestionBatch
from model.prompts import BARRED, CLICKED, CLICKS, INSIDE, IS_BOX

MEANINGS = 2  # similarities of a word's meaning to the question
_SHOWN = 40.0  # added to the pointing where the user marked a place: more than any logit


@dataclass(frozen=True, slots=True)
class WordAnswer:
    """Answers by words to B questions on pages of N words."""

    states: Tensor  # [B, N, D] words in the context of the question
    pointing: Tensor  # [B, N] logit: growth begins at this word
    seeds: Tensor  # [B, K] words at which an answer begins, best first
    logits: Tensor  # [B, K, N] logit: the word belongs to the answer that begins there
    taken: Tensor  # [B, K, N] bool: the words of each answer, within the user's clicks and box
    fit: Tensor  # [B, K] logit of the predicted IoU of each answer
    answered: Tensor  # [B] logit: the page answers the question
    by_words: Tensor  # [B] logit: words make the answer, if there is one

    @property
    def iou(self) -> Tensor:
        """Predicted IoU of each answer, [B, K], 0..1."""
        return self.fit.sigmoid()


class WordHead(nn.Module):
    """Head that points to words of the page for a prompt and grows answers from them."""

    def __init__(self, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.hints = Perceptron(ANCHORS + CLICKS + MEANINGS, width, width)
        self.answered_token = nn.Parameter(torch.randn(width) * 0.02)
        self.layers = nn.ModuleList(WordLayer(width, heads) for _ in range(layers))
        self.norm_words, self.norm_token = nn.LayerNorm(width), nn.LayerNorm(width)
        self.point = nn.Linear(width, 1)
        self.verdict = nn.Linear(width, 2)
        self.growth = Growth(width, heads)

    def links(self, page: Tensor, bias: Sequence[RowsOf]) -> list[Tensor]:
        """Compute the links of each layer, those of growth last.

        Args:
            page: words of the pages, [G, N, D].
            bias: layout bias [G, heads, N, N] of each layer.

        Returns:
            [G, heads, N, N] for each layer.
        """
        layers = cast("list[WordLayer | Growth]", [*self.layers, self.growth])
        return [layer.links(page, layer_bias) for layer, layer_bias in zip(layers, bias, strict=True)]

    def forward(
        self,
        words: Tensor,
        meanings: Tensor,
        links: list[Tensor],
        pages: PageBatch,
        prompts: PromptTokens,
        questions: QuestionBatch,
        seeds: int = 1,
        towards: Tensor | None = None,
        favour: Tensor | None = None,
    ) -> WordAnswer:
        """Answer questions by words.

        Args:
            words: words of the pages, [G, N, D].
            meanings: similarity of each word to the question, [B, N, MEANINGS].
            links: from `links`.
            pages: the G pages.
            prompts: B encoded prompts.
            questions: anchors and clicks of the same questions.
            seeds: number of answers to grow.
            towards: words to grow from in training; see `model.heads.growth.pick_seeds`.
            favour: added to the pointing logits when the words to grow from are picked, [B, N].

        Returns:
            Scores and words of each answer.
        """
        per_page = len(prompts.tokens) // len(words)
        hints = torch.cat([questions.anchors, questions.clicks, meanings], -1)
        states = words.repeat_interleave(per_page, 0) + self.hints(hints)
        tokens = torch.cat([self.answered_token.expand(len(prompts.tokens), 1, -1), prompts.tokens], 1)
        valid = torch.cat([prompts.valid.new_ones(len(tokens), 1), prompts.valid], 1)
        token_mask = additive_mask(valid)
        word_mask = additive_mask(pages.valid).repeat_interleave(per_page, 0)
        for layer, layer_links in zip(self.layers, links[:-1], strict=True):
            states, tokens = layer(states, tokens, layer_links, word_mask, token_mask)
        answered, by_words = self.verdict(self.norm_token(tokens[:, 0])).unbind(-1)
        pointing = self.point(self.norm_words(states))[..., 0]
        wanted = pointing + _score_clicks(questions.clicks)
        chosen = pick_seeds(wanted if favour is None else wanted + favour, pages, seeds, towards)
        grown = self.growth(states, tokens, chosen, links[-1], pages, word_mask, token_mask)
        taken = take(grown.logits, chosen, questions.clicks, pages.valid.repeat_interleave(per_page, 0))
        return WordAnswer(states, pointing, chosen, grown.logits, taken, grown.fit, answered, by_words)


def take(logits: Tensor, seeds: Tensor, clicks: Tensor, valid: Tensor) -> Tensor:
    """Select the words of each answer: the seed and every word with a positive logit.

    The user's prompts override the network: a positive click always takes the word under it, a negative one never does,
    and a box excludes words outside it.

    Args:
        logits: [B, K, N].
        seeds: [B, K].
        clicks: prompt features, [B, N, CLICKS].
        valid: which words are not padding, bool [B, N].

    Returns:
        Bool [B, K, N].
    """
    taken = (logits > 0).scatter(2, seeds[..., None], True)
    forced, barred = clicks[..., CLICKED] > 0, (clicks[..., BARRED] > 0) | _outside(clicks)
    return (taken & ~barred[:, None] | forced[:, None]) & valid[:, None]


def _score_clicks(clicks: Tensor) -> Tensor:
    """Return the term [B, N] that clicks and box (clicks [B, N, CLICKS]) add to the pointing logits."""
    return _SHOWN * (clicks[..., CLICKED] - clicks[..., BARRED] - _outside(clicks).float())


def _outside(clicks: Tensor) -> Tensor:
    """Return which words lie less than half inside the prompt's box, bool [B, N]."""
    return (clicks[..., IS_BOX] > 0) & (clicks[..., INSIDE] < 0.5)


def meanings_of(question: Tensor, weights: Tensor, words: Tensor) -> Tensor:
    """Compute the similarity in meaning of each word to the question: its best word, and all of them.

    Args:
        question: unit vectors of the question's words, [B, M, V].
        weights: weight of each of these words, [B, M].
        words: unit vectors of the page's words, [G, N, V].

    Returns:
        [B, N, MEANINGS].
    """
    pages = len(words)
    similar = torch.einsum("gqmv,gnv->gqmn", (question * weights[..., None]).unflatten(0, (pages, -1)), words)
    similar = similar.flatten(0, 1).clamp_min(0)  # opposite meanings count as 0, like padding
    return torch.stack([similar.amax(1), similar.square().sum(1).add(1e-6).sqrt()], -1)
