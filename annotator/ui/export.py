"""The tab Export: the accepted answers as a dataset."""

from html import escape
from shlex import quote

import gradio as gr

from annotator.ui.choice import NO_PROJECT, QUIET, offer, project_choice, role_of
from annotator.ui.table import empty
from engine import projects
from engine.annotation.ask import Desk

FOR_REVIEWERS = empty("Exports are for reviewers.", "An admin of the project can make you one, on the tab People.")
EMPTY = empty("Nothing to export yet.", "Accept an answer on the tab Annotate; accepted answers become the dataset.")


def build(desk: Desk) -> None:
    """Place the tab into the Gradio context around the call."""
    with gr.Column(elem_classes=["glossator-tab"]):
        with gr.Row(elem_classes=["glossator-actions"]):
            project = project_choice()
        card = gr.HTML()

    def show(project_id: str | None, request: gr.Request) -> str:
        role = role_of(desk, request, project_id)
        if role == "annotator":
            return FOR_REVIEWERS
        if role is None:
            return NO_PROJECT
        summary = next((each for each in projects.summaries(desk.workspace) if each.project.id == project_id), None)
        if summary is None or summary.accepted == 0:
            return EMPTY
        answers = "1 accepted answer" if summary.accepted == 1 else f"{summary.accepted} accepted answers"
        return (
            f'<div class="glossator-status"><div><b>{answers}</b></div>'
            "<div>COCO: one JSON file with the masks as RLE, the questions as categories, and the pages beside it, "
            "byte for byte as they are stored. pycocotools and most training code read it.</div>"
            f'<p><a class="glossator-button" href="/api/projects/{project_id}/export?format=coco" download>'
            "Download COCO (zip)</a></p>"
            "<div>The same from a shell: <code>glossator export --format coco --project "
            f"{_quoted(summary.project.name)} OUT</code></div></div>"
        )

    project.change(show, project, card, **QUIET)
    gr.Timer(5).tick(show, project, card, **QUIET)
    offer(desk, project).then(show, project, card, **QUIET)


def _quoted(name: str) -> str:
    return escape(quote(name))
