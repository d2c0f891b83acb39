"""PageCanvas: the annotation workspace, hosted by Gradio as one HTML component.

Pixels, words and edits travel over the REST routes, never through Gradio's events: a mask over REST takes 30-60 ms, as a
Gradio event 75-280 ms. Gradio keeps the tabs around it.
"""

from typing import Any

import gradio as gr

STYLES = ("theme", "workspace", "panels", "stage", "desk", "overlays", "gradio", "people", "jobs", "touch")

# Belongs into the head of the page (`gr.mount_gradio_app(..., head=HEAD)`): styles that stand before the first paint.
HEAD = "\n".join(
    ['<link rel="icon" href="/static/icon.svg" type="image/svg+xml">']
    + [f'<link rel="stylesheet" href="/static/{name}.css">' for name in STYLES]
    + ['<script type="module" src="/static/main.js"></script>']
)

# No ${...} in here: Gradio would render the template again, and the document object model under it would be lost.
TEMPLATE = '<div class="glossator" role="application" aria-label="Annotation workspace"></div>'

# The module may arrive after Gradio has built the component, or before it: whoever comes second mounts.
ON_LOAD = """
const root = element.querySelector('.glossator');
const mount = () => window.Glossator.mount(root, { project: props.project || null });
if (window.Glossator) mount(); else window.addEventListener('glossator:ready', mount, { once: true });
"""


class PageCanvas(gr.HTML):
    """The workspace: documents and pages, the page with its marks, the questions.

    project: id of the project to open, or None for the one that the browser opened last (else the first).
    """

    # Gradio builds a component anew, type(block)(**properties), whenever a property changes: all must be accepted here.
    def __init__(self, project: str | None = None, **properties: Any) -> None:
        properties.setdefault("value", None)
        fixed = {"html_template": TEMPLATE, "css_template": "", "js_on_load": ON_LOAD, "apply_default_css": False}
        super().__init__(project=project, **{**properties, **fixed})

    def api_info(self) -> dict[str, str]:
        """The component carries no value: an object without content."""
        return {"type": "object"}
