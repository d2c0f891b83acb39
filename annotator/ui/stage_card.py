"""The project's stage on the tab Quality, and the measured precision that decides it."""

from html import escape

from annotator.ui import plots
from annotator.ui.table import moment
from engine import plurals
from engine.projects.project_stage import NAMES, STAGES
from engine.selection.stage_view import StageView

MEANING = {
    "assisted": "People ask, the model answers, people fix and accept.",
    "semi_automatic": "The model answers every task in advance; people confirm or fix its answers.",
    "automatic": "Answers above the confidence threshold are accepted automatically; people check a random share.",
}


def draw_cards(view: StageView) -> list[str]:
    """Return the stage and the measured precision as two cards (HTML)."""
    return [card(view), curve(view)]


def card(view: StageView) -> str:
    """Return the stage, its reason, and the number of automatic answers (HTML)."""
    steps = "".join(
        f"<li{' aria-current=step' if stage == view.stage else ''}>{escape(NAMES[stage].capitalize())}</li>"
        for stage in STAGES
    )
    parts = [f"<ol>{steps}</ol>", f"<p>{escape(MEANING[view.stage])}</p>"]
    if view.since is not None:
        who = view.changed_by or "Glossator"
        why = f": <bdi>{escape(view.reason)}</bdi>" if view.reason else "."
        parts.append(f"<p>Since {moment(view.since)}, by <bdi>{escape(who)}</bdi>{why}</p>")
    figures = [(f"{view.surveyed:,} of {view.tasks:,}", f"questions answered in advance by {view.model}")]
    if view.automatic or view.confirmed or view.corrected:
        figures += [
            (f"{view.automatic:,}", "accepted automatically, not reviewed"),
            (f"{view.confirmed:,}", "confirmed by people since"),
            (f"{view.corrected:,}", "fixed by people since"),
        ]
    if view.audit.drawn:
        share = ""
        if view.audit.checked:
            audit = view.audit
            share = f", {audit.right / audit.checked:.0%} right ({audit.low:.0%} to {audit.high:.0%})"
        figures.append(
            (f"{view.audit.checked:,} of {view.audit.drawn:,}", f"answers sampled for audit are checked{share}")
        )
    rows = "".join(f"<dt>{escape(count)}</dt><dd>{escape(what)}</dd>" for count, what in figures)
    parts.append(f"<dl>{rows}</dl>")
    sentence = f"This project is {NAMES[view.stage]}."
    return plots.framed_content("Stage", sentence, f'<div class="glossator-stage">{"".join(parts)}</div>')


def curve(view: StageView) -> str:
    """Return the precision by confidence, with its lower bound, the target and the threshold (HTML)."""
    title = "Precision by confidence"
    measured = [point for point in view.points if point.precision is not None]
    if not measured:
        return plots.nothing(
            title,
            f"Share of right answers of {view.model}, by confidence.",
            view.blocked or "Nothing has been measured yet.",
        )
    documents = plurals.count(view.measured_documents, "held-out document")
    over = f"Measured on {plurals.count(view.measured_answers, 'reviewed answer')} of {documents}."
    if view.threshold is not None and view.blocked is None:
        verdict = (
            f"At confidence {view.threshold:.2f} and above, at least {view.target:.1%} are right. "
            f"{_tasks(view.would_accept)} above it."
        )
    else:
        verdict = view.blocked or ""
    rows = [
        plots.Bounded(measurement.threshold, measurement.precision or 0.0, measurement.low, measurement.answers)
        for measurement in measured
    ]
    sentence = f"{over} {verdict} Band: 95 % lower bound."
    return plots.bounded_shares(title, sentence, rows, view.target, view.threshold, "answers")


def _tasks(count: int) -> str:
    return plurals.count(count, "open task lies", "open tasks lie")
