"""The tab Documents: what a project holds, how far it is, and new projects."""

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

COLUMNS = ["Document", "Pages", "Words", "Questions", "Accepted", "Added", "To know"]
EMPTY = empty(
    "No documents yet.",
    "Drop PDF, PNG, JPEG or TIFF files anywhere on the tab Annotate, or run: glossator ingest FILES",
)


def _to_know(line: DocumentLine) -> Markup:
    """What there is to say about a document, its group first."""
    said = [escape(sentence) for sentence in line.warnings]
    if line.quarantined:
        said.insert(0, badge("quarantined", "bad"))
    elif line.same_as is not None:
        said.insert(
            0, f"{badge('duplicate', 'plain')} Same as <bdi>{escape(line.same_as)}</bdi>; the two stay in one split."
        )
    return Markup(f'<div class="glossator-wide">{" ".join(said)}</div>') if said else Markup("")


def import_form(project_id: str | None) -> str:
    """Return the form that brings a dataset into a project; annotator/static/importing.js sends it."""
    formats = [(RECOGNISE, "Recognise it"), *((name, FORMATS[name].title) for name in READERS)]
    return _IMPORT.format(
        project=escape(project_id or ""),
        formats="".join(f'<option value="{name}">{escape(title)}</option>' for name, title in formats),
    )


_IMPORT = """
<div class="g-people"><section class="g-card"><h3>Bring in a dataset</h3>
<p>Pages with answers from another program, or from an export of Glossator, as a zip file. A set in which something is wrong is refused whole,
with a sentence that says what. Larger than this server takes in one piece: <code>glossator import</code>.</p>
<form class="g-form" data-import="{project}">
<label>Zip file<input type="file" name="file" accept=".zip,application/zip" required></label>
<label>Format<select name="format">{formats}</select></label>
<label>Answers are<select name="status"><option value="accepted">accepted</option><option value="submitted">to be reviewed</option>
<option value="draft">drafts</option></select></label>
<label class="g-check"><span>Pages without words</span><span><input type="checkbox" name="ocr" checked> are read</span></label>
<button class="g-act g-first">Import</button><button type="button" class="g-act" hidden>Stop</button>
<output aria-live="polite"></output>
</form><ul class="g-rows" data-imports="{project}" aria-label="Imports under way"></ul></section></div>
"""


def build(service: AnswerService, tab: gr.Tab) -> None:
    """Place the tab into the Gradio context around the call."""
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
                _to_know(line),
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
            raise Forbidden("Only an admin can create a project.")
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
