"""The tab Documents: documents of a project with their progress, imports, and new projects."""

from collections.abc import Sequence
from html import escape
from typing import Any

import gradio as gr

from annotator.ui.choice import NO_PROJECT, QUIET, current_user, role_of
from annotator.ui.live_tab import LiveTab
from annotator.ui.table import Markup, badge, empty, link, moment, table
from engine.annotation.answer_service import AnswerService
from engine.documents.views import DocumentLine, document_lines
from engine.errors import Forbidden
from engine.interchange.exports import FORMATS
from engine.interchange.imports import READERS, RECOGNISE
from engine.plurals import word
from engine.projects import projects

_MADE = "(made) => { window.Glossator.chooseProject(made.id); return []; }"
COLUMNS = ["Document", "Pages", "Words", "Questions", "Accepted", "Added", "Notes"]
EMPTY = empty("No documents yet.", "Upload PDF, PNG, JPEG or TIFF files, or run: glossator ingest FILES")
_UPLOAD = '<glossator-upload class="g-people g-upload"></glossator-upload>'  # annotator/static/tabs/document_upload.js


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
<glossator-imports class="g-people" data-project="{project}"><section class="g-card"><h2>Import a dataset</h2>
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
</form><ul class="g-rows" aria-label="Running imports"></ul></section></glossator-imports>
"""


def build(service: AnswerService) -> None:
    """Place the tab Documents into the current Gradio context.

    Args:
        service: answer service with the workspace.
    """
    with gr.Column(elem_classes=["glossator-tab"]):
        tab = LiveTab(service, "documents", "Documents")
        with gr.Row(elem_classes=["glossator-actions"]):
            tab.project_choice()
            name = gr.Textbox(label="New project", placeholder="Invoices 2026", max_length=100, scale=1, visible=False)
            create = gr.Button("Create", scale=0, min_width=110, size="md", visible=False)
        made = gr.JSON(visible="hidden")
        upload = gr.HTML(apply_default_css=False)
        content = gr.HTML()
        taking_in = gr.HTML(apply_default_css=False)

    def show(request: gr.Request, project_id: str | None) -> list[Any]:
        user = current_user(service, request)
        role = role_of(service, request, project_id)
        creates = gr.update(visible=user.role == "admin")
        if project_id is None or role is None:
            return ["", NO_PROJECT, "", creates, creates]
        lines = document_lines(service.workspace, project_id, user.id)
        form = import_form(project_id) if role in ("reviewer", "admin") else ""
        return [_UPLOAD, _listed(project_id, lines) if lines else EMPTY, form, creates, creates]

    def make(wanted: str, request: gr.Request) -> tuple[dict[str, str], str]:
        user = current_user(service, request)
        if user.role != "admin":
            raise Forbidden("Only an admin can create a project. Ask an admin to create it.")
        project = projects.create_project(service.workspace, wanted.strip(), created_by=user.id)
        return {"id": project.id}, ""

    tab.follow(show, [], [upload, content, taking_in, name, create])
    created = gr.on([create.click, name.submit], make, name, [made, name], **QUIET)
    tab.acted(created.success(None, made, None, js=_MADE, **QUIET).then)


def _listed(project_id: str, lines: Sequence[DocumentLine]) -> str:
    """Return the documents of a project with their sums (HTML)."""
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
        (len(lines), "document", "documents"),
        (sum(line.pages for line in lines), "page", "pages"),
        (sum(line.questions for line in lines), "question", "questions"),
        (sum(line.accepted for line in lines), "accepted", "accepted"),
    )
    figures = "".join(f"<div><b>{number:,}</b> {word(number, *words)}</div>" for number, *words in sums)
    return f'<div class="glossator-figures">{figures}</div>{table(COLUMNS, rows)}'
