"""Metrics of an evaluation: values per question, and their summary. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.training.evaluation.judged import Judged, Judgement
from model.masks import Mask, iou

if TYPE_CHECKING:
    from engine.fields.compare_values import ValueAgreement
    from engine.training.evaluation.judged_values import JudgedValues

_BINS = 10  # of the calibration error
HIT = 0.5  # IoU above which an answer counts as found
# Figures of answers on words of OCR, for the model and, after "floor_", for the lexical baseline.
JUDGED: dict[str, Callable[[Judgement], float]] = {
    "text_anls": lambda judgement: judgement.anls,
    "text_exact": lambda judgement: float(judgement.exact),
    "place_mean_iou": lambda judgement: judgement.place_iou,
    "place_acc_50": lambda judgement: float(judgement.place_iou > HIT),
}
# Figures of answers as values of typed fields, in the same way.
VALUES: "dict[str, Callable[[ValueAgreement], float]]" = {
    "value_equal": lambda agreement: agreement.equal or 0.0,
    "value_exact": lambda agreement: agreement.exact,
    "value_anls": lambda agreement: agreement.anls,
}
_ON_PURPOSE = (
    "mean_iou_after",
    "reachable_mean_iou",
    "reachable_acc_50",
    "reachable_text_exact",
    *(f"{side}{name}" for name in (*JUDGED, *VALUES) for side in ("", "floor_")),
    "typed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """Score of one question; IoUs are the best over the acceptable answers, 0 without any.

    Word metrics are None when regions answer, or when other words than the set's were asked.
    """

    page_id: str
    question_id: str
    answerable: bool
    printed_key: bool
    iou: float
    word_iou: float  # of the word path alone
    pixel_iou: float | None  # of the pixel path alone; None where both paths were not asked
    baseline_iou: float  # of the lexical baseline
    answered: float  # probability by the model
    predicted_iou: float  # by the model
    milliseconds: float
    after_clicks: tuple[float, ...] = ()  # IoU after the first, second, ... corrective click
    word_f1: float | None = None  # best over the acceptable answers
    baseline_word_f1: float | None = None
    answer_words: int | None = None  # of the first acceptable answer
    reachable_iou: float | None = None  # upper bound by the asked words, when they are not the set's
    judged: Judged | None = None  # text and place, when the asked words are not the set's; None when regions answer
    values: "JudgedValues | None" = None  # as the type of the question's field; None where values are not known
    places: int | None = None  # number of places of these words; see slices.places
    plain_iou: float | None = None  # of the plain cell of the key that the question names (model/ranking/keys.py)
    region_type: str | None = None  # of answers without words: "signature", "checkbox", ...
    repeated: bool = False  # the page is asked the same again, with another answer; see repeated_questions.py
    shown_iou: float | None = None  # the best of the answer and its candidates; of repeated questions


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Summary of some questions; IoU and accuracy over answerable ones. None when not measured.

    Names with `floor` belong to the lexical baseline; they are keys of stored results.
    """

    questions: int
    unanswerable: int
    mean_iou: float | None
    acc_50: float | None  # share with IoU above one half
    word_mean_iou: float | None
    pixel_mean_iou: float | None
    floor_mean_iou: float | None
    floor_acc_50: float | None
    floor_alone: float | None  # share of questions with a printed key that the baseline answers and the model does not
    plain_alone: float | None  # of the same questions, those answered by the plain cell of their key, not by the model
    word_f1: float | None  # over questions with word answers, as the next three
    exact: float | None  # share with word F1 = 1: accepted unchanged
    floor_word_f1: float | None
    floor_exact: float | None
    unanswerable_auroc: float | None  # separation of answerable and unanswerable questions by `answered`, 0..1
    calibration_error: float | None  # of the predicted IoU: see calibration_error()
    confidence_auroc: float | None  # separation of found answers (IoU above one half) and others by predicted IoU, 0..1
    ask_ms_p50: float | None
    ask_ms_p95: float | None
    mean_iou_after: list[float] | None = None  # after the first, second, ... corrective click
    reachable_mean_iou: float | None = None  # upper bound by the asked words, when they are not the set's
    reachable_acc_50: float | None = None
    text_anls: float | None = None  # these and the next: over questions with word answers, on words of OCR
    text_exact: float | None = None  # share with equal text
    place_mean_iou: float | None = None  # of the given words that both answers lie on
    place_acc_50: float | None = None
    floor_text_anls: float | None = None
    floor_text_exact: float | None = None
    floor_place_mean_iou: float | None = None
    floor_place_acc_50: float | None = None
    reachable_text_exact: float | None = None  # upper bound of `text_exact` by the asked words
    typed: int | None = None  # questions whose values are known; over these the next ones
    value_equal: float | None = None  # share equal to an accepted value as the type of the field
    value_exact: float | None = None
    value_anls: float | None = None
    floor_value_equal: float | None = None
    floor_value_exact: float | None = None
    floor_value_anls: float | None = None


def best_iou(mask: Mask, acceptable: Iterable[Mask]) -> float:
    """Return the best IoU of a mask over the acceptable answers; 0 without any."""
    return max((iou(mask, answer) for answer in acceptable), default=0.0)


def word_f1(words: Iterable[int], answer: Iterable[int]) -> float:
    """Return the F1 of two sets of word indices: 2 |A and B| / (|A| + |B|); 0 when both are empty."""
    first, second = set(words), set(answer)
    return 2 * len(first & second) / (len(first) + len(second)) if first or second else 0.0


def best_word_f1(words: Iterable[int], acceptable: Iterable[Iterable[int]]) -> float | None:
    """Return the best F1 of words over the acceptable answers; None when no words answer."""
    words = list(words)
    return max((word_f1(words, answer) for answer in acceptable), default=None)


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """Return the probability that a positive scores above a negative (Mann-Whitney U); None without both.

    Ties count half.
    """
    if not positives or not negatives:
        return None
    scores = np.concatenate([np.asarray(positives, float), np.asarray(negatives, float)])
    _, place, count = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place]  # mean rank of ties
    wins = ranks[: len(positives)].sum() - len(positives) * (len(positives) + 1) / 2
    return float(wins / (len(positives) * len(negatives)))


def calibration_error(predicted: NDArray[np.float64], true: NDArray[np.float64]) -> float | None:
    """Return the expected calibration error of predictions [N], both 0..1; None without any.

    Ten bins of equal size (Naeini et al. 2015, with the bins of Nguyen and O'Connor 2015). The mean absolute error
    would not do: it favours overconfident predictions.
    """
    if not len(predicted):
        return None
    order = np.argsort(predicted, kind="stable")
    bins = [part for part in np.array_split(order, _BINS) if len(part)]
    apart = sum(len(part) * abs(predicted[part].mean() - true[part].mean()) for part in bins)
    return _round(float(apart / len(predicted)))


def summarise(scored: Sequence[Scored], unanswerable: Sequence[Scored] | None = None) -> Figures:
    """Summarise some questions; `unanswerable` replaces the unanswerable ones among `scored`."""
    answerable = [score for score in scored if score.answerable]
    absent = [score for score in scored if not score.answerable]
    ious = _column(answerable, "iou")
    baselines = _column(answerable, "baseline_iou")
    times = _column(scored, "milliseconds")
    f1s = _column([score for score in answerable if score.word_f1 is not None], "word_f1")
    baseline_f1s = _column([score for score in answerable if score.baseline_word_f1 is not None], "baseline_word_f1")
    reachable = _column([score for score in answerable if score.reachable_iou is not None], "reachable_iou")
    judged = [score.judged for score in answerable if score.judged is not None]
    values = [score.values for score in answerable if score.values is not None]
    clicks = len(answerable[0].after_clicks) if answerable else 0
    return Figures(
        questions=len(scored),
        unanswerable=len(absent),
        mean_iou=_mean(ious),
        acc_50=_mean(ious > HIT),
        word_mean_iou=_mean(_column(answerable, "word_iou")),
        pixel_mean_iou=_mean(_column([score for score in answerable if score.pixel_iou is not None], "pixel_iou")),
        floor_mean_iou=_mean(baselines),
        floor_acc_50=_mean(baselines > HIT),
        floor_alone=_mean(
            np.array([score.baseline_iou > HIT >= score.iou for score in answerable if score.printed_key])
        ),
        plain_alone=_mean(
            np.array([(score.plain_iou or 0.0) > HIT >= score.iou for score in answerable if score.printed_key])
        ),
        word_f1=_mean(f1s),
        exact=_mean(f1s == 1),
        floor_word_f1=_mean(baseline_f1s),
        floor_exact=_mean(baseline_f1s == 1),
        unanswerable_auroc=auroc(
            [score.answered for score in answerable],
            [score.answered for score in (absent if unanswerable is None else unanswerable)],
        ),
        calibration_error=calibration_error(_column(answerable, "predicted_iou"), ious),
        confidence_auroc=auroc(
            [score.predicted_iou for score in answerable if score.iou > HIT],
            [score.predicted_iou for score in answerable if score.iou <= HIT],
        ),
        ask_ms_p50=_quantile(times, 0.5),
        ask_ms_p95=_quantile(times, 0.95),
        mean_iou_after=[
            _round(float(np.mean([score.after_clicks[at] for score in answerable]))) for at in range(clicks)
        ]
        or None,
        reachable_mean_iou=_mean(reachable),
        reachable_acc_50=_mean(reachable > HIT),
        **{name: _mean(np.array([of(judgement.model) for judgement in judged])) for name, of in JUDGED.items()},
        **{
            f"floor_{name}": _mean(np.array([of(judgement.baseline) for judgement in judged]))
            for name, of in JUDGED.items()
        },
        reachable_text_exact=_mean(np.array([judgement.reachable_exact for judgement in judged])),
        typed=len(values) or None,
        **{name: _mean(np.array([of(value.model) for value in values])) for name, of in VALUES.items()},
        **{f"floor_{name}": _mean(np.array([of(value.baseline) for value in values])) for name, of in VALUES.items()},
    )


def values_by_type(scored: Sequence[Scored]) -> dict[str, dict[str, Any]]:
    """Return the figures of values by the type of the field: "questions", and those of VALUES with their floors."""
    types: dict[str, list[JudgedValues]] = {}
    for score in scored:
        if score.answerable and score.values is not None:
            types.setdefault(str(score.values.model.kind), []).append(score.values)
    return {
        kind: {
            "questions": len(values),
            **{name: _mean(np.array([of(value.model) for value in values])) for name, of in VALUES.items()},
            **{
                f"floor_{name}": _mean(np.array([of(value.baseline) for value in values]))
                for name, of in VALUES.items()
            },
        }
        for kind, values in sorted(types.items())
    }


def to_json(figures: Figures) -> dict[str, Any]:
    """Return figures as JSON, without metrics that were not requested (clicks, words of OCR, values of fields)."""
    return {name: value for name, value in asdict(figures).items() if value is not None or name not in _ON_PURPOSE}


def _column(scored: Sequence[Scored], name: str) -> NDArray[np.float64]:
    return np.array([getattr(score, name) for score in scored], dtype=np.float64)


def _mean(values: NDArray[Any]) -> float | None:
    return _round(float(values.mean())) if len(values) else None


def _quantile(values: NDArray[np.float64], share: float) -> float | None:
    return round(float(np.quantile(values, share)), 2) if len(values) else None


def _round(value: float) -> float:
    return round(value, 6)
