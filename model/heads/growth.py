"""Grow an answer from one of its words (region growing).

Scoring each word alone gives patchwork: half a name, or words of two answers to one key. So the word head points to one
word, as a click does in SAM (https://arxiv.org/abs/2304.02643). Membership of all other words is then decided relative
to that seed, so a second passage that would answer equally well stays out.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.blocks import MASKED, Perceptron, RowsOf, soft_log
from model.heads.word_layer import WordLayer
from model.inputs import PageBatch

_RELATIONS = 14  # features of a word relative to a seed
_FLATTER = 2.0  # temperature of the second seed's distribution
_KINSHIPS = 8  # learned similarities of a word and the seed


@dataclass(frozen=True, slots=True)
class Grown:
    """K answers for each question, each grown from its seed."""

    logits: Tensor  # [B, K, N] whether the word belongs to this answer
    fit: Tensor  # [B, K] logit of the predicted IoU of its words above 0


class Growth(nn.Module):
    """Word layer that decides which words belong with a seed, from their position relative to it."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.seed, self.word = nn.Linear(width, _KINSHIPS * 4), nn.Linear(width, _KINSHIPS * 4)
        self.hints = Perceptron(_RELATIONS + _KINSHIPS, width, width)
        self.to_words, self.to_token = nn.Linear(width, width), nn.Linear(width, width)
        self.layer = WordLayer(width, heads)
        self.norm_words, self.norm_token = nn.LayerNorm(width), nn.LayerNorm(width)
        self.neighbours = nn.Linear(width, width)
        self.score = Perceptron(width, width, 1)
        nn.init.constant_(self.score.last.bias, -2.0)  # few words answer
        self.iou = Perceptron(width, width, 1)

    def links(self, page: Tensor, bias: RowsOf) -> Tensor:
        """Compute the layer's links [G, heads, N, N] from page [G, N, D] and bias [G, heads, N, N]."""
        return self.layer.links(page, bias)

    def forward(
        self,
        states: Tensor,
        tokens: Tensor,
        seeds: Tensor,
        links: Tensor,
        pages: PageBatch,
        word_mask: Tensor,
        token_mask: Tensor,
    ) -> Grown:
        """Grow one answer from each seed.

        Args:
            states: word states, [B, N, D].
            tokens: prompt tokens, the answer's token first, [B, T, D].
            seeds: indices of words, [B, K].
            links: from `links`, [G, heads, N, N].
            pages: the G pages.
            word_mask: additive mask of the words, [B, 1, 1, N].
            token_mask: additive mask of the tokens, [B, 1, 1, T].

        Returns:
            Membership logits and predicted fit of each answer.
        """
        count, most = seeds.shape[1], states.shape[1]
        states, tokens = states.repeat_interleave(count, 0), tokens.repeat_interleave(count, 0)
        seeds, rows = seeds.flatten(), torch.arange(seeds.numel(), device=seeds.device)
        normed = self.norm(states)
        seed = normed[rows, seeds]  # [BK, D]
        kinship = (self.word(normed) * self.seed(seed)[:, None]).unflatten(-1, (_KINSHIPS, -1)).sum(-1)
        hints = self.hints(torch.cat([relations(pages, seeds), kinship / 2], -1))
        words = states + hints + self.to_words(seed)[:, None]
        tokens = torch.cat([tokens[:, :1] + self.to_token(seed)[:, None], tokens[:, 1:]], 1)
        words, tokens = self.layer(
            words, tokens, links, word_mask.repeat_interleave(count, 0), token_mask.repeat_interleave(count, 0)
        )
        words = self.norm_words(words)
        per_page = len(seeds) // len(pages.valid)
        words = words + self.neighbours(_segment_means(words, pages.place[..., 0].repeat_interleave(per_page, 0)))
        return Grown(
            logits=self.score(words)[..., 0].view(-1, count, most),
            fit=self.iou(self.norm_token(tokens[:, 0]))[..., 0].view(-1, count),
        )


def relations(pages: PageBatch, seeds: Tensor) -> Tensor:
    """Compute the position of each word relative to the seed of its row.

    Args:
        pages: G pages of N words.
        seeds: indices of words, [S]; S is a multiple of G.

    Returns:
        [S, N, 14].
    """
    per_page = len(seeds) // len(pages.valid)
    boxes, place = pages.boxes.repeat_interleave(per_page, 0), pages.place.repeat_interleave(per_page, 0)
    rows = torch.arange(len(seeds), device=seeds.device)
    own, home = boxes[rows, seeds][:, None], place[rows, seeds][:, None]
    x0, y0, x1, y1 = boxes.unbind(-1)
    u0, v0, u1, v1 = own.unbind(-1)
    segment, line, rank = (place - home).unbind(-1)
    down = (y0 + y1 - v0 - v1) / 2
    return torch.stack(
        [
            (rank == 0).float(),
            (segment == 0).float(),
            (line == 0).float(),
            soft_log(x0 - u0),
            soft_log(x0 - u1),
            soft_log(x1 - u0),
            soft_log(down),
            (-(down / 0.5).square()).exp(),
            (torch.minimum(x1, u1) > torch.maximum(x0, u0)).float(),
            soft_log(rank),
            (-rank.abs() / 2).exp() * rank.sign(),
            (-segment.abs()).exp() * segment.sign(),
            (-line.abs()).exp() * line.sign(),
            (y1 - y0) / (v1 - v0).clamp_min(0.1) / 2,
        ],
        -1,
    ).clamp(-8, 8)


def pick_seeds(pointing: Tensor, pages: PageBatch, count: int, towards: Tensor | None = None) -> Tensor:
    """Choose the words from which growth begins, best first, each in its own segment while there are any.

    In training two seeds are drawn. The first is drawn among the words of `towards` by their pointing probability, or
    is the top word where a row has none. The second is drawn in another segment from a flatter distribution, because
    the quality of an answer is learned from bad answers too.

    Args:
        pointing: logits, [B, N].
        pages: the G pages.
        count: number of seeds; ignored in training.
        towards: in training, words of acceptable answers, 0 or 1, [B, N].

    Returns:
        Indices of words, [B, count], or [B, 2] in training.
    """
    per_page = len(pointing) // len(pages.valid)
    left = pointing.detach().masked_fill(~pages.valid.repeat_interleave(per_page, 0), 100 * MASKED)
    segment = pages.place[..., 0].repeat_interleave(per_page, 0)
    if towards is not None:
        has_target = towards.any(1)
        chances = (left + (1 - towards) * MASKED).softmax(1).nan_to_num(1.0)  # a NaN loss is reported later
        drawn = torch.multinomial(chances, 1)[:, 0]
        first = torch.where(has_target, drawn, left.argmax(1))
        same = (segment == segment.gather(1, first[:, None])).float()
        chances = (left / _FLATTER + same * 10 * MASKED).softmax(1).nan_to_num(1.0)
        return torch.stack([first, torch.multinomial(chances, 1)[:, 0]], 1)
    seeds = []
    for _ in range(count):
        seeds.append(left.argmax(1))
        left = left + (segment == segment.gather(1, seeds[-1][:, None])).float() * 2 * MASKED
    return torch.stack(seeds, 1)


def _segment_means(words: Tensor, segment: Tensor) -> Tensor:
    """Return the mean of each word's segment, [S, N, D].

    `words` is [S, N, D]; `segment` is [S, N], below 0 for padding.
    """
    at = segment.long().clamp_min(-1) + 1
    size = words.shape[1] + 1
    sums = words.new_zeros(len(words), size, words.shape[2]).scatter_add(1, at[..., None].expand_as(words), words)
    counts = words.new_zeros(len(words), size).scatter_add(1, at, torch.ones_like(segment, dtype=words.dtype))
    means = sums / counts.clamp_min(1)[..., None]
    return means.gather(1, at[..., None].expand_as(words))
