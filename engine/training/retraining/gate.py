"""Gate: decides whether a challenger is better than the champion and not much worse anywhere. Pure.

Both answer the same questions, so differences are paired. Questions of one document are alike, so documents are
resampled: a paired bootstrap over documents (bootstrap.py). The interval holds the middle 90 % of the resampled mean
differences. A lower end above the limit therefore says, with 95 % confidence, that the loss is at most the limit.

The challenger passes when all of these hold:

- Gain: mean IoU on the project's own documents rose, where weights answered that have not learned from them (folds.py).
  With fewer than FEWEST_DOCUMENTS of them, it must not have fallen there nor (by more than .01) on generated pages, and
  must have risen on the training answers.
- IoU: no interval of a holdout reaches below its limit, .02 from ENOUGH_DOCUMENTS held-out documents on. With fewer,
  intervals are wide and so are the limits: .05 on generated pages; on the project's own documents .02 times thirty over
  their number (.10 for six, .04 for fifteen). A certain loss of .02 or more always fails.
- "Not in the document": its rate of right answers lost at most .15; few questions measure it.
- Slices: no slice with enough questions certainly lost, that is a mean loss above .05 and an interval below zero. A
  limit on the lower end would fail most runs by chance: there are a dozen slices of few questions.
- Values: on the project's own documents, values equal to the accepted ones as the type of their field (dates, amounts
  and the like, not texts) did not certainly become fewer: a mean loss above .02 and an interval below zero, measured
  where as many questions and documents have such a field as a slice needs. Exact text and ANLS are shown beside.
- Latency: at most 1.25 times the champion's time, page by page; on a CPU processor time (latency.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.fields.compare_values import TEXTS
from engine.plurals import count, word
from engine.training.evaluation.bootstrap import RESAMPLES, Interval, clustered_bootstrap
from engine.training.evaluation.metrics import VALUES, Scored, summarise, to_json
from engine.training.evaluation.slices import slices
from engine.training.retraining.latency import Latency

Pair = tuple[Scored, Scored]  # of champion and challenger

LEVEL = 0.90  # two-sided
FEWEST_DOCUMENTS = 5  # needed for an interval to be judged
ENOUGH_DOCUMENTS = 30  # of a project's own, needed for the narrow limit
IOU_LIMIT, WIDE_LIMIT = -0.02, -0.05
UNANSWERED_LIMIT = -0.15
SLICE_LIMIT = -0.05
VALUE_LIMIT = -0.02
SLICE_DOCUMENTS, SLICE_QUESTIONS = 10, 30  # needed for a slice, and for values, to be judged
LATENCY_LIMIT = 1.25  # times the champion's
NOISE = -0.01  # a smaller fall on generated pages does not count
GENERATED, OWN, TAUGHT = "generated", "own", "taught"
CALLED = {
    GENERATED: "on generated pages",
    OWN: "on the held-out documents",
    TAUGHT: "on the training answers",
}


@dataclass(frozen=True, slots=True)
class Holdout:
    """Questions answered by champion and challenger, with the document of each page."""

    name: str
    documents: Mapping[str, str]  # page id -> document
    champion: Sequence[Scored]
    challenger: Sequence[Scored]

    def __post_init__(self) -> None:
        if [_key(score) for score in self.champion] != [_key(score) for score in self.challenger]:
            raise ValueError(f"Champion and challenger did not answer the same questions of the holdout {self.name!r}.")


def judge(holdouts: Iterable[Holdout], *, latency: Latency | None = None, seed: int = 0) -> dict[str, Any]:
    """Return the verdict as JSON: "passed", a "sentence" for people, and the figures of every holdout.

    Deterministic for equal answers and seed.

    Args:
        holdouts: Named "generated", "own" (accepted documents, answered by weights that have not learned from them) and
            "taught" (the training answers, used only where too few can be answered so).
        latency: Times of both; None when not measured.
        seed: Seed of the bootstrap.
    """
    figures, objections, own = _measure(holdouts, seed)
    if latency is not None and latency.ratio > LATENCY_LIMIT:
        objections.append(f"it takes {latency.ratio:.2f} times as long to answer (limit {LATENCY_LIMIT})")
    gain, gain_sentence = _gain(figures)
    passed = gain and not objections
    if passed:
        sentence = f"Passed: {gain_sentence}{_values_sentence(figures)}."
    else:
        reasons = [*objections, *([] if gain else [gain_sentence])]
        sentence = f"Not passed: {'; '.join(reasons)}."
    if own < ENOUGH_DOCUMENTS:
        sentence += f" {_too_small(own, OWN in figures)}"
    return {
        "passed": passed,
        "sentence": sentence,
        "resamples": RESAMPLES,
        "level": LEVEL,
        "fewest_documents": FEWEST_DOCUMENTS,
        "enough_documents": ENOUGH_DOCUMENTS,
        "limit": round(own_limit(own), 4),
        "latency": latency.to_json(LATENCY_LIMIT) if latency is not None else None,
        "holdouts": figures,
    }


def check(holdouts: Iterable[Holdout], *, own: int = 0, seed: int = 0) -> dict[str, Any]:
    """Return whether refitted weights may be used: "passed", the "objections", and the figures of every holdout.

    No limit of `judge` on answers may be exceeded on generated pages, and mean IoU must not surely have fallen on the
    answers that they learned from. A gain is not asked for: the weights know all own documents.

    Args:
        holdouts: Named "generated" and "taught", answered by the judged weights and by the refitted ones.
        own: Own documents in the verdict; its limit on generated pages holds here too.
        seed: Seed of the bootstrap.
    """
    figures, objections, _ = _measure(holdouts, seed, own)
    taught = figures.get(TAUGHT)
    if taught is not None and taught["judged"] and taught["high"] < 0:
        objections.append(f"mean IoU fell by {-taught['difference']:.3f} {CALLED[TAUGHT]}")
    return {"passed": not objections, "objections": objections, "holdouts": figures}


def _measure(holdouts: Iterable[Holdout], seed: int, own: int | None = None) -> tuple[dict[str, Any], list[str], int]:
    """Return the figures by holdout, the objections, and the number of own documents: counted unless it is given."""
    named = {holdout.name: holdout for holdout in holdouts if holdout.champion}
    if own is None:
        own = _documents_with_answers(named[OWN]) if OWN in named else 0
    figures = {name: _compare(holdout, _limit(holdout, own), seed) for name, holdout in named.items()}
    objections = [
        objection for name, figure in figures.items() if name != TAUGHT for objection in _objections(name, figure)
    ]
    return figures, objections, own


def own_limit(documents: int) -> float:
    """Return how far below zero the interval of this many own documents may reach."""
    return IOU_LIMIT * max(1.0, ENOUGH_DOCUMENTS / max(FEWEST_DOCUMENTS, documents))


def _limit(holdout: Holdout, own: int) -> float:
    if holdout.name == OWN:
        return round(own_limit(_documents_with_answers(holdout)), 4)
    return IOU_LIMIT if own >= ENOUGH_DOCUMENTS else WIDE_LIMIT


def _documents_with_answers(holdout: Holdout) -> int:
    """Return how many documents measure IoU: a question without an answer has none."""
    return len({holdout.documents[score.page_id] for score in holdout.champion if score.answerable})


def _too_small(own: int, asked: bool) -> str:
    few = f"Only {own} of the {ENOUGH_DOCUMENTS} held-out documents needed {word(own, 'has', 'have')} an answer to find"
    if not own:
        few = f"None of the {ENOUGH_DOCUMENTS} held-out documents needed has an answer to find"
    if not asked:
        few = "No document could be asked of weights that had not learned from it"
    if own < FEWEST_DOCUMENTS:
        return f"{few}, so mostly generated pages were used, where mean IoU may fall by {-NOISE:.2f}."
    return (
        f"{few}, so a loss of up to {-own_limit(own):.2f} was allowed on them, and of up to {-WIDE_LIMIT:.2f} on "
        "generated pages."
    )


def _compare(holdout: Holdout, limit: float, seed: int) -> dict[str, Any]:
    pairs = list(zip(holdout.champion, holdout.challenger, strict=True))
    answerable = [(before, after) for before, after in pairs if before.answerable]
    absent = [(before, after) for before, after in pairs if not before.answerable]
    unanswered = clustered_bootstrap(
        [holdout.documents[before.page_id] for before, _ in absent],
        [float(_is_declined(after)) - float(_is_declined(before)) for before, after in absent],
        level=LEVEL,
        seed=seed,
    )
    return {
        "documents": len({holdout.documents[score.page_id] for score in holdout.champion}),
        "with_answers": _documents_with_answers(holdout),
        "questions": len(pairs),
        "parent": _figures(holdout, holdout.champion, seed),  # the key of stored verdicts for the champion
        "challenger": _figures(holdout, holdout.challenger, seed),
        **_to_json(_difference(holdout, answerable, seed), limit),
        "unanswerable": _to_json(unanswered, UNANSWERED_LIMIT),
        "slices": _by_slice(holdout, answerable, seed),
        **({"values": values} if (values := _values(holdout, answerable, seed)) else {}),
    }


def _values(holdout: Holdout, pairs: Sequence[Pair], seed: int) -> dict[str, Any]:
    """Return the differences in values of typed fields, with intervals; empty without such fields.

    "questions" and "documents": how many have a value to compare. "value_equal", "value_exact", "value_anls": over all
    of them; "typed": of "value_equal", over those whose type reads more than a text, and judged alone.
    """
    typed = [(before, after) for before, after in pairs if before.values is not None and after.values is not None]
    if not typed:
        return {}
    beyond_text = [pair for pair in typed if pair[0].values is not None and pair[0].values.model.kind not in TEXTS]
    judged = _value_difference(holdout, beyond_text, "value_equal", seed)
    enough = judged is not None and judged.clusters >= SLICE_DOCUMENTS and judged.questions >= SLICE_QUESTIONS
    return {
        "questions": len(typed),
        "documents": len({holdout.documents[before.page_id] for before, _ in typed}),
        **{name: _to_json(_value_difference(holdout, typed, name, seed), VALUE_LIMIT, False) for name in VALUES},
        "typed": {
            "questions": len(beyond_text),
            "parent": _mean_value([before for before, _ in beyond_text]),
            "challenger": _mean_value([after for _, after in beyond_text]),
            **_to_json(judged, VALUE_LIMIT, enough),
        },
    }


def _value_difference(holdout: Holdout, pairs: Sequence[Pair], name: str, seed: int) -> Interval | None:
    """Return the mean difference in a figure of VALUES, challenger minus champion."""
    return clustered_bootstrap(
        [holdout.documents[before.page_id] for before, _ in pairs],
        [_value(after, name) - _value(before, name) for before, after in pairs],
        level=LEVEL,
        seed=seed,
    )


def _value(scored: Scored, name: str = "value_equal") -> float:
    return VALUES[name](scored.values.model) if scored.values is not None else 0.0


def _mean_value(scored: Sequence[Scored]) -> float | None:
    return round(sum(map(_value, scored)) / len(scored), 6) if scored else None


def _figures(holdout: Holdout, scored: Sequence[Scored], seed: int) -> dict[str, Any]:
    """Return the figures of one model, with the interval of its mean IoU."""
    answerable = [score for score in scored if score.answerable]
    bootstrap = clustered_bootstrap(
        [holdout.documents[score.page_id] for score in answerable],
        [score.iou for score in answerable],
        level=LEVEL,
        seed=seed,
    )
    interval = None if bootstrap is None else [round(bootstrap.low, 6), round(bootstrap.high, 6)]
    return {**to_json(summarise(scored)), "interval": interval}


def _by_slice(holdout: Holdout, pairs: Sequence[Pair], seed: int) -> dict[str, Any]:
    """Return the slices with enough documents and questions, such as "printed_key true", with intervals."""
    challenger_scores = {_key(before): after for before, after in pairs}
    slice_figures = {}
    for name, parts in slices([before for before, _ in pairs]).items():
        for value, scored in parts.items():
            interval = _difference(holdout, [(before, challenger_scores[_key(before)]) for before in scored], seed)
            if interval and interval.clusters >= SLICE_DOCUMENTS and interval.questions >= SLICE_QUESTIONS:
                slice_figures[f"{name} {value}"] = {"questions": interval.questions, **_to_json(interval, SLICE_LIMIT)}
    return slice_figures


def _difference(holdout: Holdout, pairs: Sequence[Pair], seed: int) -> Interval | None:
    """Return the mean difference in IoU over answerable questions, challenger minus champion."""
    return clustered_bootstrap(
        [holdout.documents[before.page_id] for before, _ in pairs],
        [after.iou - before.iou for before, after in pairs],
        level=LEVEL,
        seed=seed,
    )


def _to_json(interval: Interval | None, limit: float, judged: bool | None = None) -> dict[str, Any]:
    """Return an interval with its limit; `judged` when there are enough documents for the limit to count.

    `judged`: given where something else decides.
    """
    if interval is None:
        return {"difference": None, "low": None, "high": None, "limit": limit, "judged": False}
    return {
        "difference": round(interval.mean, 6),
        "low": round(interval.low, 6),
        "high": round(interval.high, 6),
        "limit": limit,
        "judged": interval.clusters >= FEWEST_DOCUMENTS if judged is None else judged,
    }


def _objections(name: str, figures: Mapping[str, Any]) -> list[str]:
    objections = []
    if figures["judged"] and figures["low"] < figures["limit"]:
        objections.append(
            f"{CALLED[name]} it may have lost {-figures['low']:.3f} of mean IoU (limit {-figures['limit']:.2f})"
        )
    elif name != GENERATED and figures["judged"] and figures["high"] < 0 and figures["difference"] < IOU_LIMIT:
        objections.append(f"{CALLED[name]} it lost {-figures['difference']:.3f} of mean IoU")
    absent = figures["unanswerable"]
    if absent["judged"] and absent["low"] < absent["limit"]:
        objections.append(
            f'{CALLED[name]} it may find {-absent["low"]:.0%} fewer of the questions with "no answer" '
            f"(limit {-absent['limit']:.0%})"
        )
    for slice_, slice_figures in figures["slices"].items() if name in (GENERATED, OWN) else ():
        if slice_figures["difference"] < slice_figures["limit"] and slice_figures["high"] < 0:
            objections.append(
                f"{CALLED[name]} it lost {-slice_figures['difference']:.3f} of mean IoU on questions with "
                f"{slice_label(slice_)} (limit {-slice_figures['limit']:.2f})"
            )
    typed = figures.get("values", {}).get("typed")
    if name == OWN and typed and typed["judged"] and typed["high"] < 0 and typed["difference"] < typed["limit"]:
        objections.append(
            f"{CALLED[name]} it reads fewer values right ({typed['parent']:.0%} before, {typed['challenger']:.0%} now)"
        )
    return objections


_SLICES = {
    "printed_key true": "a printed key",
    "printed_key false": "no printed key",
    "regions one": "an answer in one place",
    "regions several": "an answer in several places",
}


def slice_label(slice_: str) -> str:
    """Return the label of a slice: "answer_words 3-4" is "3-4 words in the answer"."""
    if slice_ in _SLICES:
        return _SLICES[slice_]
    name, _, value = slice_.partition(" ")
    return f"{value} words in the answer" if name == "answer_words" else f"the answer {value}"


def _gain(figures: Mapping[str, Mapping[str, Any]]) -> tuple[bool, str]:
    """Return whether it improved, and a sentence on it."""
    own, generated, taught = (figures.get(name) for name in (OWN, GENERATED, TAUGHT))
    if own is not None and own["judged"]:
        moved = f"from {own['parent']['mean_iou']:.3f} to {own['challenger']['mean_iou']:.3f}"
        where = f"on {count(own['documents'], 'held-out document')}"
        better = own["difference"] > 0
        return better, f"mean IoU {'rose' if better else 'did not rise'} {where} ({moved})"
    if own is not None and own["difference"] is not None and own["difference"] < 0:
        return False, "mean IoU fell on the held-out documents"
    if generated is not None and generated["difference"] is not None and generated["difference"] < NOISE:
        return False, f"mean IoU fell by {-generated['difference']:.3f} on generated pages"
    if taught is None or taught["difference"] is None:
        return False, "no accepted question has an answer to find, so that nothing can show a gain"
    if taught["difference"] <= 0:
        return False, "it still gets the answers it was trained on wrong (mean IoU did not rise on them)"
    return True, (
        f"mean IoU rose on the training answers (from {taught['parent']['mean_iou']:.3f} to "
        f"{taught['challenger']['mean_iou']:.3f}) and fell nowhere else"
    )


def _values_sentence(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the part of a sentence on values of own documents; empty without typed fields."""
    own = figures.get(OWN, {})
    if "values" not in own:
        return ""
    before, after = own["parent"]["value_equal"], own["challenger"]["value_equal"]
    return f"; {before:.0%} of the values were right before, {after:.0%} are now"


def _is_declined(scored: Scored) -> bool:
    return scored.answered < 0.5


def _key(scored: Scored) -> tuple[str, str]:
    return scored.page_id, scored.question_id
