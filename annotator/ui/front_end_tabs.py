"""Tabs that the front end draws: Annotate, Jobs and People.

They work over REST, where each request is checked.
"""

import gradio as gr

from annotator.canvas import PageCanvas
from annotator.ui.live_tab import heading

# No ${...} in here; see annotator.canvas.
_JOBS = ("Jobs", '<div class="g-people g-jobs"></div>', ".g-jobs", "mountJobs")
_PEOPLE = ("People", '<div class="g-people"></div>', ".g-people", "mountPeople")
_ON_LOAD = """
const root = element.querySelector('{selector}');
const mount = () => window.Glossator.{mount}(root);
if (window.Glossator) mount(); else window.addEventListener('glossator:ready', mount, {{ once: true }});
"""


def build_annotate(project_id: str | None = None) -> PageCanvas:
    """Place the annotation workspace into the current Gradio context.

    Args:
        project_id: project that opens first; None leaves the choice to the browser.

    Returns:
        The component, which covers the window below the tabs.
    """
    return PageCanvas(project_id, elem_id="annotate", elem_classes=["glossator-host"])


def build_jobs() -> None:
    """Place the tab Jobs into the current Gradio context: long work, its triggers, and recent runs."""
    _build(*_JOBS)


def build_people() -> None:
    """Place the tab People into the current Gradio context: members, invitations, audit trail, sessions."""
    _build(*_PEOPLE)


def _build(title: str, template: str, selector: str, mount: str) -> None:
    script = _ON_LOAD.format(selector=selector, mount=mount)
    with gr.Column(elem_classes=["glossator-tab"]):
        heading(title)
        gr.HTML(value=None, html_template=template, css_template="", js_on_load=script, apply_default_css=False)
