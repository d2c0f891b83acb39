"""From one word of the answer to all of it.

To score each word alone makes patchwork: half a name, words of two answers to one key. So the word head points to one
word, as an asker's click does in SAM (https://arxiv.org/abs/2304.02643), and what belongs with that word is decided for
that word: its neighbours agree with it or they do not, and a second place that would answer as well stays out.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.blocks import MASKED, Perceptron, RowsOf, soft_log
from model.heads.word_layer import WordLayer
from model.inputs import PageBatch

_RELATIONS = 14  # numbers of a word as seen from a seed
_FLATTER = 2.0  # divides the pointing where a second seed is drawn from it
_KINSHIPS = 8  # learned likenesses of a word and the seed


@dataclass(frozen=True, slots=True)
class Grown:
    """K answers a question, each grown from its seed."""

    logits: Tensor  # [B, K, N] does the word belong to this answer
    fit: Tensor  # [B, K] logit of the predicted IoU of its words above 0


class Growth(nn.Module):
    """Which words belong with a seed: a word layer that knows where each word stands to it."""

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
        """page [G, N, D], bias [G, heads, N, N] -> [G, heads, N, N]."""
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
        """states [B, N, D], tokens [B, T, D], the first of them the answer's, seeds [B, K], links [G, heads, N, N]."""
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
        each = len(seeds) // len(pages.valid)
        words = words + self.neighbours(_segment_means(words, pages.place[..., 0].repeat_interleave(each, 0)))
        return Grown(
            logits=self.score(words)[..., 0].view(-1, count, most),
            fit=self.iou(self.norm_token(tokens[:, 0]))[..., 0].view(-1, count),
        )


def relations(pages: PageBatch, seeds: Tensor) -> Tensor:
    """[S, N, 14]: where each word stands to the seed of its row; seeds [S], S a multiple of the pages."""
    each = len(seeds) // len(pages.valid)
    boxes, place = pages.boxes.repeat_interleave(each, 0), pages.place.repeat_interleave(each, 0)
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
    """[B, count] the words that growth begins at, best first and each in a segment of its own while there are any.

    pointing [B, N]. ``towards`` [B, N] (training, 0 or 1): two seeds. Where a row has any, the first is drawn among them, as
    often as ``pointing`` says, else it is where the network points. The second is drawn in another segment, flatter than
    ``pointing``: how good an answer is, is learned from bad ones as well.
    """
    each = len(pointing) // len(pages.valid)
    left = pointing.detach().masked_fill(~pages.valid.repeat_interleave(each, 0), 100 * MASKED)
    segment = pages.place[..., 0].repeat_interleave(each, 0)
    if towards is not None:
        given = towards.any(1)
        chances = (left + (1 - towards) * MASKED).softmax(1).nan_to_num(1.0)  # a loss of nan is told as such, later
        drawn = torch.multinomial(chances, 1)[:, 0]
        first = torch.where(given, drawn, left.argmax(1))
        same = (segment == segment.gather(1, first[:, None])).float()
        chances = (left / _FLATTER + same * 10 * MASKED).softmax(1).nan_to_num(1.0)
        return torch.stack([first, torch.multinomial(chances, 1)[:, 0]], 1)
    seeds = []
    for _ in range(count):
        seeds.append(left.argmax(1))
        left = left + (segment == segment.gather(1, seeds[-1][:, None])).float() * 2 * MASKED
    return torch.stack(seeds, 1)


def _segment_means(words: Tensor, segment: Tensor) -> Tensor:
    """words [S, N, D] -> [S, N, D], of each word the mean of its segment; segment [S, N], below 0: padding."""
    at = segment.long().clamp_min(-1) + 1
    size = words.shape[1] + 1
    sums = words.new_zeros(len(words), size, words.shape[2]).scatter_add(1, at[..., None].expand_as(words), words)
    counts = words.new_zeros(len(words), size).scatter_add(1, at, torch.ones_like(segment, dtype=words.dtype))
    means = sums / counts.clamp_min(1)[..., None]
    return means.gather(1, at[..., None].expand_as(words))
