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
EMPTY = "**Nothing here yet.** Drop PDF, PNG, JPEG or TIFF files anywhere on the tab *Annotate*."


def build(desk: Desk) -> None:
    """Place the tab into the Gradio context around the call."""
    with gr.Column(elem_classes=["glossator-tab"]):
        with gr.Row(equal_height=True):
            project = project_choice(desk)
            with gr.Group(), gr.Row():
                name = gr.Textbox(label="New project", placeholder="Invoices 2026", max_length=100, scale=3)
                create = gr.Button("Create", scale=1, min_width=90)
        summary = gr.Markdown(elem_classes=["glossator-summary"])
        table = gr.Dataframe(
            headers=COLUMNS,
            datatype=["html", "number", "number", "number", "number", "str", "str"],
            interactive=False,
            wrap=True,
            show_search="filter",
            column_widths=["34%", "8%", "8%", "9%", "9%", "12%", "20%"],
        )
    refresh = gr.Timer(5)

    def show(project_id: str | None) -> tuple[str, pd.DataFrame]:
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
        text = f"**{len(lines)}** documents · **{pages}** pages · **{asked}** questions · **{accepted}** accepted"
        return text if lines else EMPTY, pd.DataFrame(rows, columns=COLUMNS)

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
