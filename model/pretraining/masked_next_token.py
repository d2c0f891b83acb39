"""Masked next token prediction: a bidirectional decoder learns to use later tokens.

BehnamGhader et al. 2024, LLM2Vec (https://arxiv.org/abs/2404.05961), section 2.2: 20 % of the tokens are masked as in
BERT. Token i is predicted from the state at i - 1, as a decoder is used to.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from model.pretraining.decoder import IGNORED, DecoderObjective, predict_tokens, unigram_of
from model.pretraining.text_batches import Texts, Tokens, batches, evaluating, tokenise

MASKED_SHARE = 0.2
_BLANK, _RANDOM = 0.8, 0.1  # shares of the masked tokens; the rest is kept
_STAND_IN = "_"  # the mask of a tokenizer without one, as in LLM2Vec
_JUDGED = 16  # texts at once


class MaskedNextTokens(DecoderObjective):
    """Cross-entropy of the masked tokens, each predicted from the position before it."""

    def __init__(
        self, decoder: Any, tokenizer: Any, texts: Texts, most: int = 128, share: float = MASKED_SHARE
    ) -> None:
        super().__init__(decoder, tokenizer, texts, most)
        self._share, self._mask = share, mask_id(tokenizer)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Predict the masked tokens of a step; see `Objective.loss`."""
        tokens = self.tokens(step)
        generator = torch.Generator().manual_seed(rng.getrandbits(62))
        ids, targets = mask_tokens(tokens, self._mask, len(self.tokenizer), self._share, generator)
        loss, right = predict_tokens(self.decoder, ids, tokens.valid, targets)
        return loss, {"loss": loss.detach(), "accuracy": right}


def mask_tokens(
    tokens: Tokens, mask: int, size: int, share: float, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Mask a share of the tokens.

    The first token, which nothing predicts, and special ones are never masked. At least one other token is, if there is
    any.

    Args:
        tokens: B texts.
        mask: id of the mask token.
        size: number of ids, for random replacements.
        share: share of the tokens to mask.
        generator: source of randomness.

    Returns:
        Ids [B, T] and targets [B, T], IGNORED where nothing is predicted.
    """
    may = ~tokens.special
    may[:, 0] = False
    draw = torch.rand(tokens.ids.shape, generator=generator).masked_fill(~may, 2.0)
    chosen = draw < max(share, float(draw.min()) + 1e-6)
    chosen &= may
    how = torch.rand(tokens.ids.shape, generator=generator)
    others = torch.randint(size, tokens.ids.shape, generator=generator)
    ids = tokens.ids.masked_fill(chosen & (how < _BLANK), mask)
    ids = torch.where(chosen & (how >= _BLANK) & (how < _BLANK + _RANDOM), others, ids)
    return ids, tokens.ids.masked_fill(~chosen, IGNORED)


def mask_id(tokenizer: Any) -> int:
    """Return the id of the mask token, or of "_" where the tokenizer has none; ValueError without either."""
    if tokenizer.mask_token_id is not None:
        return int(tokenizer.mask_token_id)
    number = tokenizer.convert_tokens_to_ids(_STAND_IN)
    if number is None or number == tokenizer.unk_token_id:
        raise ValueError(f'The tokenizer has neither a mask token nor "{_STAND_IN}" to stand for one.')
    return int(number)


def masked_token_figures(
    decoder: Any,
    tokenizer: Any,
    held_out: Sequence[str],
    learned_from: Sequence[str],
    most: int = 128,
    share: float = MASKED_SHARE,
) -> dict[str, float]:
    """Measure accuracy and cross-entropy (nats) on masked tokens of held-out texts.

    The masks are the same every time. The figures of guessing by frequency in the texts learned from stand beside them.
    """
    generator, mask = torch.Generator().manual_seed(0), mask_id(tokenizer)
    total = right = count = 0.0
    asked = []
    with evaluating(decoder):
        for some in batches(held_out, _JUDGED):
            tokens = tokenise(tokenizer, some, most)
            ids, targets = mask_tokens(tokens, mask, len(tokenizer), share, generator)
            wanted = targets[targets != IGNORED]
            if len(wanted):
                nats, correct = predict_tokens(decoder, ids, tokens.valid, targets)
                total, right = total + nats.item() * len(wanted), right + correct.item() * len(wanted)
                count += len(wanted)
                asked.append(wanted)
    unigram, wanted = unigram_of(tokenizer, learned_from, most), torch.cat(asked)
    return {
        "accuracy": right / count,
        "nats": total / count,
        "unigram_accuracy": unigram.accuracy(wanted),
        "unigram_nats": unigram.nats(wanted),
    }
