"""Encode the words of a page: their identity, shape and position, in context."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from model.blocks import Perceptron, SelfAttentionLayer
from model.encoders.bert import BertLayers
from model.encoders.layout_bias import Biases
from model.inputs import Bags, PageBatch
from model.presets import TextConfig
from model.vocabulary import SHAPES

_OCTAVES = 4


class WordEmbedding(nn.Module):
    """Vectors of words, the same for pages and questions: learned n-grams and frozen wordpiece vectors.

    The n-grams carry spelling and survive OCR errors. The wordpieces carry meaning from text far larger than ours.
    Before a BERT, a word is the mean of BERT's own wordpieces. The rest is added with a factor that starts at zero, so
    that public weights begin with the input they know.
    """

    piece_vectors: Tensor

    def __init__(self, config: TextConfig, width: int) -> None:
        super().__init__()
        self.grams = nn.EmbeddingBag(config.buckets, width, mode="mean")
        nn.init.normal_(self.grams.weight, std=0.3)
        self.register_buffer("piece_vectors", torch.zeros(config.pieces, config.vector_width))
        self.project = nn.Linear(config.vector_width, width)
        self.norm = nn.LayerNorm(width)
        self.own: nn.Embedding | None = None
        if config.bert:
            self.own = nn.Embedding(config.pieces, width)
            nn.init.normal_(self.own.weight, std=0.02)  # BERT's own initialisation
            self.added = nn.Parameter(torch.zeros(width))

    def forward(self, grams: Bags, pieces: Bags) -> tuple[Tensor, Tensor]:
        """Embed W words.

        Args:
            grams: buckets of character n-grams of the words.
            pieces: wordpiece ids of the words.

        Returns:
            Vectors [W, D] and frozen meanings [W, vector_width] of length 1, or 0 for padding.
        """
        meaning = F.embedding_bag(pieces.ids, self.piece_vectors, pieces.offsets, mode="mean")
        vectors = self.grams(grams.ids, grams.offsets) + self.norm(self.project(meaning))
        if self.own is not None:
            own = F.embedding_bag(pieces.ids, self.own.weight, pieces.offsets, mode="mean")
            vectors = own + self.added * vectors
        return vectors, F.normalize(meaning, dim=-1)


class TextEncoder(nn.Module):
    """Transformer over the words of a page with a layout bias.

    `checkpointing`: recompute the activations of each layer in the backward pass (`GroundingNetwork.checkpointing`).
    """

    def __init__(self, config: TextConfig, width: int, heads: int) -> None:
        super().__init__()
        own = config.width or width
        self.embedding = WordEmbedding(config, own)
        self.shape = nn.Linear(SHAPES, own)
        self.position = Perceptron(6 + 4 * 2 * _OCTAVES, own, own)
        self.checkpointing = False
        self.bert: BertLayers | None = None
        if config.bert:
            self.bert = BertLayers(config, own, config.heads or heads)
            self.added = nn.Parameter(torch.zeros(own))  # as in the embedding: shapes and positions start at zero
            self.narrow = nn.Linear(own, width)
            self.layers = nn.ModuleList()
        else:
            self.layers = nn.ModuleList(SelfAttentionLayer(own, heads) for _ in range(config.layers))

    def forward(self, pages: PageBatch, bias: Biases) -> tuple[Tensor, Tensor]:
        """Encode the words of pages in context.

        Args:
            pages: G pages of N words.
            bias: layout bias [G, heads, N, N] of each layer.

        Returns:
            States [G, N, D] and frozen meanings [G, N, vector_width].
        """
        count, most = pages.valid.shape
        vectors, meaning = self.embedding(pages.grams, pages.pieces)
        corners = pages.positions[..., :4]
        waves = [wave(corners * (math.pi * 2**k)) for k in range(_OCTAVES) for wave in (torch.sin, torch.cos)]
        looks = self.shape(pages.shapes) + self.position(torch.cat([pages.positions, *waves], -1))
        x, meaning = vectors.view(count, most, -1), meaning.view(count, most, -1)
        if self.bert is not None:
            states = self.bert(x + self.added * looks, pages.place[..., 2], bias[0][:, :, :])
            return self.narrow(states), meaning
        x = x + looks
        for layer, layer_bias in zip(self.layers, bias, strict=True):
            x = checkpoint(layer, x, layer_bias, use_reentrant=False) if self.checkpointing else layer(x, layer_bias)
        return x, meaning
