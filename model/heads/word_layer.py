"""Exchange features between the words of a page and the tokens of a prompt."""

import math

import torch
from torch import Tensor, nn

from model.blocks import CrossAttention, Perceptron, RowsOf, row_parts, split_heads


class WordLayer(nn.Module):
    """Layer in which words exchange features along fixed links, and with the prompt's tokens.

    The links are attention weights computed once a page and shared by its questions, which makes a question cheap.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_page = nn.LayerNorm(width)
        self.link = nn.Linear(width, 2 * width)
        self.norm_words, self.norm_tokens = nn.LayerNorm(width), nn.LayerNorm(width)
        self.value, self.out = nn.Linear(width, width), nn.Linear(width, width)
        self.from_tokens = CrossAttention(width, heads)
        self.from_words = CrossAttention(width, heads)
        self.norm_mid = nn.LayerNorm(width)
        self.norm_words_mlp, self.norm_tokens_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.words_mlp, self.tokens_mlp = Perceptron(width, 2 * width, width), Perceptron(width, 2 * width, width)

    def links(self, page: Tensor, bias: RowsOf) -> Tensor:
        """Compute the links between words.

        Args:
            page: words of the pages, [G, N, D].
            bias: layout bias, [G, heads, N, N].

        Returns:
            Attention weights [G, heads, N, N]. Those of a long page have half precision, because they are kept as long
            as the page is asked.
        """
        q, k = (split_heads(part, self.heads) for part in self.link(self.norm_page(page)).chunk(2, -1))
        k = k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        parts = row_parts(page.shape[1])
        if len(parts) == 1:
            return (q @ k + bias[:, :, parts[0]]).softmax(-1)
        return torch.cat([(q[:, :, rows] @ k + bias[:, :, rows]).softmax(-1).half() for rows in parts], 2)

    def forward(
        self, words: Tensor, tokens: Tensor, links: Tensor, word_mask: Tensor, token_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Update words and tokens.

        Args:
            words: [B, N, D], B = G * Q.
            tokens: [B, T, D].
            links: [G, heads, N, N].
            word_mask: additive mask of the words, [B, 1, 1, N].
            token_mask: additive mask of the tokens, [B, 1, 1, T].

        Returns:
            New words [B, N, D] and new tokens [B, T, D].
        """
        h = self.norm_words(words)
        values = self.value(h).unflatten(-1, (self.heads, -1)).unflatten(0, (len(links), -1))  # [G, Q, N, heads, d]
        parts = [
            torch.einsum("ghij,gqjhd->gqihd", links[:, :, rows].to(values.dtype), values)
            for rows in row_parts(links.shape[2])
        ]
        moved = torch.cat(parts, 2).flatten(3).flatten(0, 1)
        words = words + self.out(moved)
        t = self.norm_tokens(tokens)
        words = words + self.from_tokens(h, t, t, token_mask)
        h = self.norm_mid(words)
        tokens = tokens + self.from_words(t, h, h, word_mask)
        tokens = tokens + self.tokens_mlp(self.norm_tokens_mlp(tokens))
        return words + self.words_mlp(self.norm_words_mlp(words)), tokens
