"""The tab Training: runs, their verdicts, and the model in use."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import gradio as gr

from annotator.gradio.event_user import require, role_of
from annotator.gradio.hidden_value import place_hidden_value
from annotator.gradio.live_tab import QUIET, LiveTab
from annotator.gradio.notices import inform
from annotator.gradio.table_pages import TablePages
from annotator.ui import changes, curves, lineage, plots
from annotator.ui.confirmation import Confirmation
from annotator.ui.lineage import JUDGED_ON
from annotator.ui.table import NO_PROJECT, Markup, badge, empty, moment, sentence, table
from annotator.ui.verdict import picture
from engine.annotation.answer_service import AnswerService
from engine.errors import NotFound, Refused
from engine.jobs import job_list, queue
from engine.models import promotions, registry
from engine.plurals import count
from engine.projects import project_settings, projects
from engine.selection import survey_trigger
from engine.training.retraining import trigger, views
from engine.training.retraining.changes import changes_of
from engine.training.retraining.readiness import NOTHING_TO_LEARN, readiness

RUN_COLUMNS = ["Started", "Trained on", "Models", "Outcome", "Verdict"]
EMPTY = empty(
    "No retraining yet.",
    "Accept answers on the tab Annotate. When there are enough, the model is retrained on them and judged against the "
    "model in use. It replaces that model only if it is better. Curves and verdict appear here.",
)
MODEL_COLUMNS = [
    "Model", "Parent", "Created", *(f"{curves.FIGURE}, {curves.HOLDOUTS[name].lower()}" for name in JUDGED_ON),
    "Equal values", "Optimizer", "Snapshot",
]  # fmt: skip
_CHANGES_SHOWN = 40
ROWS = 20  # of one page of runs, or of models
OFFERED = 200  # newest models that can be chosen to be promoted
_HIDDEN = "() => ({ __type__: 'update', visible: false })"
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
            project = tab.place_project_choice()
            retrain = gr.Button("Retrain now", variant="primary", scale=0, min_width=150, size="md")
            stop = gr.Button("Stop", scale=0, min_width=90, size="md")
        with gr.Column(visible=False, elem_classes=["glossator-warning"]) as doubt:
            doubted = gr.HTML()
            with gr.Row(elem_classes=["glossator-actions"]):
                anyway = gr.Button("Retrain anyway", scale=0, min_width=160, size="md")
                leave = gr.Button("Do not retrain", scale=0, min_width=160, size="md")
        status = gr.HTML()
        history = gr.HTML(EMPTY)
        runs = TablePages("retrainings", "Newer retrainings", "Older retrainings")
        models = gr.HTML()
        versions_pages = TablePages("models", "Newer models", "Older models")
        opened = place_hidden_value()  # true while the list of changes is in sight: it is fetched only then
        with gr.Accordion("Changes of the newest run", open=False) as changed:
            compared = gr.HTML(changes.NONE)
        with gr.Accordion("Change the model in use", open=False) as choosing:
            with gr.Row(elem_classes=["glossator-actions"]):
                version = gr.Dropdown(label="Model", choices=[], scale=1)
                reason = gr.Textbox(label="Reason", placeholder="Kept in the audit trail", max_length=2000, scale=2)
            with gr.Row(elem_classes=["glossator-actions"]):
                force = gr.Checkbox(label="Promote despite a failed or missing verdict (audited)", scale=2)
                promote = gr.Button("Promote", scale=0, min_width=120, size="md")
                rollback = gr.Button("Roll back to the previous model", scale=0, min_width=290, size="md")
        # Outside of what the role shows: Gradio would show it with that.
        sure = Confirmation(
            "Everybody in this project gets the previous model within seconds, for questions and for drafts. "
            "No answer of a person changes.",
            "Roll back",
            "Keep the model",
        )

    def show(
        request: gr.Request, project_id: str | None, opened: bool | None, at_run: Any = None, at_version: Any = None
    ) -> list[Any]:
        role = role_of(service, request, project_id)
        reviews, changes_models = role in ("reviewer", "admin"), role == "admin"
        # Retrain now, stop, changes of the newest run, change of the model in use.
        allowed = [gr.update(visible=may) for may in (reviews, changes_models, reviews, changes_models)]
        allowed[1]["interactive"] = bool(project_id and job_list.open_jobs(workspace, trigger.RETRAIN, project_id))
        if not project_id or role is None:
            nothing = [*runs.hide(), *versions_pages.hide()]
            return ["", NO_PROJECT, "", gr.update(choices=[]), "", *nothing, *allowed]
        newest = registry.versions(workspace, project_id, limit=OFFERED)
        before_run = runs.read_trail(at_run, project=project_id)
        before_version = versions_pages.read_trail(at_version, project=project_id)
        line_page = views.run_lines(workspace, project_id, limit=ROWS, cursor=before_run[-1] if before_run else None)
        page = registry.versions(
            workspace, project_id, limit=ROWS, cursor=before_version[-1] if before_version else None
        )
        labels = {version.id: version.label for version in (*newest, *page)}
        return [
            _status(service, project_id),
            _history(service, project_id, newest, line_page),
            _models(page, labels, project_id if changes_models else None),
            gr.update(choices=[(_name(version), version.id) for version in newest]),
            compare(project_id) if opened and reviews else "",  # the list names held-out questions
            *runs.show(before_run, line_page.next, project=project_id),
            *versions_pages.show(before_version, page.next, project=project_id),
            *allowed,
        ]

    def compare(project_id: str) -> str:
        judged = views.newest_verdict(workspace, project_id)
        if judged is None:
            return changes.NONE
        try:
            judged_changes = changes_of(workspace, judged.id, limit=_CHANGES_SHOWN)
        except NotFound as error:
            return empty("This run has no list of changes.", str(error))
        return changes.show_changes(
            judged_changes, project_id, f"{escape(judged.parent)} → {escape(judged.challenger or '')}"
        )

    def ask_for_run(project_id: str, request: gr.Request) -> list[Any]:
        """Ask for a retraining, unless there is nothing to learn from or too little for it to pay."""
        require(service, request, project_id, "reviewer")
        state = readiness(workspace, project_id)
        if state.busy:
            raise Refused("A retraining is waiting or running already. Its progress is shown on this tab.")
        if not state.learnable:
            raise Refused(NOTHING_TO_LEARN)
        if state.warning is not None:
            return [_doubt(state.warning), gr.update(visible=True)]
        return ask_anyway(project_id, request)

    def ask_anyway(project_id: str, request: gr.Request) -> list[Any]:
        user = require(service, request, project_id, "reviewer")
        if not readiness(workspace, project_id).learnable:
            raise Refused(NOTHING_TO_LEARN)
        trigger.request(workspace, project_id, by=user.id)
        inform("Retraining requested.")
        return ["", gr.update(visible=False)]

    def stop_run(project_id: str, request: gr.Request) -> None:
        user = require(service, request, project_id, "admin")
        retrainings = job_list.open_jobs(workspace, trigger.RETRAIN, project_id)
        for job in retrainings:
            queue.cancel(workspace, job.id, by=user.id)
        inform("The retraining stops at its next step." if retrainings else "No retraining is running.")

    def promote_version(project_id: str, chosen: str | None, why: str, forced: bool, request: gr.Request) -> None:
        user = require(service, request, project_id, "admin")
        if chosen is None:
            raise Refused("Choose a model first.")
        promotions.promote(workspace, project_id, chosen, by=user, force=forced, reason=why)
        inform("Promoted. The page uses the model within seconds.")

    def roll_back(project_id: str, why: str, request: gr.Request) -> None:
        user = require(service, request, project_id, "admin")
        promotions.rollback(workspace, project_id, by=user, reason=why)
        inform("Rolled back.")

    turned = [*runs.outputs, *versions_pages.outputs]
    filled = [status, history, models, version, compared, *turned, retrain, stop, changed, choosing]
    tab.follow(show, [opened, runs.place, versions_pages.place], filled)
    runs.fetch_when_turned(tab)
    versions_pages.fetch_when_turned(tab)
    expanded = changed.expand(None, None, opened, js="() => true", **QUIET)
    changed.collapse(None, None, opened, js="() => false", **QUIET)
    for forgotten in (leave.click, project.input):  # a warning is of one project
        forgotten(None, None, doubt, js=_HIDDEN, **QUIET)
    acts = (
        retrain.click(ask_for_run, project, [doubted, doubt], **QUIET),
        anyway.click(ask_anyway, project, [doubted, doubt], **QUIET),
        stop.click(stop_run, project, None, **QUIET),
        promote.click(promote_version, [project, version, reason, force], None, **QUIET),
        sure.ask_before(rollback, roll_back, [project, reason], forgotten=project.input),
    )
    tab.fetch_again_on(expanded.then)
    tab.show_result_of(*(act.then for act in acts))


def _doubt(warning: str) -> str:
    return f'<p role="alert">{escape(warning)}</p>'


def _history(
    service: AnswerService, project_id: str, versions: list[registry.VersionView], lines: Sequence[views.RunLine]
) -> str:
    """Return the plots of the newest run and of the models, and a page of the runs as a table."""
    newest = next(iter(views.run_lines(service.workspace, project_id, limit=1)), None)
    if newest is None:
        return "" if job_list.open_jobs(service.workspace, trigger.RETRAIN, project_id) else EMPTY
    judged = views.newest_verdict(service.workspace, project_id)
    drawn = [
        curves.loss(views.run_view(service.workspace, newest.id)),
        picture(judged.verdict if judged is not None else {}),
        lineage.picture(versions),
    ]
    runs = table(RUN_COLUMNS, [_run_row(line) for line in lines])
    return f'<div class="glossator-plots">{"".join(plots.filled_first(drawn))}</div><h2>Retrainings</h2>{runs}'


def _status(service: AnswerService, project_id: str) -> str:
    """Return a card with the model in use, the running job, and progress to the next retraining."""
    workspace = service.workspace
    with workspace.database.read() as session:
        champion = registry.label(registry.champion(session, project_id))
    shipped = ", which comes with Glossator; a retraining makes v1" if champion == registry.SHIPPED_LABEL else ""
    chosen = project_settings.settings_of(projects.project_by_id(workspace, project_id))
    waiting = views.waiting_to_train(workspace, project_id)
    working = next((job for job in job_list.open_jobs(workspace, None, project_id) if job.kind in _SHOWN), None)
    failed = views.last_failure(workspace, project_id)
    if working is not None:
        share = working.progress if working.status == "running" else 0.0
        text = working.message or ("Working." if working.status == "running" else "Waiting for a worker.")
    elif not chosen.retrain_automatically:
        share = 0.0
        text = f"{count(waiting, 'answer')} accepted since the last retraining. Automatic retraining is off."
    else:
        share = min(1.0, waiting / chosen.retrain_after)
        text = (
            f"{waiting:,} of {count(chosen.retrain_after, 'newly accepted answer')} for the next retraining."
            if waiting < chosen.retrain_after
            else f"{count(waiting, 'newly accepted answer')}: a retraining is due."
        )
    wrong = f'<p class="glossator-failed">The last retraining failed: {escape(failed)}</p>' if failed else ""
    return (
        f'<div class="glossator-status"><div>Model in use: <b>{escape(champion)}</b>{shipped}</div>'
        f"{wrong}<div>{escape(text)}</div>"
        f'<div class="glossator-bar" role="progressbar" aria-label="{escape(text, quote=True)}" aria-valuemin="0" '
        f'aria-valuemax="100" aria-valuenow="{100 * share:.0f}"><i style="width:{share:.1%}"></i></div></div>'
    )


def _name(version: registry.VersionView) -> str:
    return f"{version.label} (in use)" if version.champion else version.label


def _run_row(line: views.RunLine) -> list[object]:
    if line.status == "judged":
        outcome = badge("passed", "good") if line.verdict.get("passed") else badge("not passed", "bad")
    else:
        outcome = badge(line.status, "busy" if line.status == "running" else "plain")
    models = f"{line.parent} → {line.challenger}" if line.challenger else line.parent
    return [
        moment(line.created_at),
        Markup(f'<span class="glossator-short">{count(line.annotations, "answer")}</span>'),
        Markup(f'<span class="glossator-short">{escape(models)}</span>'),
        outcome,
        sentence(str(line.verdict.get("sentence", ""))),
    ]


def _models(page: Sequence[registry.VersionView], labels: Mapping[str, str], removable_from: str | None) -> str:
    """Return a page of the models as a table; with the project of an admin, weights have a button to delete them."""
    rows = [_model_row(version, labels) for version in page]
    if removable_from is None:
        return f"<h2>Models</h2>{table(MODEL_COLUMNS, rows)}"
    columns = [MODEL_COLUMNS[0], "Weights", *MODEL_COLUMNS[1:]]
    for row, version in zip(rows, page, strict=True):
        row.insert(1, _removal(version, removable_from))
    return f"<h2>Models</h2>{table(columns, rows)}"


def _removal(version: registry.VersionView, project_id: str) -> Markup:
    """Return the button that asks before the weights of a model are deleted (static/tabs/model_removal.js)."""
    if version.champion or version.missing or version.label == registry.SHIPPED_LABEL:
        return Markup("")
    return Markup(
        f'<button type="button" class="glossator-quiet" data-remove-model="{escape(version.id, quote=True)}" '
        f'data-project="{escape(project_id, quote=True)}" data-model="{escape(version.label, quote=True)}" '
        f'aria-label="Delete the weights of {escape(version.label, quote=True)}">Delete</button>'
    )


def _model_row(version: registry.VersionView, labels: Mapping[str, str]) -> list[object]:
    name: str = badge(f"{version.label} in use", "good") if version.champion else version.label
    if version.missing:
        gone = badge(f"{version.label} is missing from disk", "bad")
        name = gone if version.champion else badge(f"{version.label}, no weights", "plain")
    return [
        name,
        labels.get(version.parent_id or "", "-"),
        moment(version.created_at),
        *(lineage.format_mean(version, name) for name in JUDGED_ON),
        lineage.format_values(version),
        str(version.optimizer.get("name", "-")),
        (version.snapshot_sha256 or "-")[:12],
    ]
