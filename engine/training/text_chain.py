"""The whole text chain, small, from nothing: a decoder, made bidirectional, that teaches the text encoder.

decoder from scratch -> bidirectional -> masked next tokens -> sentence contrast -> distilled text encoder -> masked words
on pages. Beside the decoder as a teacher stands MiniLM, at the same budget. Every link prints the figures that show what it
learned; a chain that was interrupted goes on where it was.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from engine.synthetic import generate
from engine.training.examples import example_of, synthetic_source
from engine.training.texts import Corpus, passages_of, sentence_pairs, sentences_of, text_source
from model import checkpoint
from model.examples import Example
from model.learning import Plan, learn
from model.network import GroundingNetwork
from model.objectives.masked_language import MaskedWords, first_pieces
from model.objectives.objective import CHECKPOINT_FILE, Objective
from model.presets import NetworkConfig
from model.pretraining import teachers
from model.pretraining.bidirectional import make_bidirectional
from model.pretraining.contrastive import DROPOUT, SentenceContrast, contrast_figures, sentence_vectors, set_dropout
from model.pretraining.decoder import DECODER_FOLDER, NextTokens, next_token_figures
from model.pretraining.decoder_files import load_decoder
from model.pretraining.distillation import Distillation, student_vectors
from model.pretraining.masked_next_token import MaskedNextTokens, masked_token_figures
from model.pretraining.similarity import agreement
from model.pretraining.small_decoder import DecoderSize, small_decoder, small_tokenizer
from model.pretraining.token_vectors import reduced_vectors
from model.vocabulary import Vocabulary

FIGURES_FILE = "figures.json"
LINKS = ("decoder", "masked_next_token", "contrast", "distil_decoder", "distil_minilm", "words_decoder", "words_minilm")
Figures = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainPlan:
    """Steps of each link, texts a step, and what the figures are taken from."""

    seed: int = 0
    decoder_steps: int = 600
    masked_steps: int = 300
    contrast_steps: int = 100
    distil_steps: int = 300  # of either teacher
    page_steps: int = 200
    passages: int = 8  # a step
    sentences: int = 32  # a step: of the contrast, and of distillation
    pages: int = 4
    size: DecoderSize = field(default_factory=DecoderSize)
    judged: int = 100  # held-out passages
    pairs: int = 400  # of held-out sentences
    judged_pages: int = 60
    counted_pages: int = 400  # whose words make the guess by frequency


class Chain:
    """One run of the chain in ``folder``, link by link. What a link starts from is what the one before it left there."""

    def __init__(
        self,
        folder: Path,
        config: NetworkConfig,
        corpus: Corpus,
        plan: ChainPlan,
        *,
        minilm: Path,
        on_metrics: Callable[[str, Mapping[str, float]], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        """minilm: folder of all-MiniLM-L6-v2."""
        self._folder, self._config, self._plan, self._minilm = folder, config, plan, minilm
        self._on_metrics, self._cancelled = on_metrics, cancelled
        self._passages = passages_of(corpus.training)
        self._sentences = sentences_of(corpus.training)
        self._judged = passages_of(corpus.held_out)[: plan.judged]
        drawn = sentence_pairs(corpus.held_out, plan.seed, plan.pairs)
        self._compared = sorted({sentence for pair in drawn for sentence in pair})
        places = {sentence: place for place, sentence in enumerate(self._compared)}
        self._pairs = [(places[one], places[other]) for one, other in drawn]
        self._teacher = teachers.minilm(minilm)

    def run(
        self, on_figures: Callable[[str, Mapping[str, Figures]], None] | None = None
    ) -> dict[str, dict[str, Figures]]:
        """All links that are not done yet; returns link -> "before", "after" -> figures. ValueError when ``folder`` holds
        another chain."""
        self._folder.mkdir(parents=True, exist_ok=True)
        found = self._remembered()
        for name in LINKS:
            if name not in found["links"]:
                figures = getattr(self, f"_{name}")()
                if figures is None:  # cancelled
                    break
                found["links"][name] = figures
                _write(self._folder / FIGURES_FILE, found)
            if on_figures is not None:
                on_figures(name, found["links"][name])
        links: dict[str, dict[str, Figures]] = found["links"]
        return links

    def _decoder(self) -> dict[str, Figures] | None:
        tokenizer = small_tokenizer(self._passages, self._plan.size.pieces)
        torch.manual_seed(self._plan.seed)
        decoder = small_decoder(tokenizer, self._plan.size)
        texts = text_source(self._passages, self._plan.seed, self._plan.passages)
        return self._link(
            "decoder",
            NextTokens(decoder, tokenizer, texts),
            self._plan.decoder_steps,
            3e-3,
            lambda: next_token_figures(decoder, tokenizer, self._judged, self._passages),
        )

    def _masked_next_token(self) -> dict[str, Figures] | None:
        decoder, tokenizer = load_decoder(self._folder / "decoder" / DECODER_FOLDER)
        make_bidirectional(decoder)
        texts = text_source(self._passages, self._plan.seed + 1, self._plan.passages)
        return self._link(
            "masked_next_token",
            MaskedNextTokens(decoder, tokenizer, texts),
            self._plan.masked_steps,
            1e-3,
            lambda: masked_token_figures(decoder, tokenizer, self._judged, self._passages),
        )

    def _contrast(self) -> dict[str, Figures] | None:
        decoder, tokenizer = load_decoder(self._folder / "masked_next_token" / DECODER_FOLDER)
        texts = text_source(self._sentences, self._plan.seed + 2, self._plan.sentences)

        def figures() -> Figures:
            set_dropout(decoder, DROPOUT)
            vectors = sentence_vectors(decoder, tokenizer, self._compared)
            return {
                **contrast_figures(decoder, tokenizer, self._compared),
                "agreement_with_minilm": agreement(vectors, self._teacher.vectors(self._compared), self._pairs),
            }

        return self._link(
            "contrast", SentenceContrast(decoder, tokenizer, texts), self._plan.contrast_steps, 2e-4, figures
        )

    def _distil_decoder(self) -> dict[str, Figures] | None:
        return self._distil("distil_decoder", teachers.from_decoder(self._folder / "contrast" / DECODER_FOLDER))

    def _distil_minilm(self) -> dict[str, Figures] | None:
        return self._distil("distil_minilm", self._teacher)

    def _distil(self, name: str, teacher: teachers.Teacher) -> dict[str, Figures] | None:
        network = fresh_network(self._config, self._minilm, self._plan.seed)
        texts = text_source(self._sentences, self._plan.seed + 3, self._plan.sentences)

        def figures() -> Figures:
            vectors = student_vectors(network, self._compared)
            return {
                "agreement_with_teacher": agreement(vectors, teacher.vectors(self._compared), self._pairs),
                "agreement_with_minilm": agreement(vectors, self._teacher.vectors(self._compared), self._pairs),
            }

        return self._link(name, Distillation(network, teacher, texts), self._plan.distil_steps, 6e-3, figures)

    def _words_decoder(self) -> dict[str, Figures] | None:
        return self._masked_words("words_decoder", "distil_decoder")

    def _words_minilm(self) -> dict[str, Figures] | None:
        return self._masked_words("words_minilm", "distil_minilm")

    def _masked_words(self, name: str, start: str) -> dict[str, Figures] | None:
        plan = self._plan
        network = fresh_network(self._config, self._minilm, plan.seed)
        network.load_state_dict(checkpoint.load(self._folder / start / CHECKPOINT_FILE).state)
        counted, judged = pages(plan.seed + 4, plan.counted_pages), pages(plan.seed + 5_000_000, plan.judged_pages)
        pieces = len(network.text_encoder.embedding.piece_vectors)
        guess = first_pieces(counted, Vocabulary(self._config.text.buckets), pieces)
        torch.manual_seed(plan.seed)
        objective = MaskedWords(network, synthetic_source(plan.seed + 6, pages=plan.pages, questions=1), guess=guess)
        return self._link(name, objective, plan.page_steps, 3e-3, lambda: objective.figures(judged, counted))

    def _link(
        self, name: str, objective: Objective, steps: int, rate: float, figures: Callable[[], Figures]
    ) -> dict[str, Figures] | None:
        """Learns one link from where it was left; None when cancelled."""
        folder = self._folder / name
        kept = folder / "before.json"
        before: Figures = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else figures()
        folder.mkdir(exist_ok=True)
        _write(kept, before)
        trained = [parameter for parameter in objective.learned.parameters() if parameter.requires_grad]
        outcome = learn(
            objective,
            torch.optim.AdamW(trained, rate, weight_decay=0.02),
            Plan(steps=steps, seed=self._plan.seed, warmup=max(1, steps // 10), checkpoint_every=max(50, steps // 4)),
            folder=folder,
            resume=True,
            on_metrics=lambda values: self._on_metrics(name, values) if self._on_metrics else None,
            cancelled=self._cancelled,
        )
        return None if outcome.cancelled else {"before": before, "after": figures()}

    def _remembered(self) -> dict[str, Any]:
        path = self._folder / FIGURES_FILE
        plan = {"plan": asdict(self._plan), "config": self._config.to_dict()}
        plan = json.loads(json.dumps(plan))  # tuples as lists, as they come back
        if not path.is_file():
            _write(path, fresh := {**plan, "links": {}})
            return fresh
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if any(found[part] != plan[part] for part in plan):
            raise ValueError(f"{self._folder} holds a chain with another plan; choose another folder.")
        return found


def fresh_network(config: NetworkConfig, minilm: Path, seed: int) -> GroundingNetwork:
    """A network with random weights and the vectors of MiniLM's wordpieces, reduced."""
    torch.manual_seed(seed)
    network = GroundingNetwork(config)
    network.text_encoder.embedding.piece_vectors.copy_(reduced_vectors(minilm, config.text.vector_width))
    return network


def pages(seed: int, count: int) -> list[Example]:
    """Generated pages with words, without questions and pictures."""
    drawn = (one.page for one in generate(seed) if one.page.words)
    return [example_of(page, None, ()) for page in islice(drawn, count)]


def _write(path: Path, values: Mapping[str, Any]) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_text(json.dumps(values, indent=1), encoding="utf-8")
    temporary.replace(path)
