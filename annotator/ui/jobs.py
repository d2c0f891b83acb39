"""The tab Jobs: long work, what starts it, what fired lately. It works over REST, where each request is checked."""

import gradio as gr

# No ${...} in here; see annotator.canvas.
TEMPLATE = '<div class="g-people g-jobs"></div>'
ON_LOAD = """
const root = element.querySelector('.g-jobs');
const mount = () => window.Glossator.mountJobs(root);
if (window.Glossator) mount(); else window.addEventListener('glossator:ready', mount, { once: true });
"""


def build() -> None:
    """Place the tab into the Gradio context around the call."""
    with gr.Column(elem_classes=["glossator-tab"]):
        gr.HTML(value=None, html_template=TEMPLATE, css_template="", js_on_load=ON_LOAD, apply_default_css=False)
