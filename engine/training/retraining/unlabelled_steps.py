"""Steps of a retraining that learn masked words from pages without labels.

A share of a run's steps does so (`RunSettings.unlabelled`); the others ask questions. The list of pages is frozen when
the run begins (engine.training.unlabelled.frozen_pages). A fold learns from no page of its own documents, also from
none without labels: a document that is answered later judges weights that have not read it. A run without folds takes
no such pages, for the same reason. The head that predicts the words is new in each training and is not handed in.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch

from engine.training.retraining.run_settings import (
    UNLABELLED_DOCUMENTS,
    UNLABELLED_LIST,
    UNLABELLED_NONE,
    UNLABELLED_PAGES,
    RunSettings,
)
from engine.training.sources.corpus import Corpus
from engine.training.unlabelled.frozen_pages import freeze_pages, pages_of
from engine.training.unlabelled.word_source import word_source
from engine.workspace import Workspace
from model.network import GroundingNetwork
from model.objectives.alternating import Alternating
from model.objectives.masked_language import MaskedWords, first_pieces
from model.objectives.objective import NetworkObjective
from model.vocabulary import Vocabulary

_SEED = 7  # added to the run's seed; the sources of questions add 0 to 6
_FROZEN_ENCODER = (
    "No page without labels took part: the depth quick freezes the text encoder, which alone would learn from them."
)
_NO_FOLDS = (
    "No page without labels took part: without folds, the weights would have read documents that are to judge later. "
    "Accept answers on more documents."
)
_NONE_THERE = (
    "No page without labels took part: the project has none. Such a page has words, and belongs to a document of the "
    'split "train" without an accepted answer.'
)


def choose_pages(
    workspace: Workspace, project_id: str, settings: RunSettings, *, folded: bool
) -> tuple[RunSettings, dict[str, Any]]:
    """Freeze the pages without labels of a run that begins.

    Returns:
        The settings, with a share of 0 where no page takes part, and what is stored with them.
    """
    if not settings.unlabelled:
        return settings, {}
    frozen = freeze_pages(workspace, project_id, settings.seed) if folded and settings.depth != "quick" else None
    if frozen is not None:
        return settings, {
            UNLABELLED_LIST: frozen.sha256,
            UNLABELLED_PAGES: frozen.pages,
            UNLABELLED_DOCUMENTS: frozen.documents,
        }
    why = _FROZEN_ENCODER if settings.depth == "quick" else _NONE_THERE if folded else _NO_FOLDS
    return settings.model_copy(update={"unlabelled": 0.0}), {UNLABELLED_NONE: why}


def with_unlabelled(workspace: Workspace, corpus: Corpus, stored: Mapping[str, Any]) -> Corpus:
    """Return the corpus of a run with its pages without labels.

    `stored`: the settings in the run's row. Raises NotFound when the list is missing, Refused when it was changed.
    """
    if UNLABELLED_LIST not in stored:
        return corpus
    return replace(corpus, unlabelled=pages_of(workspace, stored[UNLABELLED_LIST]))


def beside_questions(
    questions: NetworkObjective, network: GroundingNetwork, corpus: Corpus, settings: RunSettings
) -> NetworkObjective:
    """Return the objective of a training: the questions, and masked words where pages without labels take part."""
    if not (settings.unlabelled and corpus.unlabelled):
        return questions
    examples = [page.example for page in corpus.unlabelled]
    source = word_source(
        [len(example.words) for example in examples],
        lambda at: examples[at],
        settings.seed + _SEED,
        pages=settings.pages,
    )
    pieces = len(network.text_encoder.embedding.piece_vectors)
    guess = first_pieces(examples, Vocabulary(network.config.text.buckets), pieces)
    torch.manual_seed(settings.seed)  # of the new head, whatever was drawn in this process before
    words = MaskedWords(network, source, guess=guess)
    shares = 1 - settings.unlabelled, settings.unlabelled
    return Alternating(network, {"questions": questions, "unlabelled": words}, shares, main="questions")
