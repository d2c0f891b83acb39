"""Learning to foretell the next token, and what all objectives that learn a decoder share."""

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
IGNORED = -100  # a target that is not asked for
_JUDGED = 16  # texts at once


class DecoderObjective(Objective):
    """An objective whose outcome is a decoder in DECODER_FOLDER. Learned: its adapters where it has any, else all of it."""

    def __init__(self, decoder: Any, tokenizer: Any, texts: Texts, most: int = 128) -> None:
        self.decoder, self.tokenizer, self._texts, self._most = decoder, tokenizer, texts, most
        self.learned = adapters_of(decoder) or decoder

    def tokens(self, step: int) -> Tokens:
        """The texts of a step."""
        return tokenise(self.tokenizer, self._texts(step), self._most)

    def save(self, folder: Path) -> str:
        return save_decoder(folder / DECODER_FOLDER, self.decoder, self.tokenizer)


class NextTokens(DecoderObjective):
    """Cross-entropy of each token given those before it."""

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        tokens = self.tokens(step)
        targets = tokens.ids.masked_fill(~tokens.valid, IGNORED)
        loss = predict_tokens(self.decoder, tokens.ids, tokens.valid, targets)[0]
        return loss, {"loss": loss.detach()}


def predict_tokens(decoder: Any, ids: Tensor, valid: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """Targets [B, T], IGNORED where nothing is asked, each foretold from the place before it: (mean cross-entropy, share right)."""
    device = next(decoder.parameters()).device
    ids, valid, wanted = ids.to(device), valid.to(device), targets[:, 1:].to(device)
    logits = decoder(input_ids=ids, attention_mask=valid.long(), use_cache=False).logits[:, :-1]
    asked = wanted != IGNORED
    logits, wanted = logits[asked].float(), wanted[asked]
    return F.cross_entropy(logits, wanted), (logits.argmax(-1) == wanted).float().mean()


def next_token_figures(
    decoder: Any, tokenizer: Any, held_out: Sequence[str], learned_from: Sequence[str], most: int = 128
) -> dict[str, float]:
    """Perplexity on held-out texts, and that of the guess by frequency in the texts learned from."""
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
    """How often the tokens of texts occur; what begins a text is not counted, since nothing foretells it."""
    found = [tokenise(tokenizer, some, most) for some in batches(texts, _JUDGED)]
    return Unigram(torch.cat([tokens.ids[:, 1:][tokens.valid[:, 1:]] for tokens in found]), len(tokenizer))
