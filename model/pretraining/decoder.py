"""Train a decoder to predict the next token, and share what all objectives on decoders need."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from model.objectives.objective import Objective
from model.pretraining.decoder_files import save_decoder
from model.pretraining.lora import adapters_of
from model.pretraining.text_batches import Texts, Tokens, batches, evaluating, tokenise
from model.pretraining.unigram import Unigram

DECODER_FOLDER = "decoder"
IGNORED = -100  # target of a position that is not predicted
_JUDGED = 16  # texts at once


class DecoderObjective(Objective):
    """Objective whose result is a decoder in DECODER_FOLDER.

    It trains the decoder's adapters where it has any, else the whole decoder.
    """

    def __init__(self, decoder: Any, tokenizer: Any, texts: Texts, most: int = 128) -> None:
        self.decoder, self.tokenizer, self._texts, self._most = decoder, tokenizer, texts, most
        self.learned = adapters_of(decoder) or decoder

    def tokens(self, step: int) -> Tokens:
        """Return the tokens of a step's texts."""
        return tokenise(self.tokenizer, self._texts(step), self._most)

    def save(self, folder: Path) -> str:
        """Write the decoder and its tokenizer into `folder` and return the sha256 (hex) of the weights."""
        return save_decoder(folder / DECODER_FOLDER, self.decoder, self.tokenizer)


class NextTokens(DecoderObjective):
    """Cross-entropy of each token given those before it."""

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Predict the tokens of a step; see `Objective.loss`."""
        tokens = self.tokens(step)
        targets = tokens.ids.masked_fill(~tokens.valid, IGNORED)
        loss = predict_tokens(self.decoder, tokens.ids, tokens.valid, targets)[0]
        return loss, {"loss": loss.detach()}


def predict_tokens(decoder: Any, ids: Tensor, valid: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Predict each target from the position before it.

    Args:
        decoder: a decoder of transformers.
        ids: [B, T].
        valid: bool [B, T].
        targets: [B, T], IGNORED where nothing is predicted.

    Returns:
        Mean cross-entropy in nats, and the share of correct predictions.
    """
    device = next(decoder.parameters()).device
    ids, valid, wanted = ids.to(device), valid.to(device), targets[:, 1:].to(device)
    logits = decoder(input_ids=ids, attention_mask=valid.long(), use_cache=False).logits[:, :-1]
    asked = wanted != IGNORED
    logits, wanted = logits[asked].float(), wanted[asked]
    return F.cross_entropy(logits, wanted), (logits.argmax(-1) == wanted).float().mean()


def next_token_figures(
    decoder: Any, tokenizer: Any, held_out: Sequence[str], learned_from: Sequence[str], most: int = 128
) -> dict[str, float]:
    """Measure perplexity on held-out texts, and that of guessing by frequency in the texts learned from."""
    total = count = 0.0
    seen = []
    with evaluating(decoder):
        for some in batches(held_out, _JUDGED):
            tokens = tokenise(tokenizer, some, most)
            targets = tokens.ids.masked_fill(~tokens.valid, IGNORED)
            asked = targets[:, 1:] != IGNORED
            total += predict_tokens(decoder, tokens.ids, tokens.valid, targets)[0].item() * int(asked.sum())
            count += int(asked.sum())
            seen.append(targets[:, 1:][asked])
    nats = unigram_of(tokenizer, learned_from, most).nats(torch.cat(seen))
    return {
        "perplexity": float(torch.tensor(total / count).exp()),
        "unigram_perplexity": float(torch.tensor(nats).exp()),
    }


def unigram_of(tokenizer: Any, texts: Sequence[str], most: int) -> Unigram:
    """Count how often the tokens of texts occur, except the first of each, which nothing predicts."""
    token_batches = [tokenise(tokenizer, some, most) for some in batches(texts, _JUDGED)]
    return Unigram(torch.cat([tokens.ids[:, 1:][tokens.valid[:, 1:]] for tokens in token_batches]), len(tokenizer))
