"""The tab Export: reviewed answers as a dataset, in common annotation formats."""

from html import escape
from shlex import quote
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from annotator.gradio.event_user import role_of
from annotator.gradio.event_zone import with_offset, zone_of
from annotator.gradio.live_tab import LiveTab
from annotator.ui.table import NO_PROJECT, empty
from db.statuses import ACCEPTED, AUTOMATIC
from engine.annotation.answer_service import AnswerService
from engine.datasets.estimates import Estimate, would_take
from engine.datasets.filters import Filters
from engine.errors import Refused
from engine.interchange.exports import check_told
from engine.interchange.formats import DEFAULT, FORMATS
from engine.plurals import count
from engine.projects import projects
from engine.tasks.asked_questions import OFFERED, most_asked

FOR_REVIEWERS = empty(
    "Only reviewers can export.", "Ask an admin of the project to make you a reviewer, on the tab People."
)
EMPTY = empty("Nothing to export yet.", "Accept an answer on the tab Annotate; accepted answers become the dataset.")
_STATUSES = [
    ("Accepted", "accepted"),
    ("Fixed by a reviewer", "fixed"),
    ("Submitted", "submitted"),
    ("Drafts", "draft"),
    ("Rejected", "rejected"),
    ("Automatic, not reviewed", AUTOMATIC),
]
_SPLITS = [("Training", "train"), ("Recent holdout", "recent"), ("Frozen holdout", "frozen")]
_QUESTIONS = f"None selected: all. The {OFFERED} questions of most documents are listed."
_OPTIONS = {
    "questions": "question",
    "statuses": "status",
    "splits": "split",
    "since": "since",
    "until": "until",
    "agreement": "agreement",
}


# Filled and kept up to date by annotator/static/tabs/exports.js and snapshots.js.
_EXPORTS = """
<glossator-exports class="g-people" data-project="{project}"><section class="g-card">
<h2>Exports of this project</h2>
<p>An export goes on when this page is closed. Its file is kept for a day.</p>
<p class="g-say g-wrong" role="status" hidden></p><p class="g-none"></p>
<ul class="g-rows g-job-rows" aria-label="Exports"></ul></section></glossator-exports>
"""
_SNAPSHOTS = (
    '<glossator-snapshots class="g-people" data-project="{project}" data-admin="{admin}"></glossator-snapshots>'
)


def build(service: AnswerService) -> None:
    """Place the tab Export into the current Gradio context.

    Args:
        service: answer service with the workspace.
    """
    with gr.Column(elem_classes=["glossator-tab"]):
        tab = LiveTab(service, "export", "Export")
        with gr.Row(elem_classes=["glossator-actions"]):
            tab.place_project_choice()
            form = gr.Dropdown(
                [(export_format.title, export_format.name) for export_format in FORMATS.values()],
                value=DEFAULT,
                label="Format",
                min_width=240,
            )
        with gr.Accordion("Filters", open=False):
            with gr.Row():
                statuses = gr.CheckboxGroup(_STATUSES, value=list(ACCEPTED), label="Status")
                splits = gr.CheckboxGroup(_SPLITS, value=[], label="Split", info="None selected: all.")
            questions = gr.Dropdown([], value=[], multiselect=True, label="Questions", info=_QUESTIONS)
            with gr.Row():
                since = gr.Textbox(label="Saved on or after", placeholder="2026-11-22", info="A day of your time zone.")
                until = gr.Textbox(label="Saved before", placeholder="2026-12-01", info="A day of your time zone.")
                agreement = gr.Slider(
                    0,
                    1,
                    0,
                    step=0.05,
                    label="Minimum reliability",
                    info="Weight of an answer, or confidence of an automatic one. 0: all.",
                )
                fit = gr.Checkbox(label="Exclude labels unfit for training", info="Listed on the tab Quality.")
        card = gr.HTML()
        made = gr.HTML(apply_default_css=False)
        frozen = gr.HTML(apply_default_css=False)
    # Gradio would check the value against the choices at page load; check only that each value is text.
    questions.preprocess = lambda payload: [text for text in payload or [] if isinstance(text, str)]
    chosen = [form, statuses, splits, questions, since, until, agreement, fit]

    def show(
        request: gr.Request,
        project_id: str | None,
        form: str,
        statuses: list[str],
        splits: list[str],
        questions: list[str],
        since: str,
        until: str,
        agreement: float,
        fit: bool,
    ) -> list[Any]:
        role = role_of(service, request, project_id)
        if role is None or project_id is None or role == "annotator":
            return [NO_PROJECT if role is None else FOR_REVIEWERS, "", "", gr.update(choices=[], value=[])]
        answered = most_asked(service.workspace, project_id)
        offered: dict[str, Any] = {"choices": answered}
        asked = [question for question in questions or () if question in answered]
        if asked != list(questions or ()):  # of the project before; else the value stays, for it may be in hand
            offered["value"] = asked
        zone = zone_of(request)
        try:
            filters = Filters(
                statuses=tuple(statuses or ()),
                splits=tuple(splits or ()) or None,
                questions=tuple(asked) or None,
                since=with_offset((since or "").strip(), zone) or None,
                until=with_offset((until or "").strip(), zone) or None,
                agreement=agreement or None,
                quarantined=True,
                unfit=not fit,
            )
            shown = estimate_sentence(project_id, form, filters)
        except Refused as refused:
            shown = empty("No dataset with these filters.", str(refused))
        key = escape(project_id)
        snapshots = _SNAPSHOTS.format(project=key, admin="yes" if role == "admin" else "")
        return [shown, _EXPORTS.format(project=key), snapshots, gr.update(**offered)]

    def estimate_sentence(project_id: str, form: str, filters: Filters) -> str:
        check_told(FORMATS.get(form, FORMATS[DEFAULT]), filters.statuses)
        estimate = would_take(service.workspace, project_id, filters)
        if not estimate.answers:
            plain = filters == Filters(statuses=filters.statuses, quarantined=True, unfit=True)
            plain = plain and set(filters.statuses) == set(ACCEPTED)
            return EMPTY if plain else empty("No answer matches these filters.", "Remove or change a filter.")
        name = projects.project_by_id(service.workspace, project_id).name
        return _card(name, project_id, form, filters, estimate)

    tab.follow(show, chosen, [card, made, frozen, questions])
    tab.fetch_again_on(*(part.input for part in chosen))


def _card(project: str, project_id: str, form: str, filters: Filters, estimate: Estimate) -> str:
    shown = FORMATS.get(form, FORMATS[DEFAULT])
    values = filters.to_json()
    pairs = [("format", shown.name)]
    for name, option in _OPTIONS.items():
        value = values.get(name)
        if name == "statuses" and set(filters.statuses) == set(ACCEPTED):
            continue
        pairs += [(option, str(part)) for part in (value if isinstance(value, tuple) else [value]) if part is not None]
    if not filters.unfit:
        pairs.append(("fit", "true"))
    shell = " ".join("--fit" if name == "fit" else f"--{name} {quote(value)}" for name, value in pairs)
    answers, documents = estimate.answers, estimate.documents
    many = f"{count(answers, 'answer')} on {count(documents, 'document')}"
    many = many if estimate.exact else f"Up to {many}"
    lossy = (
        f"<div>{escape(shown.lossy)}</div>" if shown.lossy else "<div>Stores every mask exactly, pixel by pixel.</div>"
    )
    pages = "Page images are copied unchanged. " if shown.pages else ""
    return (
        f'<div class="glossator-status"><div><b>{many}</b></div>{lossy}'
        f"<div>{pages}A dataset card and a manifest with the SHA-256 of every file are included.</div>"
        f'<p><button type="button" class="glossator-button" data-export="{escape(project_id)}" '
        f'data-chosen="{escape(urlencode(pairs))}">Export as {escape(shown.title)} (zip)</button></p>'
        f"<div>Same export on the command line: "
        f"<code>glossator export {escape(shell)} --project {escape(quote(project))} OUT</code></div></div>"
    )
