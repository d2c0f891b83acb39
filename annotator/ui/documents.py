"""The tab Documents: documents of a project with their progress, imports, and new projects."""

from html import escape
from typing import Any

import gradio as gr

from annotator.gradio.event_user import current_user, role_of
from annotator.gradio.hidden_value import place_hidden_value
from annotator.gradio.live_tab import QUIET, LiveTab
from annotator.gradio.table_pages import TablePages
from annotator.ui.table import NO_PROJECT, Markup, badge, empty, link, moment, table
from engine.annotation.answer_service import AnswerService
from engine.documents.lists.listing import DocumentPage, Skipped, Sort, document_page
from engine.documents.lists.totals import DocumentTotals, document_totals
from engine.documents.lists.views import DocumentLine
from engine.errors import Forbidden
from engine.interchange.formats import FORMATS, IMPORTED
from engine.interchange.imports import RECOGNISE
from engine.plurals import word
from engine.projects import projects
from engine.tasks.skips import REASONS

ROWS = 50  # of one page of the table
SKIPPED = [
    ("All documents", ""),
    ("Any reason", "any"),
    *((title, reason) for reason, title in REASONS.items()),
]
ORDERS: list[tuple[str, Sort]] = [("Newest first", "-created"), ("Name", "name")]
_MADE = "(made) => { window.Glossator.chooseProject(made.id); return []; }"
COLUMNS = ["Document", "Pages", "Words", "Questions", "Accepted", "Added", "Notes"]
EMPTY = empty("No documents yet.", "Upload PDF files or pictures, or run: glossator ingest FILES")
_UPLOAD = '<glossator-upload class="g-people g-upload"></glossator-upload>'  # annotator/static/tabs/document_upload.js

_BIN = '<glossator-bin class="g-people" data-project="{project}"></glossator-bin>'  # static/tabs/removed_documents.js


def _notes(line: DocumentLine) -> Markup:
    """Return the notes about a document, its duplicate group first."""
    notes = [escape(sentence) for sentence in line.warnings]
    if line.quarantined:
        notes.insert(0, badge("quarantined", "bad"))
    elif line.same_as is not None:
        notes.insert(
            0, f"{badge('duplicate', 'plain')} Same as <bdi>{escape(line.same_as)}</bdi>; both stay in one split."
        )
    return Markup(f'<div class="glossator-wide">{" ".join(notes)}</div>') if notes else Markup("")


def _document(project_id: str, line: DocumentLine, chosen: bool) -> Markup:
    """Return the name of a document as a link, behind a box to choose it (static/tabs/removed_documents.js)."""
    shown = link(f"./#project={project_id}&document={line.id}", line.name)
    if not chosen:
        return shown
    box = f'<glossator-choice data-document="{line.id}" data-name="{escape(line.name, quote=True)}"></glossator-choice>'
    return Markup(f'<div class="g-chosen-name">{box}{shown}</div>')


def import_form(project_id: str | None) -> str:
    """Return the form that imports a dataset; annotator/static/tabs/imports.js sends it.

    Args:
        project_id: project that receives the dataset.
    """
    formats = [(RECOGNISE, "Detect automatically"), *((name, FORMATS[name].title) for name in IMPORTED)]
    return _IMPORT.format(
        project=escape(project_id or ""),
        formats="".join(f'<option value="{name}">{escape(title)}</option>' for name, title in formats),
    )


_IMPORT = """
<glossator-imports class="g-people" data-project="{project}"><section class="g-card"><h2>Import a dataset</h2>
<p>A zip file of pages with answers, from another program or from an export of Glossator. A dataset with an error is
refused as a whole; the message names the errors. For files above this server's upload limit, use
<code>glossator import</code>.</p>
<form class="g-form" data-import="{project}">
<label>Zip file<input type="file" name="file" accept=".zip,application/zip" required></label>
<label>Format<select name="format">{formats}</select></label>
<label>Status of the answers<select name="status"><option value="accepted">Accepted</option>
<option value="submitted">Submitted for review</option><option value="draft">Drafts</option></select></label>
<label class="g-check"><span>Pages without words</span>
<span><input type="checkbox" name="ocr" checked> Read by OCR</span></label>
<label class="g-check"><span>Entries with an error</span>
<span><input type="checkbox" name="skip_bad"> Skip bad entries, import the rest</span></label>
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
            tab.place_project_choice()
            name = gr.Textbox(label="New project", placeholder="Invoices 2026", max_length=100, scale=1, visible=False)
            create = gr.Button("Create", scale=0, min_width=110, size="md", visible=False)
        made = place_hidden_value()
        upload = gr.HTML(apply_default_css=False)
        figures = gr.HTML()
        with gr.Row(elem_classes=["glossator-actions"]):
            search = gr.Textbox(
                label="Search documents", placeholder="Part of a name, or printed words", max_length=200, visible=False
            )
            order = gr.Dropdown(ORDERS, value="-created", label="Order", visible=False)
            skipped = gr.Dropdown(SKIPPED, value="", label="Skipped tasks", visible=False)
        removed = gr.HTML(apply_default_css=False)
        content = gr.HTML()
        pages = TablePages("documents")
        taking_in = gr.HTML(apply_default_css=False)

    def show(
        request: gr.Request,
        project_id: str | None,
        query: str | None,
        sort: Sort | None,
        reason: Skipped | None,
        seen: Any,
    ) -> list[Any]:
        query, sort = query or "", sort or "-created"
        user = current_user(service, request)
        role = role_of(service, request, project_id)
        creates = gr.update(visible=user.role == "admin")
        hidden = gr.update(visible=False)
        if project_id is None or role is None:
            return ["", "", "", NO_PROJECT, hidden, hidden, hidden, *pages.hide(), "", creates, creates]
        form = import_form(project_id) if role in ("reviewer", "admin") else ""
        bin_of_project = _BIN.format(project=escape(project_id)) if role == "admin" else ""
        totals = document_totals(service.workspace, project_id, user.id)
        if not totals.documents:
            return [_UPLOAD, "", bin_of_project, EMPTY, hidden, hidden, hidden, *pages.hide(), form, creates, creates]
        reviews = role in ("reviewer", "admin")
        flag = reason or None if reviews else None  # who skips what is the reviewers'
        asked = {"project": project_id, "query": query, "sort": sort, "skipped": flag}
        trail = pages.read_trail(seen, **asked)
        cursor = trail[-1] if trail else None
        page = document_page(
            service.workspace, project_id, user.id, query=query, sort=sort, limit=ROWS, cursor=cursor, skipped=flag
        )
        shown, turned = gr.update(visible=True), pages.show(trail, page.next, **asked)
        listed = _list_page(project_id, page, len(trail) * ROWS, removes=role == "admin")
        flags = gr.update(visible=reviews)
        return [_UPLOAD, _figures(totals), bin_of_project, listed, shown, shown, flags, *turned, form, creates, creates]

    def make(wanted: str, request: gr.Request) -> tuple[dict[str, str], str]:
        user = current_user(service, request)
        if user.role != "admin":
            raise Forbidden("Only an admin can create a project. Ask an admin to create it.")
        project = projects.create_project(service.workspace, wanted.strip(), created_by=user.id)
        return {"id": project.id}, ""

    filled = [upload, figures, removed, content, search, order, skipped, *pages.outputs, taking_in, name, create]
    tab.follow(show, [search, order, skipped, pages.place], filled)
    tab.fetch_again_on(search.change, order.input, skipped.input)
    pages.fetch_when_turned(tab)
    created = gr.on([create.click, name.submit], make, name, [made, name], **QUIET)
    tab.show_result_of(created.success(None, made, None, js=_MADE, **QUIET).then)


def _figures(totals: DocumentTotals) -> str:
    """Return the sums over all documents of a project (HTML)."""
    sums = (
        (totals.documents, "document", "documents"),
        (totals.pages, "page", "pages"),
        (totals.questions, "question", "questions"),
        (totals.accepted, "accepted", "accepted"),
    )
    shown = "".join(f"<div><b>{number:,}</b> {word(number, *words)}</div>" for number, *words in sums)
    return f'<div class="glossator-figures">{shown}</div>'


def _list_page(project_id: str, page: DocumentPage, before: int, *, removes: bool) -> str:
    """Return a page of documents (HTML).

    Args:
        project_id: project of the documents.
        page: the page.
        before: number of documents on the pages before it.
        removes: whether the reader may remove documents.
    """
    if not page.lines:
        return empty(
            "No documents found.",
            "Each word must be part of the name, or the beginning of a printed word. A filter may leave none.",
        )
    rows = [
        [
            _document(project_id, line, removes),
            line.pages,
            line.words,
            line.questions,
            line.accepted,
            moment(line.created_at),
            _notes(line),
        ]
        for line in page.lines
    ]
    last = before + len(rows)
    shown = f"Documents {before + 1:,} to {last:,} of {max(page.total, last):,}"
    return f'<p class="glossator-range">{shown}</p>{table(COLUMNS, rows)}'
