"""The gate: is the challenger better than the champion, and nowhere worse than we can bear? Pure.

Both answered the same questions, so what counts is the difference question by question. Questions of one document are alike,
so documents are drawn, not questions: a paired bootstrap over documents (bootstrap.py). The interval holds the middle 90 % of the
resampled mean differences, so a lower end above the limit says, with 95 % confidence, that no more than the limit was lost.

The challenger passes when
- it got better: the mean IoU on the project's own held-out documents rose. Where fewer than five of these carry accepted
  answers, they cannot show a gain: then it must not have fallen on them nor (by more than .01) on generated pages, and the
  answers it was taught must have sunk in;
- and no interval of a holdout with five documents or more reaches below its limit: .05 of IoU, and .15 of rightly
  saying "no answer here" (fewer questions tell that, so their interval is wider).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.training.bootstrap import RESAMPLES, Interval, clustered_bootstrap
from engine.training.figures import Scored, summarise, to_json

LEVEL = 0.90  # two-sided
FEWEST_DOCUMENTS = 5  # that an interval is worth looking at
IOU_LIMIT = -0.05
UNANSWERED_LIMIT = -0.15
NOISE = -0.01  # a mean on generated pages that fell by less has not fallen
GENERATED, RECENT, FROZEN, OWN, TAUGHT = "generated", "recent", "frozen", "own", "taught"
_CALLED = {
    GENERATED: "on generated pages",
    RECENT: "on the recent holdout",
    FROZEN: "on the frozen holdout",
    OWN: "on the project's held-out documents",
}


@dataclass(frozen=True, slots=True)
class Holdout:
    """The same questions, answered by the champion ("parent") and by the challenger, and the document of each page."""

    name: str
    documents: Mapping[str, str]  # page id -> document
    parent: Sequence[Scored]
    challenger: Sequence[Scored]

    def __post_init__(self) -> None:
        if [_key(one) for one in self.parent] != [_key(one) for one in self.challenger]:
            raise ValueError(f"Parent and challenger did not answer the same questions of the holdout {self.name!r}.")


def judge(holdouts: Iterable[Holdout], *, seed: int = 0) -> dict[str, Any]:
    """Return the verdict as JSON: "passed", a "sentence" for people, and the figures of every holdout.

    Holdouts are named "generated", "recent", "frozen" and "taught" (what it was trained on: shown, and looked at only where too
    little is held out); recent and frozen together are judged as "own". The same answers and seed give the same verdict.
    """
    named = {one.name: one for one in holdouts if one.parent}
    held_out = [named[name] for name in (RECENT, FROZEN) if name in named]
    if held_out:
        named[OWN] = _joined(held_out)
    figures = {name: _compared(one, seed) for name, one in named.items()}
    objections = [objection for name, one in figures.items() if name != TAUGHT for objection in _objections(name, one)]
    gain, said = _gain(figures)
    passed = gain and not objections
    if passed:
        sentence = f"Passed: {said}."
    else:
        reasons = [*objections, *([] if gain else [said])]
        sentence = f"Not passed: {'; '.join(reasons)}."
    return {
        "passed": passed,
        "sentence": sentence,
        "resamples": RESAMPLES,
        "level": LEVEL,
        "fewest_documents": FEWEST_DOCUMENTS,
        "holdouts": figures,
    }


def _compared(holdout: Holdout, seed: int) -> dict[str, Any]:
    pairs = list(zip(holdout.parent, holdout.challenger, strict=True))
    there = [(one, other) for one, other in pairs if one.answerable]
    absent = [(one, other) for one, other in pairs if not one.answerable]
    ious = clustered_bootstrap(
        [holdout.documents[one.page_id] for one, _ in there],
        [other.iou - one.iou for one, other in there],
        level=LEVEL,
        seed=seed,
    )
    unanswered = clustered_bootstrap(
        [holdout.documents[one.page_id] for one, _ in absent],
        [float(_declined(other)) - float(_declined(one)) for one, other in absent],
        level=LEVEL,
        seed=seed,
    )
    return {
        "documents": len({holdout.documents[one.page_id] for one in holdout.parent}),
        "questions": len(pairs),
        "parent": to_json(summarise(holdout.parent)),
        "challenger": to_json(summarise(holdout.challenger)),
        **_to_json(ious, IOU_LIMIT),
        "unanswerable": _to_json(unanswered, UNANSWERED_LIMIT),
    }


def _to_json(interval: Interval | None, limit: float) -> dict[str, Any]:
    """An interval with its limit; `judged` where there are documents enough for the limit to count."""
    if interval is None:
        return {"difference": None, "low": None, "high": None, "limit": limit, "judged": False}
    return {
        "difference": round(interval.mean, 6),
        "low": round(interval.low, 6),
        "high": round(interval.high, 6),
        "limit": limit,
        "judged": interval.clusters >= FEWEST_DOCUMENTS,
    }


def _objections(name: str, figures: Mapping[str, Any]) -> list[str]:
    found = []
    if figures["judged"] and figures["low"] < figures["limit"]:
        found.append(
            f"{_CALLED[name]} it may have lost {-figures['low']:.3f} of mean IoU, and {-figures['limit']:.2f} is the limit"
        )
    absent = figures["unanswerable"]
    if absent["judged"] and absent["low"] < absent["limit"]:
        found.append(
            f'{_CALLED[name]} it may say "no answer" rightly {-absent["low"]:.0%} less often, and {-absent["limit"]:.0%} is the limit'
        )
    return found


def _gain(figures: Mapping[str, Mapping[str, Any]]) -> tuple[bool, str]:
    """Whether it got better at something, and that in words."""
    own, generated, taught = (figures.get(name) for name in (OWN, GENERATED, TAUGHT))
    if own is not None and own["judged"]:
        moved = f"from {own['parent']['mean_iou']:.3f} to {own['challenger']['mean_iou']:.3f}"
        where = f"on {own['documents']} held-out documents of the project"
        better = own["difference"] > 0
        return better, f"mean IoU {'rose' if better else 'did not rise'} {where} ({moved})"
    count = own["documents"] if own else 0
    carry = "document carries" if count == 1 else "documents carry"
    few = f"only {count} held-out {carry} accepted answers ({FEWEST_DOCUMENTS} would tell more)"
    if own is not None and own["difference"] is not None and own["difference"] < 0:
        return False, f"it fell on what is held out of the project, and {few}"
    if generated is not None and generated["difference"] is not None and generated["difference"] < NOISE:
        return False, f"it fell on generated pages by {-generated['difference']:.3f}, and {few}"
    if taught is None or taught["difference"] is None or taught["difference"] <= 0:
        return False, f"the answers it was taught did not sink in, and {few}"
    return True, (
        f"it learned what it was taught (mean IoU {taught['parent']['mean_iou']:.3f} to "
        f"{taught['challenger']['mean_iou']:.3f}) and lost nothing else; {few}"
    )


def _joined(holdouts: Sequence[Holdout]) -> Holdout:
    return Holdout(
        OWN,
        {page: document for one in holdouts for page, document in one.documents.items()},
        [scored for one in holdouts for scored in one.parent],
        [scored for one in holdouts for scored in one.challenger],
    )


def _declined(scored: Scored) -> bool:
    return scored.answered < 0.5


def _key(scored: Scored) -> tuple[str, str]:
    return scored.page_id, scored.question_id
