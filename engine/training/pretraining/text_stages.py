"""Text stages of pretraining: a bidirectional decoder as the text encoder's teacher, and masked words.

The decoder follows LLM2Vec (https://arxiv.org/abs/2404.05961). Each decoder stage continues the previous one's output
in the run's folder; without any, it uses the named decoder, else a small one from random weights. `distill` takes the
last of them as teacher, else the named decoder, else the sentence encoder MiniLM.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, cast

import torch

from engine.training.pretraining.pretraining_stage import PretrainingStage, StageInputs, at_rate
from engine.training.pretraining.question_keys import question_key_figures
from engine.training.pretraining.texts import (
    Corpus,
    Document,
    passages_of,
    python_corpus,
    sentence_pairs,
    sentences_of,
    text_source,
)
from engine.training.sources.examples import example_of, synthetic_source
from engine.training.sources.page_supply import GENERATED, Pages
from model.examples import Example
from model.objectives.masked_language import MaskedWords, Masking, first_pieces
from model.objectives.objective import Objective
from model.pretraining import teachers
from model.pretraining.bidirectional import make_bidirectional
from model.pretraining.contrastive import SentenceContrast, contrast_figures, sentence_vectors
from model.pretraining.decoder import DECODER_FOLDER, DecoderObjective, NextTokens, next_token_figures
from model.pretraining.decoder_files import load_decoder
from model.pretraining.distillation import Distillation, student_vectors
from model.pretraining.lora import adapt
from model.pretraining.masked_next_token import MaskedNextTokens, masked_token_figures
from model.pretraining.similarity import agreement
from model.pretraining.small_decoder import DecoderSize, small_decoder, small_tokenizer
from model.vocabulary import Vocabulary

DECODER_STAGES = ("decoder", "bidirectional", "contrast")
_PASSAGES, _SENTENCES = 8, 32  # a step
_LARGE = 100_000_000  # parameters of a decoder above which adapters are trained instead
_JUDGED, _PAIRS = 100, 400
_COUNTED_PAGES, _JUDGED_PAGES = 400, 60
_PAGES_SEED = 9_999_991
_SPANS = Masking(span_stop=0.2, all_pieces=True)  # SpanBERT's spans, https://arxiv.org/abs/1907.10529, section 3.1


def _texts(around: StageInputs) -> Corpus:
    """Return the documents of all text stages but `mlm` and `spans`, which read pages."""
    return python_corpus() if around.corpus is None else around.corpus.texts


def _decoder_before(around: StageInputs, stage: str) -> tuple[Any, Any] | None:
    """Return the output of the nearest earlier decoder stage; None without one."""
    for name in reversed(DECODER_STAGES[: DECODER_STAGES.index(stage)]):
        folder = around.folder / name / DECODER_FOLDER
        if folder.is_dir():
            return load_decoder(folder)
    return None


def _decoder_for(around: StageInputs, stage: str) -> tuple[Any, Any]:
    loaded = _decoder_before(around, stage)
    if loaded is None and around.decoder is not None:
        loaded = load_decoder(around.decoder)
    if loaded is not None:
        decoder, tokenizer = loaded[0].to(next(around.network.parameters()).device), loaded[1]
        if sum(parameter.numel() for parameter in decoder.parameters()) > _LARGE:
            adapt(decoder)
        return decoder, tokenizer
    tokenizer = small_tokenizer(passages_of(_texts(around).training), DecoderSize().pieces)
    torch.manual_seed(around.seed)
    return small_decoder(tokenizer, DecoderSize()).to(next(around.network.parameters()).device), tokenizer


def _next_tokens(around: StageInputs) -> Objective:
    decoder, tokenizer = _decoder_for(around, "decoder")
    return NextTokens(decoder, tokenizer, text_source(passages_of(_texts(around).training), around.seed, _PASSAGES))


def _masked_next_tokens(around: StageInputs) -> Objective:
    decoder, tokenizer = _decoder_for(around, "bidirectional")
    make_bidirectional(decoder)
    texts = text_source(passages_of(_texts(around).training), around.seed, _PASSAGES)
    return MaskedNextTokens(decoder, tokenizer, texts)


def _contrast(around: StageInputs) -> Objective:
    decoder, tokenizer = _decoder_for(around, "contrast")
    make_bidirectional(decoder)
    return SentenceContrast(
        decoder, tokenizer, text_source(sentences_of(_texts(around).training), around.seed, _SENTENCES)
    )


def _contrast_figures(around: StageInputs, objective: Objective) -> Mapping[str, float]:
    """Return alignment, uniformity, and the agreement with MiniLM, which is not its teacher."""
    learned, (sentences, pairs) = cast(DecoderObjective, objective), _draw_sentence_pairs(_texts(around).held_out)
    vectors = sentence_vectors(learned.decoder, learned.tokenizer, sentences)
    minilm_vectors = teachers.minilm(around.teacher).vectors(sentences)
    figures = contrast_figures(learned.decoder, learned.tokenizer, sentences)
    return {**figures, "agreement_with_minilm": agreement(vectors, minilm_vectors, pairs), **_question_keys(objective)}


def _question_keys(objective: Objective) -> Mapping[str, float]:
    learned = cast(DecoderObjective, objective)
    return question_key_figures(lambda texts: sentence_vectors(learned.decoder, learned.tokenizer, texts))


def _decoder_figures(around: StageInputs, objective: Objective, stage: str) -> Mapping[str, float]:
    learned, corpus = cast(DecoderObjective, objective), _texts(around)
    judged, seen = passages_of(corpus.held_out)[:_JUDGED], passages_of(corpus.training)
    if not judged:
        raise ValueError("The corpus has no text that is held out to judge by. Name more folders.")
    if stage == "decoder":
        return next_token_figures(learned.decoder, learned.tokenizer, judged, seen)
    figures = masked_token_figures(learned.decoder, learned.tokenizer, judged, seen)
    return {**figures, **_question_keys(objective)}


def _teacher(around: StageInputs) -> teachers.Teacher:
    folders = (around.folder / name / DECODER_FOLDER for name in reversed(DECODER_STAGES))
    named: Path | str | None = next((folder for folder in folders if folder.is_dir()), around.decoder)
    device = next(around.network.parameters()).device
    if named is None:
        return teachers.minilm(around.teacher, device)
    decoder, tokenizer = load_decoder(named)
    return teachers.of_decoder(make_bidirectional(decoder).to(device), tokenizer)


def _distillation(around: StageInputs) -> Objective:
    texts = text_source(sentences_of(_texts(around).training), around.seed, _SENTENCES)
    return Distillation(around.network, _teacher(around), texts)


def _agreement(around: StageInputs, objective: Objective) -> Mapping[str, float]:
    """Return the agreement of student and teacher on held-out sentence pairs, and the student's question keys."""
    sentences, pairs = _draw_sentence_pairs(_texts(around).held_out)
    vectors = student_vectors(around.network, sentences)
    own, minilm = cast(Distillation, objective).teacher, teachers.minilm(around.teacher)
    others = {"agreement_with_teacher": own, "agreement_with_minilm": minilm}
    figures = {name: agreement(vectors, teacher.vectors(sentences), pairs) for name, teacher in others.items()}
    return {**figures, **question_key_figures(lambda texts: student_vectors(around.network, texts))}


@lru_cache(maxsize=1)
def _draw_sentence_pairs(held_out: tuple[Document, ...]) -> tuple[list[str], list[tuple[int, int]]]:
    """Return held-out sentences, and the pairs to compare."""
    drawn = sentence_pairs(held_out, 0, _PAIRS)
    sentences = sorted({sentence for pair in drawn for sentence in pair})
    places = {sentence: place for place, sentence in enumerate(sentences)}
    return sentences, [(places[first], places[second]) for first, second in drawn]


def _masked_words(around: StageInputs, masking: Masking | None = None) -> Objective:
    network = around.network
    pieces = len(network.text_encoder.embedding.piece_vectors)
    guess = first_pieces(_counted_pages(around), Vocabulary(network.config.text.buckets), pieces)
    corpus = around.corpus
    if corpus is None:
        source = synthetic_source(around.seed, pages=around.pages, questions=1, made=around.supply.words)
    else:
        source = corpus.words(around.seed, pages=around.pages)
    return MaskedWords(network, around.feed(source), masking, guess=guess)


def _masked_words_figures(around: StageInputs, objective: Objective) -> Mapping[str, float]:
    """Return figures on held-out pages: of the corpus, else generated ones."""
    if around.corpus is None:
        judged: Sequence[Example] = _pages(GENERATED.words, _PAGES_SEED, _JUDGED_PAGES)
    else:
        judged = around.corpus.judged_words(_JUDGED_PAGES)
    return cast(MaskedWords, objective).figures(judged, _counted_pages(around))


def _counted_pages(around: StageInputs) -> Sequence[Example]:
    """Return pages by whose words frequencies are counted."""
    if around.corpus is None:
        return _pages(around.supply.words, around.seed, _COUNTED_PAGES)
    source = around.corpus.words(around.seed)
    return [page for step in range(_COUNTED_PAGES // 4) for page in source(step)]


@lru_cache(maxsize=4)
def _pages(made: Pages, seed: int, count: int) -> tuple[Example, ...]:
    """Return pages with words, without questions and images."""
    drawn = (made_page.page for made_page in made(seed) if made_page.page.words)
    return tuple(example_of(page, None, ()) for page in islice(drawn, count))


TEXT_STAGES: dict[str, PretrainingStage] = {
    "decoder": PretrainingStage(
        title="Next tokens: a small decoder from random weights, unless one is given.",
        share=0.2,
        objective=_next_tokens,
        groups=at_rate(3e-3),
        figures=lambda around, objective: _decoder_figures(around, objective, "decoder"),
    ),
    "bidirectional": PretrainingStage(
        title="Bidirectional decoder: masked next tokens (LLM2Vec).",
        share=0.15,
        objective=_masked_next_tokens,
        groups=at_rate(1e-3),
        figures=lambda around, objective: _decoder_figures(around, objective, "bidirectional"),
    ),
    "contrast": PretrainingStage(
        title="Sentence vectors of that decoder: unsupervised SimCSE.",
        share=0.05,
        objective=_contrast,
        groups=at_rate(2e-4),
        figures=_contrast_figures,
    ),
    "distill": PretrainingStage(
        title="Distillation of the text encoder from that decoder, else from MiniLM.",
        share=0.15,
        objective=_distillation,
        groups=at_rate(6e-3),
        figures=_agreement,
    ),
    "mlm": PretrainingStage(
        title="Masked words of pages: of a corpus, else generated.",
        share=0.15,
        objective=_masked_words,
        groups=at_rate(3e-3),
        figures=_masked_words_figures,
    ),
    "spans": PretrainingStage(
        title="Masked spans of pages, with all wordpieces of their words: of a corpus, else generated.",
        share=0.15,
        objective=lambda around: _masked_words(around, _SPANS),
        groups=at_rate(3e-3),
        figures=_masked_words_figures,
    ),
}
