"""The tab Documents: documents of a project with their progress, imports, and new projects."""

from html import escape

import gradio as gr

from annotator.ui.choice import CHOOSE, NO_PROJECT, QUIET, choices, current_user, offer, project_choice, role_of
from annotator.ui.table import Markup, badge, empty, link, moment, table
from engine.annotation.answer_service import AnswerService
from engine.documents.views import DocumentLine, document_lines
from engine.errors import Forbidden
from engine.interchange.exports import FORMATS
from engine.interchange.imports import READERS, RECOGNISE
from engine.projects import projects

COLUMNS = ["Document", "Pages", "Words", "Questions", "Accepted", "Added", "Notes"]
EMPTY = empty(
    "No documents yet.",
    "Drop PDF, PNG, JPEG or TIFF files anywhere on the tab Annotate, or run: glossator ingest FILES",
)


def _notes(line: DocumentLine) -> Markup:
    """Return the notes about a document, its duplicate group first."""
    said = [escape(sentence) for sentence in line.warnings]
    if line.quarantined:
        said.insert(0, badge("quarantined", "bad"))
    elif line.same_as is not None:
        said.insert(
            0, f"{badge('duplicate', 'plain')} Same as <bdi>{escape(line.same_as)}</bdi>; both stay in one split."
        )
    return Markup(f'<div class="glossator-wide">{" ".join(said)}</div>') if said else Markup("")


def import_form(project_id: str | None) -> str:
    """Return the form that imports a dataset; annotator/static/tabs/imports.js sends it.

    Args:
        project_id: project that receives the dataset.
    """
    formats = [(RECOGNISE, "Detect automatically"), *((name, FORMATS[name].title) for name in READERS)]
    return _IMPORT.format(
        project=escape(project_id or ""),
        formats="".join(f'<option value="{name}">{escape(title)}</option>' for name, title in formats),
    )


_IMPORT = """
<div class="g-people"><section class="g-card"><h3>Import a dataset</h3>
<p>A zip file of pages with answers, from another program or from an export of Glossator. A dataset with an error is
refused as a whole; the message names the error. For files above this server's upload limit, use
<code>glossator import</code>.</p>
<form class="g-form" data-import="{project}">
<label>Zip file<input type="file" name="file" accept=".zip,application/zip" required></label>
<label>Format<select name="format">{formats}</select></label>
<label>Status of the answers<select name="status"><option value="accepted">Accepted</option>
<option value="submitted">Submitted for review</option><option value="draft">Drafts</option></select></label>
<label class="g-check"><span>Pages without words</span>
<span><input type="checkbox" name="ocr" checked> Read by OCR</span></label>
<button class="g-act g-first">Import</button><button type="button" class="g-act" hidden>Stop</button>
<output aria-live="polite"></output>
</form><ul class="g-rows" data-imports="{project}" aria-label="Running imports"></ul></section></div>
"""


def build(service: AnswerService, tab: gr.Tab) -> None:
    """Place the tab Documents into the current Gradio context.

    Args:
        service: answer service with the workspace.
        tab: the tab, whose selection refreshes the list of projects.
    """
    with gr.Column(elem_classes=["glossator-tab"]):
        with gr.Row(elem_classes=["glossator-actions"]):
            project = project_choice()
            name = gr.Textbox(label="New project", placeholder="Invoices 2026", max_length=100, scale=1)
            create = gr.Button("Create", scale=0, min_width=110, size="md")
        content = gr.HTML()
        taking_in = gr.HTML(apply_default_css=False)
    refresh = gr.Timer(5)

    def show(project_id: str | None, request: gr.Request) -> str:
        if project_id is None or role_of(service, request, project_id) is None:
            return NO_PROJECT
        lines = document_lines(service.workspace, project_id, current_user(service, request).id)
        if not lines:
            return EMPTY
        rows = [
            [
                link(f"/app/#project={project_id}&document={line.id}", line.name),
                line.pages,
                line.words,
                line.questions,
                line.accepted,
                moment(line.created_at),
                _notes(line),
            ]
            for line in lines
        ]
        sums = (
            ("documents", len(lines)),
            ("pages", sum(line.pages for line in lines)),
            ("questions", sum(line.questions for line in lines)),
            ("accepted", sum(line.accepted for line in lines)),
        )
        figures = "".join(f"<div><b>{count:,}</b> {what}</div>" for what, count in sums)
        return f'<div class="glossator-figures">{figures}</div>{table(COLUMNS, rows)}'

    def make(wanted: str, request: gr.Request) -> tuple[dict[str, object], str]:
        user = current_user(service, request)
        if user.role != "admin":
            raise Forbidden("Only an admin can create a project. Ask an admin to create it.")
        made = projects.create_project(service.workspace, wanted.strip(), created_by=user.id)
        return choices(service, user, made.id), ""

    def rights(request: gr.Request) -> list[dict[str, object]]:
        may = current_user(service, request).role == "admin"
        return [gr.update(visible=may), gr.update(visible=may)]

    def offer_import(project_id: str | None, request: gr.Request) -> str:
        return import_form(project_id) if role_of(service, request, project_id) in ("reviewer", "admin") else ""

    project.change(offer_import, project, taking_in, **QUIET)
    gr.on(None, offer_import, project, taking_in, **QUIET)
    for event in (project.change, refresh.tick):
        event(show, project, content, **QUIET)
    offer(service, project, tab).then(show, project, content, **QUIET)
    gr.on(None, rights, None, [name, create], **QUIET)
    gr.on([create.click, name.submit], make, name, [project, name], **QUIET).success(
        None, project, None, js=CHOOSE, **QUIET
    )
