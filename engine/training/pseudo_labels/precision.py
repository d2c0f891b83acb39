"""Measure pseudo-labels on pages whose answers people have given."""

from collections.abc import Iterable
from dataclasses import dataclass

from engine.grounded import GroundedPage
from engine.training.evaluation.lexical_baseline import telling_tokens
from engine.training.evaluation.metrics import HIT
from engine.training.pseudo_labels.labels import label_page
from model.inference import Predictor, Word
from model.masks import iou, rasterise


@dataclass(frozen=True, slots=True)
class Precision:
    """Counts of compared labels and of right ones: of plain labels, and of those on which the judges agree."""

    plain: int
    plain_right: int
    agreed: int
    agreed_right: int


def measure(predictor: Predictor, pages: Iterable[GroundedPage]) -> Precision:
    """Compare labels with the questions of labelled pages that have the same words as the label's key.

    A label is right when its IoU with an acceptable answer is above one half. Labels without such a question, or with
    several, are left out.

    Args:
        predictor: the model whose agreement counts.
        pages: pages with questions and answers.
    """
    counts = {True: [0, 0], False: [0, 0]}
    for page in pages:
        words = [Word(word.text, word.box) for word in page.words]
        asked: dict[tuple[str, ...], list[list[list[int]]]] = {}
        for question in page.questions:
            asked.setdefault(tuple(telling_tokens(question.question)), []).append(question.answers)
        for label in label_page(predictor, words, (page.width, page.height))[1]:
            known = asked.get(tuple(telling_tokens(label.key.text)), [])
            if len(known) != 1:
                continue
            size = (page.height, page.width)
            mask = rasterise([words[at].box for at in label.value], size)
            truth = [rasterise([words[at].box for at in answer], size) for answer in known[0]]
            counts[label.plain][0] += 1
            counts[label.plain][1] += any(iou(mask, answer_mask) > HIT for answer_mask in truth)
    return Precision(*counts[True], *counts[False])
