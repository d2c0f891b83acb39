"""Masked language modelling: predict masked words from the words around them and their layout.

BERT's masking (Devlin et al. 2018, https://arxiv.org/abs/1810.04805, section 3.1) on words with a layout, as in
LayoutLM (Xu et al. 2019, https://arxiv.org/abs/1912.13318, section 3.2): the position stays, the word goes. A word is
always hidden as a whole. Its first wordpiece is predicted, or all of them. The image is not read.
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
from model.layout import read_layout
from model.network import GroundingNetwork
from model.objectives.masked_inputs import MaskToken, with_hidden_words
from model.objectives.objective import NetworkObjective
from model.objectives.span_masking import draw_spans
from model.pretraining.text_batches import evaluating
from model.pretraining.unigram import Unigram
from model.vocabulary import MOST_PIECES, Vocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class Masking:
    """Shares of masking.

    Attributes:
        share: share of the words that are masked.
        blank: share of these that are hidden.
        random: share of these that are replaced by another word of the batch; the rest is kept.
        span_stop: parameter of the geometric lengths of masked spans of a line (`span_masking`); 1 masks single words,
            SpanBERT has .2. A span is hidden, replaced or kept as a whole.
        longest_span: words.
        all_pieces: predict all wordpieces of a masked word, as whole-word masking of BERT does, not the first alone.
            `MaskedWords` alone knows it.
    """

    share: float = 0.15
    blank: float = 0.8
    random: float = 0.1
    span_stop: float = 1.0
    longest_span: int = 10
    all_pieces: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.span_stop <= 1 or self.longest_span < 1:
            raise ValueError("A masked span needs a stop above 0 and at most 1, and a length of at least one word.")


@dataclass(frozen=True, slots=True)
class MaskedPages:
    """G pages with words masked."""

    pages: tuple[Example, ...]  # hidden words without text, replaced ones with another
    hidden: tuple[tuple[bool, ...], ...]  # of each page's words: whether it is hidden
    asked: tuple[tuple[int, int], ...]  # (page, word) of each masked word
    words: tuple[str, ...]  # the original texts


class MaskedWordHead(nn.Module):
    """Head from word states to their wordpieces, tied to the frozen vectors of the pieces.

    Later pieces differ from the first by a learned vector of their place, added to the word's state.
    """

    def __init__(self, network: GroundingNetwork, guess: Unigram | None = None, places: int = 1) -> None:
        """Build the head for the first `places` pieces of a word.

        `guess` sets its bias at the start, so that it learns what goes beyond frequency.
        """
        super().__init__()
        self.places = nn.Parameter(torch.empty(places - 1, network.config.width).normal_()) if places > 1 else None
        pieces, width = network.text_encoder.embedding.piece_vectors.shape
        self.project = nn.Sequential(
            nn.LayerNorm(network.config.width),
            nn.Linear(network.config.width, width),
            nn.GELU(),
            nn.LayerNorm(width),
            nn.Linear(width, width),
        )
        self.bias = nn.Parameter(torch.zeros(pieces) if guess is None else guess.log_shares.clone())

    def forward(self, states: Tensor, piece_vectors: Tensor, places: Tensor | None = None) -> Tensor:
        """Compute logits [M, pieces].

        Args:
            states: of words, [M, D].
            piece_vectors: [pieces, vector_width].
            places: of the piece to predict in its word, from 0, [M]; None: the first.
        """
        if places is not None and self.places is not None:
            states = states + F.pad(self.places, (0, 0, 1, 0))[places]
        logits: Tensor = self.project(states) @ piece_vectors.T + self.bias
        return logits


class MaskedWords(NetworkObjective):
    """Cross-entropy of the wordpieces of masked words; the masks are new at each step.

    The `accuracy` of the log is that of first pieces. With `Masking.all_pieces` the log has `words`, too: the share of
    masked words of which every piece is right.
    """

    def __init__(
        self, network: GroundingNetwork, source: Source, masking: Masking | None = None, guess: Unigram | None = None
    ) -> None:
        masking = masking or Masking()
        head = MaskedWordHead(network, guess, MOST_PIECES if masking.all_pieces else 1)
        stand_in = word_mask_token(network)
        super().__init__(network, head=head, stand_in=stand_in)
        self.head, self.stand_in = head, stand_in
        self._source, self._masking = source, masking
        self._vocabulary = Vocabulary(network.config.text.buckets)

    def loss(self, step: int, rng: random.Random) -> tuple[Tensor, Mapping[str, Tensor]]:
        """Predict the masked words of the pages of a step; see `Objective.loss`."""
        masked = mask_words(self._source(step), rng, self._masking)
        if not self._masking.all_pieces:
            logits, wanted = predict_words(self.network, self.head, self.stand_in, masked, self._vocabulary)
            loss = F.cross_entropy(logits, wanted)
            return loss, {"loss": loss.detach(), "accuracy": (logits.argmax(-1) == wanted).float().mean()}
        predicted = predict_pieces(self.network, self.head, self.stand_in, masked, self._vocabulary)
        loss = F.cross_entropy(predicted.logits, predicted.wanted)
        return loss, {
            "loss": loss.detach(),
            "accuracy": predicted.right()[predicted.places == 0].mean(),
            "words": predicted.words(),
        }

    def figures(self, held_out: Sequence[Example], learned_from: Iterable[Example], seed: int = 0) -> dict[str, float]:
        """Measure the prediction of masked words on held-out pages, with the same masks every time.

        The masks are BERT's, of single words, whatever was trained with: figures of different maskings compare.

        Args:
            held_out: pages to judge on.
            learned_from: pages whose word frequencies give the baseline.
            seed: of the masks.

        Returns:
            Accuracy and cross-entropy (nats) of first pieces, and those of guessing by frequency. With
            `Masking.all_pieces`, too, `whole_words`: the share of words of which every piece is right; and
            `pieces_nats`: the cross-entropy of all pieces.
        """
        rng, vocabulary = random.Random(seed), self._vocabulary
        unigram = first_pieces(learned_from, vocabulary, len(self.network.text_encoder.embedding.piece_vectors))
        nats, right, asked, whole, every = [], [], [], [], []
        with evaluating(self.learned):
            for page in held_out:
                masked = mask_words([page], rng, Masking())
                predicted = predict_pieces(self.network, self.head, self.stand_in, masked, vocabulary)
                first = predicted.places == 0
                logits, wanted = predicted.logits[first], predicted.wanted[first]
                whole.append(predicted.whole().cpu())
                every.append(F.cross_entropy(predicted.logits, predicted.wanted, reduction="none").cpu())
                nats.append(F.cross_entropy(logits, wanted, reduction="none").cpu())
                right.append((logits.argmax(-1) == wanted).float().cpu())
                asked.append(wanted.cpu())
        pieces = {"whole_words": float(torch.cat(whole).mean()), "pieces_nats": float(torch.cat(every).mean())}
        return {
            **(pieces if self._masking.all_pieces else {}),
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
    count = max(1, round(masking.share * len(every)))
    if masking.span_stop < 1:
        spans = draw_spans(_lines(examples), count, rng, masking.span_stop, masking.longest_span)
    else:
        spans = [[place] for place in sorted(rng.sample(every, count))]
    words = [list(example.words) for example in examples]
    hidden = [[False] * len(own) for own in words]
    for page, word, draw in ((*place, draw) for span in spans for draw in [rng.random()] for place in span):
        if draw < masking.blank:  # no text at all: the split into segments would reveal it
            words[page][word] = replace(words[page][word], text="")
            hidden[page][word] = True
        elif draw < masking.blank + masking.random:
            other_page, other_word = rng.choice(every)
            words[page][word] = replace(words[page][word], text=examples[other_page].words[other_word].text)
    asked = sorted(place for span in spans for place in span)
    return MaskedPages(
        pages=tuple(
            replace(example, words=tuple(own), image=None) for example, own in zip(examples, words, strict=True)
        ),
        hidden=tuple(tuple(own) for own in hidden),
        asked=tuple(asked),
        words=tuple(examples[page].words[word].text for page, word in asked),
    )


def _lines(examples: Sequence[Example]) -> list[list[tuple[int, int]]]:
    """Return the words of each line of the pages from left to right, as (page, word)."""
    lines: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for page, example in enumerate(examples):
        layout = read_layout(example.words)
        for word in layout.order.tolist():
            lines.setdefault((page, int(layout.line[word])), []).append((page, word))
    return list(lines.values())


@dataclass(frozen=True, slots=True)
class PredictedPieces:
    """Predictions of P wordpieces of masked words."""

    logits: Tensor  # [P, pieces]
    wanted: Tensor  # [P] the pieces
    rows: Tensor  # [P] index among the masked words
    places: Tensor  # [P] index of the piece in its word

    def right(self) -> Tensor:
        """Return which pieces are predicted, 0 or 1, [P]."""
        return (self.logits.argmax(-1) == self.wanted).float()

    def whole(self) -> Tensor:
        """Return of which masked words every piece is predicted, 0 or 1, [M]."""
        count = int(self.rows.max()) + 1
        return torch.ones(count, device=self.rows.device).scatter_reduce(0, self.rows, self.right(), "amin")

    def words(self) -> Tensor:
        """Return the share of masked words of which every piece is predicted."""
        return self.whole().mean()


def predict_pieces(
    network: GroundingNetwork, head: MaskedWordHead, stand_in: MaskToken, masked: MaskedPages, vocabulary: Vocabulary
) -> PredictedPieces:
    """Predict all wordpieces of the masked words that `head` has places for; see `predict_words`."""
    states = masked_states(network, stand_in, masked, vocabulary)
    most = 1 if head.places is None else len(head.places) + 1
    pieces = [ids[:most].tolist() for ids in vocabulary.pieces(list(masked.words))]
    rows, places, wanted = torch.tensor(
        [(row, place, piece) for row, ids in enumerate(pieces) for place, piece in enumerate(ids)], device=states.device
    ).T
    logits = head(states[rows], network.text_encoder.embedding.piece_vectors, places)
    return PredictedPieces(logits, wanted, rows, places)


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
    states = masked_states(network, stand_in, masked, vocabulary)
    wanted = torch.tensor([int(ids[0]) for ids in vocabulary.pieces(list(masked.words))], device=states.device)
    return head(states, network.text_encoder.embedding.piece_vectors), wanted


def masked_states(
    network: GroundingNetwork, stand_in: MaskToken, masked: MaskedPages, vocabulary: Vocabulary
) -> Tensor:
    """Return the states of the M masked words, [M, D]."""
    pages = word_batch(network, masked.pages, vocabulary)
    hidden = torch.zeros_like(pages.valid)
    for page, own in enumerate(masked.hidden):
        hidden[page, : len(own)] = torch.tensor(own, dtype=torch.bool)
    states = words_in_context(*with_hidden_words(network, pages, hidden, stand_in))
    rows, columns = torch.tensor(masked.asked, device=states.device).T
    return states[rows, columns]


def word_batch(network: GroundingNetwork, examples: Sequence[Example], vocabulary: Vocabulary) -> PageBatch:
    """Batch the words of pages without their images, on the network's device."""
    prepared = [prepare_page(example.words, example.size, None, vocabulary, network.config) for example in examples]
    return to_device(batch_pages(prepared), network.text_encoder.embedding.piece_vectors.device)


def words_in_context(network: GroundingNetwork, pages: PageBatch) -> Tensor:
    """Return the text encoder's states of the pages' words, [G, N, D]."""
    states: Tensor = network.text_encoder(pages, network.layout_bias(pages)[: network.config.text.layers])[0]
    return states


def first_pieces(examples: Iterable[Example], vocabulary: Vocabulary, size: int) -> Unigram:
    """Count how often each wordpiece is the first of a word of the pages."""
    words = [word.text for example in examples for word in example.words]
    return Unigram(torch.tensor([int(ids[0]) for ids in vocabulary.pieces(words)], dtype=torch.long), size)
