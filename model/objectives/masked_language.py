"""Masked words: what stands on a page where it cannot be read, from the words around it and where they stand.

BERT's masking (Devlin et al. 2018, https://arxiv.org/abs/1810.04805, section 3.1) on words with a layout, as LayoutLM does
(Xu et al. 2019, https://arxiv.org/abs/1912.13318, section 3.2): the place stays, the word goes. What is foretold is the first
wordpiece. The image is not read.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from model.devices import to_device
from model.examples import Example, Source
from model.inputs import PageBatch, batch_pages, prepare_page
from model.network import GroundingNetwork
from model.objectives.masked_inputs import MaskToken, with_hidden_words
from model.objectives.objective import NetworkObjective
from model.pretraining.text_batches import evaluating
from model.pretraining.unigram import Unigram
from model.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Masking:
    """share: of the words; of these, ``blank`` are hidden and ``random`` replaced by another word of the batch."""

    share: float = 0.15
    blank: float = 0.8
    random: float = 0.1


@dataclass(frozen=True, slots=True)
class MaskedPages:
    """G pages with words masked."""

    pages: tuple[Example, ...]  # as they can be read: hidden words without text, replaced ones with another
    hidden: tuple[tuple[bool, ...], ...]  # of each page's words: is there nothing to read
    asked: tuple[tuple[int, int], ...]  # (page, word) of each masked word
    words: tuple[str, ...]  # what stands there


class MaskedWordHead(nn.Module):
    """States of words to their first wordpiece: tied to the frozen vectors of the pieces, with a bias of its own."""

    def __init__(self, network: GroundingNetwork, guess: Unigram | None = None) -> None:
        """``guess``: what the bias says at the start, so that what is learned goes beyond it."""
        super().__init__()
        pieces, width = network.text_encoder.embedding.piece_vectors.shape
        self.project = nn.Sequential(
            nn.LayerNorm(network.config.width),
            nn.Linear(network.config.width, width),
            nn.GELU(),
            nn.LayerNorm(width),
            nn.Linear(width, width),
        )
        self.bias = nn.Parameter(torch.zeros(pieces) if guess is None else guess.log_shares.clone())

    def forward(self, states: Tensor, piece_vectors: Tensor) -> Tensor:
        """[M, D], [pieces, vector_width] -> logits [M, pieces]."""
        logits: Tensor = self.project(states) @ piece_vectors.T + self.bias
        return logits


class MaskedWords(NetworkObjective):
    """Cross-entropy of the first wordpiece of masked words, on the pages that ``source`` gives; new masks at each step."""

    def __init__(
        self, network: GroundingNetwork, source: Source, masking: Masking | None = None, guess: Unigram | None = None
    ) -> None:
        head, stand_in = MaskedWordHead(network, guess), word_mask_token(network)
        super().__init__(network, head=head, stand_in=stand_in)
        self.head, self.stand_in = head, stand_in
        self._source, self._masking = source, masking or Masking()
        self._vocabulary = Vocabulary(network.config.text.buckets)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        masked = mask_words(self._source(step), rng, self._masking)
        logits, wanted = predict_words(self.network, self.head, self.stand_in, masked, self._vocabulary)
        loss = F.cross_entropy(logits, wanted)
        return loss, {"loss": loss.detach(), "accuracy": (logits.argmax(-1) == wanted).float().mean()}

    def figures(self, held_out: Sequence[Example], learned_from: Iterable[Example], seed: int = 0) -> dict[str, float]:
        """Accuracy and cross-entropy (nats) on masked words of held-out pages, the same masks every time, and those of the
        guess by frequency in the pages learned from."""
        rng, vocabulary = random.Random(seed), self._vocabulary
        unigram = first_pieces(learned_from, vocabulary, len(self.network.text_encoder.embedding.piece_vectors))
        nats, right, asked = [], [], []
        with evaluating(self.learned):
            for page in held_out:
                masked = mask_words([page], rng, self._masking)
                logits, wanted = predict_words(self.network, self.head, self.stand_in, masked, vocabulary)
                nats.append(F.cross_entropy(logits, wanted, reduction="none").cpu())
                right.append((logits.argmax(-1) == wanted).float().cpu())
                asked.append(wanted.cpu())
        return {
            "accuracy": float(torch.cat(right).mean()),
            "nats": float(torch.cat(nats).mean()),
            "unigram_accuracy": unigram.accuracy(torch.cat(asked)),
            "unigram_nats": unigram.nats(torch.cat(asked)),
        }


def word_mask_token(network: GroundingNetwork) -> MaskToken:
    """The vector that takes the place of a hidden word's."""
    return MaskToken(network.text_encoder.embedding.project.out_features)


def mask_words(examples: Sequence[Example], rng: random.Random, masking: Masking) -> MaskedPages:
    """The pages with a share of their words masked, at least one in all. ValueError when no page has a word."""
    every = [(page, word) for page, example in enumerate(examples) for word in range(len(example.words))]
    if not every:
        raise ValueError("There is no word to mask on these pages.")
    asked = sorted(rng.sample(every, max(1, round(masking.share * len(every)))))
    words = [list(example.words) for example in examples]
    hidden = [[False] * len(own) for own in words]
    for page, word in asked:
        draw = rng.random()
        if draw < masking.blank:  # no text at all: even where a line is split into segments would else tell of it
            words[page][word] = replace(words[page][word], text="")
            hidden[page][word] = True
        elif draw < masking.blank + masking.random:
            other_page, other = rng.choice(every)
            words[page][word] = replace(words[page][word], text=examples[other_page].words[other].text)
    return MaskedPages(
        pages=tuple(replace(one, words=tuple(own), image=None) for one, own in zip(examples, words, strict=True)),
        hidden=tuple(tuple(own) for own in hidden),
        asked=tuple(asked),
        words=tuple(examples[page].words[word].text for page, word in asked),
    )


def predict_words(
    network: GroundingNetwork, head: MaskedWordHead, stand_in: MaskToken, masked: MaskedPages, vocabulary: Vocabulary
) -> tuple[Tensor, Tensor]:
    """(logits [M, pieces], first pieces [M]) of the masked words."""
    pages = word_batch(network, masked.pages, vocabulary)
    hidden = torch.zeros_like(pages.valid)
    for page, own in enumerate(masked.hidden):
        hidden[page, : len(own)] = torch.tensor(own, dtype=torch.bool)
    states = words_in_context(*with_hidden_words(network, pages, hidden, stand_in))
    rows, columns = torch.tensor(masked.asked, device=states.device).T
    wanted = torch.tensor([int(ids[0]) for ids in vocabulary.pieces(list(masked.words))], device=states.device)
    return head(states[rows, columns], network.text_encoder.embedding.piece_vectors), wanted


def word_batch(network: GroundingNetwork, examples: Sequence[Example], vocabulary: Vocabulary) -> PageBatch:
    """The words of pages, without their images, where the network is."""
    prepared = [prepare_page(one.words, one.size, None, vocabulary, network.config) for one in examples]
    return to_device(batch_pages(prepared), network.text_encoder.embedding.piece_vectors.device)


def words_in_context(network: GroundingNetwork, pages: PageBatch) -> Tensor:
    """[G, N, D]: what the text encoder makes of the words of pages."""
    states: Tensor = network.text_encoder(pages, network.layout_bias(pages)[: network.config.text.layers])[0]
    return states


def first_pieces(examples: Iterable[Example], vocabulary: Vocabulary, size: int) -> Unigram:
    """How often each wordpiece is the first of a word of pages."""
    words = [word.text for example in examples for word in example.words]
    return Unigram(torch.tensor([int(ids[0]) for ids in vocabulary.pieces(words)], dtype=torch.long), size)
