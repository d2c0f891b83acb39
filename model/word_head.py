"""Which words answer: a decoder over the words of the page and the tokens of the prompt, fed with lexical anchors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from model.anchors import ANCHORS
from model.blocks import CrossAttention, Perceptron, RowsOf, additive_mask, row_parts, split_heads
from model.inputs import PageBatch, QuestionBatch
from model.prompt_encoder import PromptTokens
from model.prompts import CLICKS

MEANINGS = 2  # similarities of a word's meaning to the question


@dataclass(frozen=True, slots=True)
class WordAnswer:
    """B questions on pages of N words."""

    states: Tensor  # [B, N, D] words as the question sees them
    logits: Tensor  # [B, N] does the word belong to the answer
    answered: Tensor  # [B] logit: does this page answer the question
    by_words: Tensor  # [B] logit: if so, is the answer made of words
    iou: Tensor  # [B] predicted IoU of the chosen words, 0..1


class WordLayer(nn.Module):
    """Words exchange along links that depend on the page alone, and with the prompt's tokens.

    The links are attention weights computed once a page and shared by all its questions, which makes a question cheap.
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
        """page [G, N, D], bias [G, heads, N, N] -> weights [G, heads, N, N]; of a long page in half precision, since
        they are kept for as long as the page is asked."""
        q, k = (split_heads(part, self.heads) for part in self.link(self.norm_page(page)).chunk(2, -1))
        k = k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        parts = row_parts(page.shape[1])
        if len(parts) == 1:
            return (q @ k + bias[:, :, parts[0]]).softmax(-1)
        return torch.cat([(q[:, :, rows] @ k + bias[:, :, rows]).softmax(-1).half() for rows in parts], 2)

    def forward(
        self, words: Tensor, tokens: Tensor, links: Tensor, word_mask: Tensor, token_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """words [B, N, D], tokens [B, T, D], links [G, heads, N, N] with B = G * Q, additive masks."""
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


class WordHead(nn.Module):
    """Scores every word of the page for a prompt."""

    def __init__(self, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.hints = Perceptron(ANCHORS + CLICKS + MEANINGS, width, width)
        self.answered_token = nn.Parameter(torch.randn(width) * 0.02)
        self.layers = nn.ModuleList(WordLayer(width, heads) for _ in range(layers))
        self.norm_words, self.norm_token = nn.LayerNorm(width), nn.LayerNorm(width)
        self.score = nn.Linear(width, 1)
        nn.init.constant_(self.score.bias, -2.0)  # few words answer
        self.verdict = nn.Linear(width, 2)
        self.iou = Perceptron(width, width, 1)

    def links(self, page: Tensor, bias: Sequence[RowsOf]) -> list[Tensor]:
        """page [G, N, D], bias [G, heads, N, N] of each layer -> links of each layer."""
        return [layer.links(page, layer_bias) for layer, layer_bias in zip(self.layers, bias, strict=True)]

    def forward(
        self,
        words: Tensor,
        meanings: Tensor,
        links: list[Tensor],
        pages: PageBatch,
        prompts: PromptTokens,
        questions: QuestionBatch,
    ) -> WordAnswer:
        """words [G, N, D] of the pages, meanings [B, N, MEANINGS] of their words for the questions."""
        each = len(prompts.tokens) // len(words)
        hints = torch.cat([questions.anchors, questions.clicks, meanings], -1)
        states = words.repeat_interleave(each, 0) + self.hints(hints)
        tokens = torch.cat([self.answered_token.expand(len(prompts.tokens), 1, -1), prompts.tokens], 1)
        valid = torch.cat([prompts.valid.new_ones(len(tokens), 1), prompts.valid], 1)
        token_mask = additive_mask(valid)
        word_mask = additive_mask(pages.valid).repeat_interleave(each, 0)
        for layer, layer_links in zip(self.layers, links, strict=True):
            states, tokens = layer(states, tokens, layer_links, word_mask, token_mask)
        token = self.norm_token(tokens[:, 0])
        answered, by_words = self.verdict(token).unbind(-1)
        return WordAnswer(
            states=states,
            logits=self.score(self.norm_words(states))[..., 0],
            answered=answered,
            by_words=by_words,
            iou=self.iou(token)[..., 0].sigmoid(),
        )


def meanings_of(question: Tensor, weights: Tensor, words: Tensor) -> Tensor:
    """Similarity in meaning of each word to the question: its best word, and all of them.

    question [B, M, V] and words [G, N, V] of length 1, weights [B, M] -> [B, N, MEANINGS].
    """
    pages = len(words)
    similar = torch.einsum("gqmv,gnv->gqmn", (question * weights[..., None]).unflatten(0, (pages, -1)), words)
    similar = similar.flatten(0, 1).clamp_min(0)  # unlike counts as nothing, as padding does
    return torch.stack([similar.amax(1), similar.square().sum(1).add(1e-6).sqrt()], -1)
