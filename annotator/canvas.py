"""PageCanvas: the annotation workspace, hosted by Gradio as one HTML component.

Pixels, words and edits use the REST routes, never Gradio's events: a mask takes 30-60 ms over REST, and 75-280 ms as a
Gradio event. Gradio provides the tabs around the workspace.
"""

from typing import Any

import gradio as gr

from annotator.front_end_files import BASE, STATIC

STYLES = (
    "theme",
    "workspace",
    "panels",
    "uploads",
    "stage",
    "desk",
    "overlays",
    "gradio",
    "people",
    "jobs",
    "narrow",
    "touch",
)

# Without these links, a browser would learn of a module only from the module that imports it: ten round trips in a row.
_MODULES = sorted(path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*.js"))

# For the head of the page (`gr.mount_gradio_app(..., head=HEAD)`): styles must be loaded before the first paint.
HEAD = "\n".join(
    [f'<link rel="icon" href="{BASE}/icon.svg" type="image/svg+xml">']
    + [f'<link rel="stylesheet" href="{BASE}/css/{name}.css">' for name in STYLES]
    + [f'<link rel="modulepreload" href="{BASE}/{module}">' for module in _MODULES]
    + [f'<script type="module" src="{BASE}/main.js"></script>']
)

# No ${...} in here: Gradio would render the template again and discard the workspace's elements.
TEMPLATE = '<div class="glossator" role="application" aria-label="Annotation workspace"></div>'

# The module may load before or after Gradio builds the component: the later of the two mounts the workspace.
ON_LOAD = """
const root = element.querySelector('.glossator');
const mount = () => window.Glossator.mount(root, { project: props.project || null });
if (window.Glossator) mount(); else window.addEventListener('glossator:ready', mount, { once: true });
"""


class PageCanvas(gr.HTML):
    """The annotation workspace: documents and pages, the page with its marks, the questions.

    Args:
        project: id of the project to open; None: the project opened last in the browser, else the first one.
        properties: properties of `gr.HTML`.
    """

    # Gradio rebuilds a component by type(block)(**properties) whenever a property changes: accept all of them.
    def __init__(self, project: str | None = None, **properties: Any) -> None:
        properties.setdefault("value", None)
        fixed = {"html_template": TEMPLATE, "css_template": "", "js_on_load": ON_LOAD, "apply_default_css": False}
        super().__init__(project=project, **{**properties, **fixed})

    def api_info(self) -> dict[str, str]:
        """Return the schema of an empty object: the component has no value."""
        return {"type": "object"}
