"""The whole page: one tab a job to be done."""

import gradio as gr

from annotator.ui import annotate, documents, export, training
from engine.annotation.ask import Desk

THEME = gr.themes.Base(
    primary_hue="blue",
    neutral_hue="slate",
    font=["system-ui", "sans-serif"],
    font_mono=["ui-monospace", "monospace"],
    radius_size="md",
)


def build_page(desk: Desk) -> gr.Blocks:
    """Return the Gradio page with its tabs."""
    with gr.Blocks(title="Glossator", analytics_enabled=False, fill_width=True) as page, gr.Tabs():
        with gr.Tab("Annotate", id="annotate"):
            annotate.build()
        with gr.Tab("Documents", id="documents"):
            documents.build(desk)
        with gr.Tab("Training", id="training"):
            training.build(desk)
        with gr.Tab("Export", id="export"):
            export.build(desk)
    return page
