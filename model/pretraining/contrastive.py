"""Learn sentence vectors by unsupervised contrast (SimCSE).

Two readings of a sentence with dropout should match each other and no other sentence. Gao et al. 2021, SimCSE
(https://arxiv.org/abs/2104.08821), section 3, as the third step of LLM2Vec (https://arxiv.org/abs/2404.05961,
section 2.3 and appendix D): dropout .3, similarities times 20, mean pooling.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.pretraining.decoder import DecoderObjective
from model.pretraining.similarity import alignment, uniformity
from model.pretraining.text_batches import Texts, batches, evaluating, mean_pool, tokenise

DROPOUT, SCALE = 0.3, 20.0
_JUDGED = 32  # sentences at once


class SentenceContrast(DecoderObjective):
    """Cross-entropy of finding each sentence's second reading among those of its batch.

    It sets the dropout of `decoder` to `dropout` in this process; a saved decoder keeps its original dropout.
    """

    def __init__(
        self,
        decoder: Any,
        tokenizer: Any,
        texts: Texts,
        most: int = 128,
        dropout: float = DROPOUT,
        scale: float = SCALE,
    ) -> None:
        super().__init__(decoder, tokenizer, texts, most)
        self._scale = scale
        set_dropout(decoder, dropout)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Read the sentences of a step twice and compare; see `Objective.loss`."""
        self.decoder.train()  # the whole decoder: the loop sets only adapters to training, but dropout is outside them
        tokens = self.tokens(step)
        ids, valid = tokens.ids.to(self.device), tokens.valid.to(self.device)
        first, second = encode_texts(self.decoder, ids.repeat(2, 1), valid.repeat(2, 1)).chunk(2)
        scores = self._scale * F.normalize(first, dim=-1) @ F.normalize(second, dim=-1).T
        own = torch.arange(len(ids), device=self.device)
        loss = F.cross_entropy(scores, own)
        return loss, {"loss": loss.detach(), "found": (scores.argmax(-1) == own).float().mean()}


def set_dropout(decoder: nn.Module, share: float) -> None:
    """Set every dropout of a decoder, also inside attention.

    Args:
        decoder: changed in place.
        share: probability of dropping a value, 0..1.

    Raises:
        ValueError: the decoder has no dropout.
    """
    has_dropout = False
    for module in decoder.modules():
        if isinstance(module, nn.Dropout):
            module.p, has_dropout = share, True
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout, has_dropout = share, True  # type: ignore[assignment]  # torch types every attribute of a module as Tensor or Module
    if not has_dropout:
        raise ValueError(f"{type(decoder).__name__} has no dropout, so a sentence read twice would be the same.")


def encode_texts(decoder: Any, ids: Tensor, valid: Tensor) -> Tensor:
    """Encode texts as the mean of their last states: ids and valid [B, T] -> [B, D]."""
    states = decoder.base_model(input_ids=ids, attention_mask=valid.long(), use_cache=False).last_hidden_state
    return mean_pool(states.float(), valid)


def sentence_vectors(decoder: Any, tokenizer: Any, sentences: Sequence[str], most: int = 128) -> Tensor:
    """Encode sentences without dropout, [S, D], on the CPU; each is cut to `most` tokens."""
    device = next(decoder.parameters()).device
    order = sorted(range(len(sentences)), key=lambda at: len(sentences[at]))  # a batch is padded to its longest
    vectors = []
    with evaluating(decoder):
        for some in batches(order, _JUDGED):
            tokens = tokenise(tokenizer, [sentences[at] for at in some], most)
            vectors.append(encode_texts(decoder, tokens.ids.to(device), tokens.valid.to(device)).cpu())
    return torch.cat(vectors)[torch.tensor(order).argsort()]


def contrast_figures(decoder: Any, tokenizer: Any, sentences: Sequence[str], most: int = 128) -> dict[str, float]:
    """Measure alignment and uniformity of held-out sentences; lower is better for both.

    Alignment compares two readings with the dropout that the decoder has now: set the same before comparing. Uniformity
    is measured without dropout.
    """
    device, sentences = next(decoder.parameters()).device, sorted(sentences, key=len)
    torch.manual_seed(0)
    twice: tuple[list[Tensor], list[Tensor]] = ([], [])
    before = decoder.training
    decoder.train()
    with torch.no_grad():
        for some in batches(sentences, _JUDGED):
            tokens = tokenise(tokenizer, some, most)
            for readings in twice:
                readings.append(encode_texts(decoder, tokens.ids.to(device), tokens.valid.to(device)).cpu())
    decoder.train(before)
    return {
        "alignment": alignment(torch.cat(twice[0]), torch.cat(twice[1])),
        "uniformity": uniformity(sentence_vectors(decoder, tokenizer, sentences, most)),
    }
