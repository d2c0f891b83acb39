"""The words of a page: what they are, how they look, where they stand, and a transformer with a bias for layout."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.blocks import MASKED, Perceptron, SelfAttentionLayer
from model.inputs import Bags, PageBatch
from model.presets import TextConfig
from model.vocabulary import SHAPES

RELATIONS = 11  # numbers of a pair of words
_OCTAVES = 4
_BIAS_HIDDEN = 16


class WordEmbedding(nn.Module):
    """Vectors of words, the same for pages and questions: learned character n-grams, frozen wordpiece vectors.

    The n-grams carry spelling (and survive OCR errors), the wordpieces carry meaning from text far larger than ours.
    """

    piece_vectors: Tensor

    def __init__(self, config: TextConfig, width: int) -> None:
        super().__init__()
        self.grams = nn.EmbeddingBag(config.buckets, width, mode="mean")
        nn.init.normal_(self.grams.weight, std=0.3)
        self.register_buffer("piece_vectors", torch.zeros(config.pieces, config.vector_width))
        self.project = nn.Linear(config.vector_width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, grams: Bags, pieces: Bags) -> tuple[Tensor, Tensor]:
        """Of W words: vectors [W, D] and their frozen meanings of length 1 (0 for padding) [W, vector_width]."""
        meaning = F.embedding_bag(pieces.ids, self.piece_vectors, pieces.offsets, mode="mean")
        return self.grams(grams.ids, grams.offsets) + self.norm(self.project(meaning)), F.normalize(meaning, dim=-1)


class LayoutBias(nn.Module):
    """Attention biases from how two words stand to each other, for all layers at once."""

    def __init__(self, layers: int, heads: int) -> None:
        super().__init__()
        self.layers, self.heads = layers, heads
        self.mlp = nn.Sequential(nn.Linear(RELATIONS, _BIAS_HIDDEN), nn.ReLU(), nn.Linear(_BIAS_HIDDEN, layers * heads))

    def forward(self, pages: PageBatch) -> Tensor:
        """[layers, G, heads, N, N]; keys that are padding are masked."""
        bias = self.mlp(relations(pages)).permute(3, 0, 1, 2).unflatten(0, (self.layers, self.heads)).transpose(1, 2)
        return bias + (~pages.valid).float()[:, None, None] * MASKED


def relations(pages: PageBatch) -> Tensor:
    """[G, N, N, RELATIONS]: where word j stands, seen from word i."""
    boxes = pages.boxes
    centre = (boxes[..., 1] + boxes[..., 3]) / 2
    segment, line, rank = pages.place.unbind(-1)
    from_end = boxes[:, None, :, 0] - boxes[:, :, None, 2]
    from_start = boxes[:, None, :, 0] - boxes[:, :, None, 0]
    down = centre[:, None] - centre[:, :, None]
    step = rank[:, None] - rank[:, :, None]
    same_line = (line[:, None] == line[:, :, None]).float()
    return torch.stack(
        [
            _soft_log(from_end),
            _soft_log(from_start),
            _soft_log(down),
            (segment[:, None] == segment[:, :, None]).float(),
            same_line,
            same_line * (step == 1),
            same_line * (step == -1),
            torch.exp(-((from_start / 0.8) ** 2)),  # same left edge
            torch.exp(-(down**2)),  # same height
            torch.exp(-(((down - 1.6) / 0.6) ** 2)),  # one line below
            torch.exp(-(((down + 1.6) / 0.6) ** 2)),  # one line above
        ],
        -1,
    )


def _soft_log(x: Tensor) -> Tensor:
    return x.sign() * x.abs().log1p()


class TextEncoder(nn.Module):
    """Words of a page in context."""

    def __init__(self, config: TextConfig, width: int, heads: int) -> None:
        super().__init__()
        self.embedding = WordEmbedding(config, width)
        self.shape = nn.Linear(SHAPES, width)
        self.position = Perceptron(6 + 4 * 2 * _OCTAVES, width, width)
        self.layers = nn.ModuleList(SelfAttentionLayer(width, heads) for _ in range(config.layers))

    def forward(self, pages: PageBatch, bias: Tensor) -> tuple[Tensor, Tensor]:
        """bias [layers, G, heads, N, N] -> words in context [G, N, D], their meanings [G, N, vector_width]."""
        count, most = pages.valid.shape
        vectors, meaning = self.embedding(pages.grams, pages.pieces)
        corners = pages.positions[..., :4]
        waves = [wave(corners * (math.pi * 2**k)) for k in range(_OCTAVES) for wave in (torch.sin, torch.cos)]
        x = vectors.view(count, most, -1) + self.shape(pages.shapes)
        x = x + self.position(torch.cat([pages.positions, *waves], -1))
        for layer, layer_bias in zip(self.layers, bias, strict=True):
            x = layer(x, layer_bias)
        return x, meaning.view(count, most, -1)
