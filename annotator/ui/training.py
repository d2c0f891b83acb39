"""The tab Training: what was learned, how it was judged, and which model answers."""

from html import escape
from typing import Any

import gradio as gr
import pandas as pd

from annotator.ui import curves
from annotator.ui.choice import current_user, project_choice, told
from engine import projects
from engine.annotation.ask import Desk
from engine.jobs import queue, trigger
from engine.training import registry, views

RUN_COLUMNS = ["Began", "Learned from", "Models", "Outcome", "Verdict"]
EMPTY = (
    '<div class="glossator-empty"><b>Nothing was learned yet.</b>'
    "Accept answers on the tab Annotate. When enough have come together, the model is retrained from them, judged against the "
    "one in use, and takes over only if it is better. The curves and the verdict appear here.</div>"
)
MODEL_COLUMNS = ["Model", "Made", *curves.HOLDOUTS.values(), "Optimizer", "Snapshot"]


def build(desk: Desk) -> None:
    """Place the tab into the Gradio context around the call."""
    workspace = desk.workspace
    with gr.Column(elem_classes=["glossator-tab"]):
        with gr.Row(elem_classes=["glossator-actions"]):
            project = project_choice(desk)
            retrain = gr.Button("Retrain now", variant="primary", scale=0, min_width=140)
            stop = gr.Button("Stop", scale=0, min_width=90)
        status = gr.HTML()
        nothing = gr.HTML(EMPTY)
        with gr.Column(visible=False) as history:
            with gr.Row():
                loss = gr.LinePlot(x="step", y="loss", title="Loss of the newest run", height=240)
                quality = gr.LinePlot(
                    x="model",
                    y="share of answers right",
                    color="pages",
                    title="Quality by version",
                    height=240,
                    y_lim=[0, 1],
                )
            gr.Markdown("#### Runs")
            runs = gr.Dataframe(
                headers=RUN_COLUMNS,
                interactive=False,
                wrap=True,
                column_widths=["12%", "14%", "14%", "12%", "48%"],
                buttons=[],
            )
        gr.Markdown("#### Models")
        models = gr.Dataframe(headers=MODEL_COLUMNS, interactive=False, wrap=True, buttons=[])
        with gr.Accordion("Choose the model that answers", open=False):
            with gr.Row(elem_classes=["glossator-actions"]):
                version = gr.Dropdown(label="Model", choices=[], scale=1)
                reason = gr.Textbox(label="Why", placeholder="Kept in the record", max_length=2000, scale=2)
            with gr.Row(elem_classes=["glossator-actions"]):
                force = gr.Checkbox(label="Even past a failed or missing verdict (admins only; audited)", scale=2)
                promote = gr.Button("Promote", scale=0, min_width=120)
                rollback = gr.Button("Roll back to the model before", scale=0, min_width=220)
    refresh = gr.Timer(2)

    def show(project_id: str | None) -> list[Any]:
        if not project_id:
            return [gr.skip()] * 8
        versions = registry.versions(workspace, project_id)
        lines = views.run_lines(workspace, project_id)
        newest = views.run_view(workspace, lines[0].id) if lines else None
        return [
            _status(desk, project_id),
            gr.update(visible=not lines),
            gr.update(visible=bool(lines)),
            curves.loss(newest),
            curves.quality(versions),
            pd.DataFrame([_run_row(line) for line in lines], columns=RUN_COLUMNS),
            pd.DataFrame([_model_row(version) for version in versions], columns=MODEL_COLUMNS),
            gr.update(choices=[(_name(version), version.id) for version in versions]),
        ]

    @told
    def ask_for_run(project_id: str, request: gr.Request) -> None:
        trigger.request(workspace, project_id, by=current_user(desk, request).id)
        gr.Info("A retraining is waiting for the worker.")

    @told
    def stop_run(project_id: str) -> None:
        for job in queue.list_jobs(workspace, project_id):
            if job.status in ("waiting", "running"):
                queue.cancel(workspace, job.id)
                gr.Info("The retraining stops at its next step.")
                return
        gr.Info("Nothing is running.")

    @told
    def promote_version(project_id: str, chosen: str | None, why: str, forced: bool, request: gr.Request) -> None:
        if chosen is None:
            raise gr.Error("Choose a model first.", print_exception=False)
        user = current_user(desk, request)
        registry.promote(workspace, project_id, chosen, by=user, force=forced, reason=why)
        gr.Info("Promoted; the page answers with it within seconds.")

    @told
    def roll_back(project_id: str, why: str, request: gr.Request) -> None:
        registry.rollback(workspace, project_id, by=current_user(desk, request), reason=why)
        gr.Info("Rolled back.")

    shown = [status, nothing, history, loss, quality, runs, models, version]
    quiet = {"show_progress": "hidden", "api_visibility": "private"}
    for event in (project.change, refresh.tick):
        event(show, project, shown, **quiet)
    gr.on(None, show, project, shown, **quiet)
    retrain.click(ask_for_run, project, None, **quiet).then(show, project, shown, **quiet)
    stop.click(stop_run, project, None, **quiet).then(show, project, shown, **quiet)
    promote.click(promote_version, [project, version, reason, force], None, **quiet).then(show, project, shown, **quiet)
    rollback.click(roll_back, [project, reason], None, **quiet).then(show, project, shown, **quiet)


def _status(desk: Desk, project_id: str) -> str:
    """Say in one card who answers, what is running, and what is missing until the next retraining."""
    workspace = desk.workspace
    with workspace.database.read() as session:
        champion = registry.label(registry.champion(session, project_id))
    chosen = projects.settings_of(projects.project_by_id(workspace, project_id))
    waiting = views.waiting_to_train(workspace, project_id)
    working = next(
        (job for job in queue.list_jobs(workspace, project_id) if job.status in ("waiting", "running")), None
    )
    if working is not None:
        share = working.progress if working.status == "running" else 0.0
        text = working.message or ("Working" if working.status == "running" else "Waiting for a worker")
    elif not chosen.retrain_automatically:
        share, text = 0.0, f"{waiting} answers accepted since the last retraining; this project retrains by hand."
    else:
        share = min(1.0, waiting / chosen.retrain_after)
        text = f"{waiting} of {chosen.retrain_after} newly accepted answers on training documents until the next retraining."
    return (
        f'<div class="glossator-status"><div><b>{escape(champion)}</b> answers in this project.</div>'
        f"<div>{escape(text)}</div>"
        f'<div class="glossator-bar" role="progressbar" aria-valuenow="{share:.0%}"><i style="width:{share:.1%}"></i></div></div>'
    )


def _name(version: registry.VersionSummary) -> str:
    return f"{version.label} (answers now)" if version.champion else version.label


def _run_row(line: views.RunLine) -> list[Any]:
    outcome = {"judged": "passed" if line.verdict.get("passed") else "not passed"}.get(line.status, line.status)
    models = f"{line.parent} → {line.challenger}" if line.challenger else line.parent
    return [
        f"{line.created_at:%Y-%m-%d %H:%M}",
        f"{line.annotations} answers",
        models,
        outcome,
        str(line.verdict.get("sentence", "")),
    ]


def _model_row(version: registry.VersionSummary) -> list[Any]:
    return [
        _name(version),
        f"{version.created_at:%Y-%m-%d %H:%M}",
        *(curves.share(version, name) for name in curves.HOLDOUTS),
        str(version.optimizer.get("name", "")),
        (version.snapshot_sha256 or "")[:12],
    ]
