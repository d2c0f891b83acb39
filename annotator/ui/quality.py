"""The tab Quality: throughput, speed, share accepted unchanged, agreement, queue depth, and the stage."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import gradio as gr

from annotator.gradio.event_user import current_user, require, role_of
from annotator.gradio.event_zone import zone_of
from annotator.gradio.live_tab import QUIET, LiveTab
from annotator.gradio.notices import inform
from annotator.ui import agreement_plots, label_plots, plots, stage_card
from annotator.ui import task_changes as following
from annotator.ui.confirmation import Confirmation
from annotator.ui.table import NO_PROJECT, empty, table
from engine.annotation.answer_service import AnswerService
from engine.datasets.snapshot_views import SnapshotView, newest_view
from engine.errors import Refused
from engine.plurals import count
from engine.projects.project_stage import NAMES, STAGES
from engine.selection import auto_accept, stages, survey_trigger
from engine.selection.stage_view import StageView, stage_view
from engine.statistics.project_agreement import ProjectAgreement, project_agreement
from engine.statistics.selection_gain import Choices
from engine.statistics.throughput import OTHERS, Figures, MasksADay, ModelFigures, PersonFigures, figures, people_of
from engine.tasks.opening.task_changes import AUTOMATIC

PERIODS = (("4 weeks", 28), ("3 months", 91), ("1 year", 364))
VERSIONS = 8  # model versions that fit side by side
EMPTY = empty(
    "No figures yet.",
    "Accept answers on the tab Annotate. Their number, speed and share accepted unchanged appear here.",
)


_OWN_ALONE = (
    '<p class="glossator-wide">These are your own figures. Some questions are answered by several people, each without '
    "knowing of the others, so figures of the whole project are for reviewers.</p>"
)


def build(service: AnswerService) -> None:
    """Place the tab Quality into the current Gradio context.

    Args:
        service: answer service with the workspace.
    """
    with gr.Column(elem_classes=["glossator-tab"]):
        tab = LiveTab(service, "quality", "Quality")
        with gr.Row(elem_classes=["glossator-actions"]):
            project = tab.place_project_choice()
            period = gr.Dropdown(PERIODS, value=PERIODS[1][1], label="Period", min_width=140, scale=1)
        content = gr.HTML()
        with gr.Accordion("Change the stage", open=False, visible=False) as changing:
            with gr.Row(elem_classes=["glossator-actions"]):
                stage = gr.Dropdown(
                    [(NAMES[name].capitalize(), name) for name in STAGES], label="Stage", min_width=180, scale=1
                )
                reason = gr.Textbox(label="Reason", placeholder="Kept in the audit trail", max_length=2000, scale=2)
            with gr.Row(elem_classes=["glossator-actions"]):
                ask = gr.Button("Run survey", scale=0, min_width=130, size="md")
                change = gr.Button("Set stage", variant="primary", scale=0, min_width=150, size="md")
                undo = gr.Button("Withdraw automatic answers", scale=0, min_width=290, size="md")
        # Outside of what the role shows: Gradio would show it with that.
        sure = Confirmation(
            "All answers that were accepted automatically are withdrawn, but for those that somebody has "
            "confirmed or fixed. Their tasks are open again.",
            "Withdraw them",
            "Keep them",
        )

    def show(request: gr.Request, project_id: str | None, days: int) -> list[Any]:
        role = role_of(service, request, project_id)
        changes = gr.update(visible=role == "admin")
        if project_id is None or role is None:
            return [NO_PROJECT, changes]
        computed = figures(
            service.workspace, project_id, days=days, viewer=current_user(service, request), zone=zone_of(request)
        )
        stage = stage_view(service.workspace, project_id)
        progress = following.draw_progress(service.workspace, project_id, (AUTOMATIC,))
        if role == "annotator":
            return [progress + draw(computed, stage=stage), changes]
        agreement = project_agreement(service.workspace, project_id)
        snapshot = newest_view(service.workspace, project_id, label_plots.MOST_ROWS)
        return [progress + draw(computed, agreement, snapshot, project_id, stage=stage), changes]

    def set_stage(project_id: str | None, wanted: str | None, why: str, request: gr.Request) -> None:
        user = require(service, request, project_id, "admin")
        if not wanted:
            raise Refused("Choose a stage first.")
        stages.set_stage(service.workspace, project_id or "", wanted, by=user, reason=why)
        inform(f"Stage set to {NAMES[wanted]}.")

    def take_back(project_id: str | None, request: gr.Request) -> None:
        user = require(service, request, project_id, "admin")
        undone = auto_accept.undo(service.workspace, project_id or "", by=user)
        goes_on = following.progress_sentence(service.workspace, project_id or "")
        inform(f"{count(undone, 'automatic answer')} withdrawn.{goes_on or ' Their tasks are open again.'}")

    def survey(project_id: str | None, request: gr.Request) -> None:
        user = require(service, request, project_id, "admin")
        survey_trigger.request(service.workspace, project_id or "", by=user.id)
        inform("A survey is waiting for the worker. The tab Training shows its progress.")

    tab.follow(show, [period], [content, changing])
    asked = ask.click(survey, project, None, **QUIET)
    changed = change.click(set_stage, [project, stage, reason], None, **QUIET)
    undone = sure.ask_before(undo, take_back, project, forgotten=project.input)
    tab.fetch_again_on(period.input)
    tab.show_result_of(asked.then, changed.then, undone.then)


def draw(
    found: Figures,
    agreement: ProjectAgreement | None = None,
    snapshot: SnapshotView | None = None,
    project_id: str = "",
    *,
    stage: StageView | None = None,
) -> str:
    """Return the figures as plots (HTML).

    Args:
        found: throughput, speed and queue of the period.
        agreement: agreement of people and model; None leaves it out, for annotators.
        snapshot: newest snapshot for training, or None.
        project_id: project, for links to pages.
        stage: stage with its precision; None leaves its cards out.
    """
    own = _OWN_ALONE if found.own_alone else ""
    if not found.by_model and not found.queue and not found.people and (stage is None or not stage.tasks):
        return own + EMPTY
    shown = [_masks(found), _seconds(found.by_model), _plot_unchanged(found.by_model)]
    if not found.own_alone:
        shown.append(_queue(found))
    if agreement is not None:
        shown.insert(3, agreement_plots.overall(agreement))
    if stage is not None:
        shown += stage_card.draw_cards(stage)
        if not found.own_alone:
            shown.append(_choices(found.choices))
    shown.append(_people(found.people))
    if agreement is not None:
        shown += [agreement_plots.by_question(agreement), agreement_plots.by_person(agreement)]
        shown += [label_plots.weights(agreement.reliability, snapshot), label_plots.left_out(snapshot, project_id)]
    return f'{own}<div class="glossator-plots">{"".join(plots.filled_first(shown))}</div>'


def _masks(found: Figures) -> str:
    rows = found.masks_a_day
    length = (found.last_day - found.first_day).days + 1
    title = "Masks a week" if length > 100 else "Masks a day"
    if not rows:
        return plots.nothing(title, "By person.", "No mask was finished in this period. Choose a longer period.")
    begin, size = (found.first_day, 7) if length > 100 else (max(found.first_day, rows[0].day), 1)
    bins = [begin + timedelta(days=at) for at in range(0, (found.last_day - begin).days + 1, size)]
    total = sum(row.masks for row in rows)
    worked = len({row.day for row in rows})
    sentence = f"{count(total, 'mask')} on {count(worked, 'day')}, {total / worked:.0f} a working day."
    sentence += f" A mask is the mark of a finished answer. Days in {found.time_zone}."
    return plots.stacked_bars(title, sentence, bins, _by_person(rows, bins, size), "masks")


def _by_person(rows: Sequence[MasksADay], bins: Sequence[date], size: int) -> list[tuple[str, list[int]]]:
    """Return values by bin for each person, most first; people beyond the colours are summed as others."""
    people = people_of(rows)
    named = people if len(people) <= plots.SERIES else [name for name in people if name != OTHERS][: plots.SERIES - 1]
    values = {name: [0] * len(bins) for name in named}
    for row in rows:
        several = values.setdefault(row.person if row.person in named else OTHERS, [0] * len(bins))
        several[(row.day - bins[0]).days // size] += row.masks
    return list(values.items())


def _seconds(by_model: Sequence[ModelFigures]) -> str:
    title = "Seconds a mask"
    rows = [row for row in by_model if row.seconds_median is not None][-VERSIONS:]
    if not rows:
        return plots.nothing(
            title,
            "Active time until a mask is accepted, by the model that proposed it.",
            "No time has been measured yet. Fix and accept answers on the tab Annotate.",
        )
    first, last = rows[0], rows[-1]
    assert first.seconds_median is not None and last.seconds_median is not None
    sentence = f"Median of active time: {_seconds_text(last.seconds_median)} with {last.label}"
    sentence += f", {_seconds_text(first.seconds_median)} with {first.label}." if len(rows) > 1 else "."
    dots = [
        plots.Dot(row.label, row.seconds_median or 0.0, row.seconds_low, row.seconds_high, row.timed) for row in rows
    ]
    return plots.dots(title, f"{sentence} Bars: 95 % intervals.", dots, _seconds_text)


def _plot_unchanged(by_model: Sequence[ModelFigures]) -> str:
    title = "Accepted unchanged"
    rows = by_model[-VERSIONS:]
    if not rows:
        return plots.nothing(
            title,
            "Share of masks accepted without changes, by model.",
            "Ask a question on the tab Annotate, then accept or fix the answer.",
        )
    sentence = f"{rows[-1].unchanged_share:.0%} of the answers of {rows[-1].label} were accepted unchanged"
    sentence += f", {rows[0].unchanged_share:.0%} of those of {rows[0].label}." if len(rows) > 1 else "."
    dots = [plots.Dot(row.label, row.unchanged_share, row.unchanged_low, row.unchanged_high, row.masks) for row in rows]
    return plots.dots(title, f"{sentence} Bars: 95 % intervals.", dots, "{:.0%}".format, top=1.0)


def _choices(choices: Choices) -> str:
    """Return corrections a page of documents selected by the model, beside those of random documents."""
    title = "Corrections a page"
    if not choices.by:
        return plots.nothing(
            title,
            "Documents selected by the model, compared with random documents.",
            "Set the document order to “Most uncertain for the model first” on the tab Questions. "
            "The figure appears with the first finished documents.",
        )
    names = {"model": "model", "random": "random"}
    dots = [
        plots.Dot(
            names[strategy.chosen_by], strategy.corrections_a_page, strategy.low, strategy.high, strategy.documents
        )
        for strategy in choices.by
    ]
    if choices.more is None:
        sentence = "The comparison needs finished documents of both kinds: selected by the model, and random."
    else:
        sentence = f"Selected by the model: {choices.more:+.1f} corrections a page compared with random documents"
        if choices.more_low is None or choices.more_high is None:
            sentence += ". The interval needs six finished documents of each kind."
        else:
            sentence += f" ({choices.more_low:+.1f} to {choices.more_high:+.1f})"
            sentence += (
                ". The selection finds pages where the model is wrong."
                if choices.more_low > 0
                else ". The difference is not significant yet."
            )
    return plots.dots(title, sentence, dots, "{:.1f}".format, unit="documents", what="Documents", trend=False)


def _queue(found: Figures) -> str:
    title = "Queue depth"
    if not found.queue:
        return plots.nothing(
            title,
            "Tasks without an answer, and answers without a review.",
            "Set standard questions, or require reviews, on the tab Questions.",
        )
    now = found.queue[-1]
    sentence = f"{count(now.open, 'task')} to answer, {count(now.submitted, 'answer')} to review."
    sentence += " Days in UTC."
    series = [
        ("to answer", [depth.open for depth in found.queue]),
        ("to review", [depth.submitted for depth in found.queue]),
    ]
    return plots.lines(title, sentence, [depth.day for depth in found.queue], series, "waiting")


def _people(people: Sequence[PersonFigures]) -> str:
    title = "People"
    if not people:
        return plots.nothing(title, "In this period.", "No mask was finished in this period. Choose a longer period.")
    rows = [[row.person, row.masks, _pace(row), f"{row.unchanged_share:.0%}"] for row in people]
    sentence = "In this period. Seconds a mask: median with 95 % interval."
    return plots.framed_content(title, sentence, table(["Person", "Masks", "Seconds a mask", "Unchanged"], rows))


def _pace(row: PersonFigures) -> str:
    if row.seconds_median is None:
        return "-"
    if row.seconds_low is None or row.seconds_high is None:
        return _seconds_text(row.seconds_median)
    return f"{_seconds_text(row.seconds_median)} ({_digits(row.seconds_low)} - {_digits(row.seconds_high)})"


def _digits(seconds: float) -> str:
    return _seconds_text(seconds).removesuffix(" s")


def _seconds_text(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 9.95 else f"{seconds:.1f} s" if seconds else "0 s"
