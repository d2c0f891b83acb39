"""The tab Annotate: nothing but the workspace, over the whole window below the tabs."""

from annotator.canvas import PageCanvas


def build(project_id: str | None = None) -> PageCanvas:
    """Place the workspace into the Gradio context around the call, and return it.

    project_id: the project that opens first; None leaves the choice to the browser.
    """
    return PageCanvas(project_id, elem_id="annotate", elem_classes=["glossator-host"])
