"""The project's stage on the tab Quality: where it stands and why, and the precision that decides over it."""

from html import escape

from annotator.ui import plots
from annotator.ui.table import moment
from engine.projects.project_stage import NAMES, STAGES
from engine.selection.stage_view import StageView

MEANING = {
    "assisted": "People ask, the model answers, people correct and accept.",
    "semi_automatic": "The model has answered every task beforehand; people confirm or correct.",
    "automatic": "What the model is sure of is accepted without people, who check a share of it.",
}


def drawn(view: StageView) -> str:
    """Return the stage and the measured precision as two cards."""
    return card(view) + curve(view)


def card(view: StageView) -> str:
    """Return where the project stands, why, and what was accepted without people."""
    steps = "".join(
        f"<li{' aria-current=step' if stage == view.stage else ''}>{escape(NAMES[stage].capitalize())}</li>"
        for stage in STAGES
    )
    parts = [f"<ol>{steps}</ol>", f"<p>{escape(MEANING[view.stage])}</p>"]
    if view.since is not None:
        who = view.changed_by or "the project itself"
        why = f": <bdi>{escape(view.reason)}</bdi>" if view.reason else "."
        parts.append(f"<p>Since {moment(view.since)}, by <bdi>{escape(who)}</bdi>{why}</p>")
    figures = [(f"{view.surveyed:,} of {view.tasks:,}", f"questions answered beforehand by {view.model}")]
    if view.automatic or view.confirmed or view.corrected:
        figures += [
            (f"{view.automatic:,}", "accepted automatically, looked at by nobody"),
            (f"{view.confirmed:,}", "confirmed by people since"),
            (f"{view.corrected:,}", "corrected by people since"),
        ]
    if view.audit.drawn:
        share = ""
        if view.audit.checked:
            found = view.audit
            share = f", {found.right / found.checked:.0%} right ({found.low:.0%} to {found.high:.0%})"
        figures.append((f"{view.audit.checked:,} of {view.audit.drawn:,}", f"drawn for a check are checked{share}"))
    rows = "".join(f"<dt>{escape(count)}</dt><dd>{escape(what)}</dd>" for count, what in figures)
    parts.append(f"<dl>{rows}</dl>")
    sentence = f"How much people still do in this project: it is {NAMES[view.stage]}."
    return plots.framed("Stage", sentence, f'<div class="glossator-stage">{"".join(parts)}</div>')


def curve(view: StageView) -> str:
    """Return the precision against the confidence, with its bound, the target, and what would be accepted."""
    title = "Precision of sure answers"
    measured = [point for point in view.points if point.precision is not None]
    if not measured:
        return plots.nothing(
            title,
            f"How many of {view.model}'s answers are right, by how sure it is of them.",
            view.blocked or "Nothing was measured yet.",
        )
    over = f"On {view.measured_answers:,} reviewed answers of {view.measured_documents:,} holdout documents."
    if view.threshold is not None and view.blocked is None:
        verdict = (
            f"From {view.threshold:.2f} on at least {view.target:.1%} are right; {_tasks(view.would_accept)} above it."
        )
    else:
        verdict = view.blocked or ""
    rows = [plots.Bounded(each.threshold, each.precision or 0.0, each.low, each.answers) for each in measured]
    sentence = f"{over} {verdict} Band: down to what is sure (95 %)."
    return plots.bounded(title, sentence, rows, view.target, view.threshold, "answers")


def _tasks(count: int) -> str:
    return "1 open task lies" if count == 1 else f"{count:,} open tasks lie"
