"""The tab Training: runs, their verdicts, and the model in use."""

from html import escape
from typing import Any

import gradio as gr

from annotator.ui import changes, curves, lineage
from annotator.ui.choice import NO_PROJECT, QUIET, require, role_of
from annotator.ui.live_tab import LiveTab
from annotator.ui.notices import inform
from annotator.ui.table import badge, empty, moment, sentence, table
from annotator.ui.verdict import picture
from engine.annotation.answer_service import AnswerService
from engine.errors import NotFound, Refused
from engine.jobs import queue
from engine.models import registry
from engine.projects import project_settings, projects
from engine.selection import survey_trigger
from engine.training.retraining import trigger, views
from engine.training.retraining.changes import changes_of

RUN_COLUMNS = ["Started", "Training data", "Models", "Outcome", "Verdict"]
EMPTY = empty(
    "No training run yet.",
    "Accept answers on the tab Annotate. When there are enough, the model is retrained on them and judged against the "
    "model "
    "in use. It replaces that model only if it is better. Curves and verdict appear here.",
)
_JUDGED_ON = ("own", "generated")
MODEL_COLUMNS = [
    "Model", "Parent", "Created", *(curves.HOLDOUTS[name] for name in _JUDGED_ON), "Optimizer", "Snapshot",
]  # fmt: skip
_CHANGES_SHOWN = 40
_SHOWN = (trigger.RETRAIN, survey_trigger.SURVEY)  # kinds of jobs; imports and the like have tabs of their own


def build(service: AnswerService) -> None:
    """Place the tab Training into the current Gradio context.

    Args:
        service: answer service with the workspace.
    """
    workspace = service.workspace
    with gr.Column(elem_classes=["glossator-tab"]):
        tab = LiveTab(service, "training", "Training")
        with gr.Row(elem_classes=["glossator-actions"]):
            project = tab.project_choice()
            retrain = gr.Button("Retrain now", variant="primary", scale=0, min_width=150, size="md")
            stop = gr.Button("Stop", scale=0, min_width=90, size="md")
        status = gr.HTML()
        nothing = gr.HTML(EMPTY)
        with gr.Column(visible=False) as history:
            with gr.Row(elem_classes=["glossator-pair"]):
                loss = gr.LinePlot(x="step", y="loss", color="set", title="Loss of the newest run", height=260)
                verdict = gr.HTML()
            runs = gr.HTML()
        by_version = gr.HTML()
        models = gr.HTML()
        with gr.Accordion("Changes of the newest run", open=False) as changed:
            compared = gr.HTML(changes.NONE)
            opened = gr.Checkbox(visible="hidden")  # whether the list is in sight: it is fetched only then
        with gr.Accordion("Change the model in use", open=False) as choosing:
            with gr.Row(elem_classes=["glossator-actions"]):
                version = gr.Dropdown(label="Model", choices=[], scale=1)
                reason = gr.Textbox(label="Reason", placeholder="Kept in the audit trail", max_length=2000, scale=2)
            with gr.Row(elem_classes=["glossator-actions"]):
                force = gr.Checkbox(label="Promote despite a failed or missing verdict (audited)", scale=2)
                promote = gr.Button("Promote", scale=0, min_width=120, size="md")
                rollback = gr.Button("Roll back to the previous model", scale=0, min_width=290, size="md")

    def show(request: gr.Request, project_id: str | None, opened: bool) -> list[Any]:
        role = role_of(service, request, project_id)
        reviews, changes_models = role in ("reviewer", "admin"), role == "admin"
        # Retrain now, stop, changes of the newest run, change of the model in use.
        allowed = [gr.update(visible=may) for may in (reviews, changes_models, reviews, changes_models)]
        if not project_id or role is None:
            hidden = [gr.update(value=NO_PROJECT, visible=True), gr.update(visible=False)]
            return ["", *hidden, *[gr.skip()] * 3, "", "", gr.update(choices=[]), "", *allowed]
        versions = registry.versions(workspace, project_id)
        lines = views.run_lines(workspace, project_id)
        newest = views.run_view(workspace, lines[0].id) if lines else None
        return [
            _status(service, project_id),
            gr.update(value=EMPTY, visible=not lines),
            gr.update(visible=bool(lines)),
            curves.loss(newest),
            picture(next((line.verdict for line in lines if line.verdict), {})),
            f"<h3>Runs</h3>{table(RUN_COLUMNS, [_run_row(line) for line in lines])}" if lines else "",
            lineage.picture(versions),
            f"<h3>Models</h3>{table(MODEL_COLUMNS, [_model_row(version, versions) for version in versions])}",
            gr.update(choices=[(_name(version), version.id) for version in versions]),
            compare(project_id) if opened and reviews else "",  # the list names holdout questions
            *allowed,
        ]

    def compare(project_id: str) -> str:
        judged = next((line for line in views.run_lines(workspace, project_id) if line.verdict), None)
        if judged is None:
            return changes.NONE
        try:
            found = changes_of(workspace, judged.id, limit=_CHANGES_SHOWN)
        except NotFound as error:
            return empty("This run has no list of changes.", str(error))
        return changes.shown(found, project_id, f"{escape(judged.parent)} → {escape(judged.challenger or '')}")

    def ask_for_run(project_id: str, request: gr.Request) -> None:
        user = require(service, request, project_id, "reviewer")
        trigger.request(workspace, project_id, by=user.id)
        inform("A retraining is waiting for the worker.")

    def stop_run(project_id: str, request: gr.Request) -> None:
        user = require(service, request, project_id, "admin")
        retrainings = queue.open_jobs(workspace, trigger.RETRAIN, project_id)
        for job in retrainings:
            queue.cancel(workspace, job.id, by=user.id)
        inform("The retraining stops at its next step." if retrainings else "No retraining is running.")

    def promote_version(project_id: str, chosen: str | None, why: str, forced: bool, request: gr.Request) -> None:
        user = require(service, request, project_id, "admin")
        if chosen is None:
            raise Refused("Choose a model first.")
        registry.promote(workspace, project_id, chosen, by=user, force=forced, reason=why)
        inform("Promoted. The page uses the model within seconds.")

    def roll_back(project_id: str, why: str, request: gr.Request) -> None:
        user = require(service, request, project_id, "admin")
        registry.rollback(workspace, project_id, by=user, reason=why)
        inform("Rolled back.")

    shown = [status, nothing, history, loss, verdict, runs, by_version, models, version, compared]
    tab.follow(show, [opened], [*shown, retrain, stop, changed, choosing])
    expanded = changed.expand(None, None, opened, js="() => true", **QUIET)
    changed.collapse(None, None, opened, js="() => false", **QUIET)
    acts = (
        retrain.click(ask_for_run, project, None, **QUIET),
        stop.click(stop_run, project, None, **QUIET),
        promote.click(promote_version, [project, version, reason, force], None, **QUIET),
        rollback.click(roll_back, [project, reason], None, **QUIET),
    )
    tab.again(expanded.then, *(act.then for act in acts))


def _status(service: AnswerService, project_id: str) -> str:
    """Return a card with the model in use, the running job, and progress to the next retraining."""
    workspace = service.workspace
    with workspace.database.read() as session:
        champion = registry.label(registry.champion(session, project_id))
    chosen = project_settings.settings_of(projects.project_by_id(workspace, project_id))
    waiting = views.waiting_to_train(workspace, project_id)
    working = next((job for job in queue.open_jobs(workspace, None, project_id) if job.kind in _SHOWN), None)
    if working is not None:
        share = working.progress if working.status == "running" else 0.0
        text = working.message or ("Working" if working.status == "running" else "Waiting for a worker")
    elif not chosen.retrain_automatically:
        share, text = 0.0, f"{waiting} answers accepted since the last retraining. Automatic retraining is off."
    else:
        share = min(1.0, waiting / chosen.retrain_after)
        text = (
            f"{waiting} of {chosen.retrain_after} newly accepted answers on training documents for the next "
            f"retraining. "
            "About 70 % of the documents are for training, the others for judging."
            if waiting < chosen.retrain_after
            else f"{waiting} newly accepted answers on training documents: a retraining is due."
        )
    return (
        f'<div class="glossator-status"><div>Model in use (champion): <b>{escape(champion)}</b></div>'
        f"<div>{escape(text)}</div>"
        f'<div class="glossator-bar" role="progressbar" aria-label="{escape(text, quote=True)}" aria-valuemin="0" '
        f'aria-valuemax="100" aria-valuenow="{100 * share:.0f}"><i style="width:{share:.1%}"></i></div></div>'
    )


def _name(version: registry.VersionView) -> str:
    return f"{version.label} (in use)" if version.champion else version.label


def _run_row(line: views.RunLine) -> list[object]:
    if line.status == "judged":
        outcome = badge("passed", "good") if line.verdict.get("passed") else badge("not better", "bad")
    else:
        outcome = badge(line.status, "busy" if line.status == "running" else "plain")
    models = f"{line.parent} → {line.challenger}" if line.challenger else line.parent
    return [
        moment(line.created_at),
        f"{line.annotations} answers",
        models,
        outcome,
        sentence(str(line.verdict.get("sentence", ""))),
    ]


def _model_row(version: registry.VersionView, versions: list[registry.VersionView]) -> list[object]:
    name: str = badge(f"{version.label} in use", "good") if version.champion else version.label
    if version.missing:
        name = badge(f"{version.label} is missing from disk", "bad")
    return [
        name,
        next((one.label for one in versions if one.id == version.parent_id), "-"),
        moment(version.created_at),
        *(curves.share(version, name) for name in _JUDGED_ON),
        str(version.optimizer.get("name", "-")),
        (version.snapshot_sha256 or "-")[:12],
    ]
