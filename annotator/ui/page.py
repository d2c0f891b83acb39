"""The whole page: one tab for each kind of work."""

import gradio as gr

from annotator import source_offer
from annotator.gradio import front_end_tabs
from annotator.gradio.notices import wrap_handlers
from annotator.ui import documents, export, quality, questions, training
from engine.annotation.answer_service import AnswerService


def build_page(service: AnswerService) -> gr.Blocks:
    """Return the Gradio page with its tabs.

    Args:
        service: answer service with the workspace.
    """
    foot = source_offer.line(service.workspace.settings)
    with gr.Blocks(title="Glossator", analytics_enabled=False, fill_width=True) as page, gr.Tabs():
        with gr.Tab("Annotate", id="annotate", elem_id="tab-annotate"):
            front_end_tabs.build_annotate()
        with gr.Tab("Documents", id="documents", elem_id="tab-documents"):
            documents.build(service)
            _at_the_foot(foot)
        with gr.Tab("Questions", id="questions", elem_id="tab-questions"):
            questions.build(service)
            _at_the_foot(foot)
        with gr.Tab("Training", id="training", elem_id="tab-training"):
            training.build(service)
            _at_the_foot(foot)
        with gr.Tab("Jobs", id="jobs", elem_id="tab-jobs"):
            front_end_tabs.build_jobs()
            _at_the_foot(foot)
        with gr.Tab("Quality", id="quality", elem_id="tab-quality"):
            quality.build(service)
            _at_the_foot(foot)
        with gr.Tab("Table", id="table", elem_id="tab-table"):
            front_end_tabs.build_table()
            _at_the_foot(foot)
        with gr.Tab("Export", id="export", elem_id="tab-export"):
            export.build(service)
            _at_the_foot(foot)
        with gr.Tab("People", id="people", elem_id="tab-people"):
            front_end_tabs.build_people()
            _at_the_foot(foot)
    wrap_handlers(page)
    return page


def _at_the_foot(line: str) -> None:
    """Place the line at the foot of a tab.

    The workspace shows it in its dialog of keys and colours instead.
    """
    gr.HTML(line, elem_classes=["glossator-foot"], apply_default_css=False)
