"""The tab Documents: what a project holds, how far it is, and new projects."""

from html import escape

import gradio as gr
import pandas as pd

from annotator.ui.choice import choices, current_user, project_choice, told
from engine import projects
from engine.annotation.ask import Desk
from engine.documents.views import document_lines
from engine.errors import Forbidden

COLUMNS = ["Document", "Pages", "Words", "Questions", "Accepted", "Added", "Notes"]
EMPTY = (
    '<div class="glossator-empty"><b>No documents yet.</b>'
    "Drop PDF, PNG, JPEG or TIFF files anywhere on the tab Annotate, or run: glossator ingest FILES</div>"
)


def build(desk: Desk) -> None:
    """Place the tab into the Gradio context around the call."""
    with gr.Column(elem_classes=["glossator-tab"]):
        with gr.Row(elem_classes=["glossator-actions"]):
            project = project_choice(desk)
            name = gr.Textbox(label="New project", placeholder="Invoices 2026", max_length=100, scale=1)
            create = gr.Button("Create", scale=0, min_width=110)
        summary = gr.HTML()
        table = gr.Dataframe(
            headers=COLUMNS,
            datatype=["html", "number", "number", "number", "number", "str", "str"],
            interactive=False,
            wrap=True,
            show_search="filter",
            buttons=[],
            column_widths=["34%", "8%", "8%", "9%", "9%", "12%", "20%"],
        )
    refresh = gr.Timer(5)

    def show(project_id: str | None) -> tuple[str, dict[str, object]]:
        lines = document_lines(desk.workspace, project_id) if project_id else []
        rows = [
            [
                _link(line.id, line.name),
                line.pages,
                line.words,
                line.questions,
                line.accepted,
                f"{line.created_at:%Y-%m-%d %H:%M}",
                " ".join(line.warnings),
            ]
            for line in lines
        ]
        pages, accepted = sum(line.pages for line in lines), sum(line.accepted for line in lines)
        asked = sum(line.questions for line in lines)
        text = (
            f"<div><b>{len(lines)}</b> documents &middot; <b>{pages}</b> pages &middot; "
            f"<b>{asked}</b> questions &middot; <b>{accepted}</b> accepted</div>"
        )
        cells = pd.DataFrame(rows, columns=COLUMNS)
        return text if lines else EMPTY, gr.update(value=cells, visible=bool(lines))

    @told
    def make(wanted: str, request: gr.Request) -> tuple[dict[str, object], str]:
        user = current_user(desk, request)
        if user.role != "admin":
            raise Forbidden("Only an admin can create a project.")
        made = projects.create_project(desk.workspace, wanted.strip(), created_by=user.id)
        return gr.update(choices=choices(desk), value=made.id), ""

    quiet = {"show_progress": "hidden", "api_visibility": "private"}
    for event in (project.change, refresh.tick):
        event(show, project, [summary, table], **quiet)
    gr.on(None, lambda: gr.update(choices=choices(desk)), None, project, **quiet)
    gr.on(None, show, project, [summary, table], **quiet)
    gr.on([create.click, name.submit], make, name, [project, name], **quiet)


def _link(document_id: str, name: str) -> str:
    return f'<a href="/app/#document={document_id}" title="{escape(name, quote=True)}">{escape(name)}</a>'
