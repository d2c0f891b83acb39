"""Tabs that the front end draws: Annotate, Jobs, Table, People, and fields on Questions. Gradio holds their elements.

They work over REST, where each request is checked, never over Gradio's events: a mask takes 30-60 ms over REST, and
75-280 ms as an event.
"""

import gradio as gr

from annotator.gradio.live_tab import place_heading

# No ${...} in here: Gradio would render the template again and discard what the front end has drawn.
_WORKSPACE = '<div class="glossator" role="application" aria-label="Annotation workspace"></div>'
_JOBS = '<div class="g-people g-jobs"></div>'
_TABLE = '<div class="g-people g-answer-table"></div>'
_FIELDS = '<div class="g-people g-fields"></div>'
_PEOPLE = '<div class="g-people"></div>'
# The module may load before or after Gradio builds the element: the later of the two mounts.
_ON_LOAD = """
const root = element.querySelector('{selector}');
const mount = () => window.Glossator.{mount};
if (window.Glossator) mount(); else window.addEventListener('glossator:ready', mount, {{ once: true }});
"""


def build_annotate() -> None:
    """Place the annotation workspace into the current Gradio context; it covers the window below the tabs."""
    _place(_WORKSPACE, ".glossator", "mount(root, { project: null })", elem_id="annotate", elem_class="glossator-host")


def build_jobs() -> None:
    """Place the tab Jobs into the current Gradio context: long work, its triggers, and recent runs."""
    with gr.Column(elem_classes=["glossator-tab"]):
        place_heading("Jobs")
        _place(_JOBS, ".g-jobs", "mountJobs(root)")


def build_table() -> None:
    """Place the tab Table into the current Gradio context: answers of documents by fields."""
    with gr.Column(elem_classes=["glossator-tab"]):
        place_heading("Table")
        _place(_TABLE, ".g-answer-table", "mountTable(root)")


def build_fields() -> None:
    """Place the editor of a project's fields into the current Gradio context, a column of the tab Questions."""
    _place(_FIELDS, ".g-fields", "mountFields(root)")


def build_people() -> None:
    """Place the tab People into the current Gradio context: members, invitations, audit trail, sessions."""
    with gr.Column(elem_classes=["glossator-tab"]):
        place_heading("People")
        _place(_PEOPLE, ".g-people", "mountPeople(root)")


def _place(template: str, selector: str, mount: str, elem_id: str | None = None, elem_class: str | None = None) -> None:
    gr.HTML(
        value=None,
        html_template=template,
        css_template="",
        js_on_load=_ON_LOAD.format(selector=selector, mount=mount),
        apply_default_css=False,
        elem_id=elem_id,
        elem_classes=elem_class,
    )
