"""A value that stands on the page and not on the screen: one event or script leaves it there for the next.

`gr.State` is no such place: the server keeps it, so it is lost at a restart, and no script can read it.
"""

from typing import Any

import gradio as gr


def place_hidden_value(value: Any = None) -> gr.JSON:
    """Place a hidden value into the current Gradio context.

    Never inside a part whose properties an event changes: Gradio gives the new properties of a part to all that is in
    it, so a part that is shown again would show the value too (docs/gradio.md).

    Args:
        value: what it holds at first, as JSON.
    """
    return gr.JSON(value, visible="hidden")
