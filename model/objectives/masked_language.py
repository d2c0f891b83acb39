"""Masked language modelling: predict masked words from the words around them and their layout.

BERT's masking (Devlin et al. 2018, https://arxiv.org/abs/1810.04805, section 3.1) on words with a layout, as in
LayoutLM (Xu et al. 2019, https://arxiv.org/abs/1912.13318, section 3.2): the position stays, the word goes. The first
wordpiece is predicted. The image is not read.
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
    """Shares of masking.

    Attributes:
        share: share of the words that are masked.
        blank: share of these that are hidden.
        random: share of these that are replaced by another word of the batch; the rest is kept.
    """

    share: float = 0.15
    blank: float = 0.8
    random: float = 0.1


@dataclass(frozen=True, slots=True)
class MaskedPages:
    """G pages with words masked."""

    pages: tuple[Example, ...]  # hidden words without text, replaced ones with another
    hidden: tuple[tuple[bool, ...], ...]  # of each page's words: whether it is hidden
    asked: tuple[tuple[int, int], ...]  # (page, word) of each masked word
    words: tuple[str, ...]  # the original texts


class MaskedWordHead(nn.Module):
    """Head from word states to their first wordpiece, tied to the frozen vectors of the pieces."""

    def __init__(self, network: GroundingNetwork, guess: Unigram | None = None) -> None:
        """Build the head; `guess` sets its bias at the start, so that it learns what goes beyond frequency."""
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
        """Compute logits [M, pieces] from states [M, D] and piece vectors [pieces, vector_width]."""
        logits: Tensor = self.project(states) @ piece_vectors.T + self.bias
        return logits


class MaskedWords(NetworkObjective):
    """Cross-entropy of the first wordpiece of masked words; the masks are new at each step."""

    def __init__(
        self, network: GroundingNetwork, source: Source, masking: Masking | None = None, guess: Unigram | None = None
    ) -> None:
        head, stand_in = MaskedWordHead(network, guess), word_mask_token(network)
        super().__init__(network, head=head, stand_in=stand_in)
        self.head, self.stand_in = head, stand_in
        self._source, self._masking = source, masking or Masking()
        self._vocabulary = Vocabulary(network.config.text.buckets)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Predict the masked words of the pages of a step; see `Objective.loss`."""
        masked = mask_words(self._source(step), rng, self._masking)
        logits, wanted = predict_words(self.network, self.head, self.stand_in, masked, self._vocabulary)
        loss = F.cross_entropy(logits, wanted)
        return loss, {"loss": loss.detach(), "accuracy": (logits.argmax(-1) == wanted).float().mean()}

    def figures(self, held_out: Sequence[Example], learned_from: Iterable[Example], seed: int = 0) -> dict[str, float]:
        """Measure the prediction of masked words on held-out pages, with the same masks every time.

        Args:
            held_out: pages to judge on.
            learned_from: pages whose word frequencies give the baseline.
            seed: of the masks.

        Returns:
            Accuracy and cross-entropy (nats), and those of guessing by frequency.
        """
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
    """Return a fresh token for hidden words."""
    return MaskToken(network.text_encoder.embedding.project.out_features)


def mask_words(examples: Sequence[Example], rng: random.Random, masking: Masking) -> MaskedPages:
    """Mask a share of the pages' words, at least one in all.

    Args:
        examples: G pages.
        rng: source of randomness.
        masking: shares.

    Returns:
        The pages without images, and which words are masked.

    Raises:
        ValueError: no page has a word.
    """
    every = [(page, word) for page, example in enumerate(examples) for word in range(len(example.words))]
    if not every:
        raise ValueError("There is no word to mask on these pages.")
    asked = sorted(rng.sample(every, max(1, round(masking.share * len(every)))))
    words = [list(example.words) for example in examples]
    hidden = [[False] * len(own) for own in words]
    for page, word in asked:
        draw = rng.random()
        if draw < masking.blank:  # no text at all: the split into segments would reveal it
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
    """Predict the masked words.

    Args:
        network: reads the pages.
        head: predicts pieces from states.
        stand_in: token for hidden words.
        masked: pages with M masked words.
        vocabulary: ids of words.

    Returns:
        Logits [M, pieces] and the first pieces [M].
    """
    pages = word_batch(network, masked.pages, vocabulary)
    hidden = torch.zeros_like(pages.valid)
    for page, own in enumerate(masked.hidden):
        hidden[page, : len(own)] = torch.tensor(own, dtype=torch.bool)
    states = words_in_context(*with_hidden_words(network, pages, hidden, stand_in))
    rows, columns = torch.tensor(masked.asked, device=states.device).T
    wanted = torch.tensor([int(ids[0]) for ids in vocabulary.pieces(list(masked.words))], device=states.device)
    return head(states[rows, columns], network.text_encoder.embedding.piece_vectors), wanted


def word_batch(network: GroundingNetwork, examples: Sequence[Example], vocabulary: Vocabulary) -> PageBatch:
    """Batch the words of pages without their images, on the network's device."""
    prepared = [prepare_page(one.words, one.size, None, vocabulary, network.config) for one in examples]
    return to_device(batch_pages(prepared), network.text_encoder.embedding.piece_vectors.device)


def words_in_context(network: GroundingNetwork, pages: PageBatch) -> Tensor:
    """Return the text encoder's states of the pages' words, [G, N, D]."""
    states: Tensor = network.text_encoder(pages, network.layout_bias(pages)[: network.config.text.layers])[0]
    return states


def first_pieces(examples: Iterable[Example], vocabulary: Vocabulary, size: int) -> Unigram:
    """Count how often each wordpiece is the first of a word of the pages."""
    words = [word.text for example in examples for word in example.words]
    return Unigram(torch.tensor([int(ids[0]) for ids in vocabulary.pieces(words)], dtype=torch.long), size)
