"""A question before an act that changes the work of everybody in a project: the button alone does nothing."""

from collections.abc import Callable
from html import escape
from typing import Any

import gradio as gr

from annotator.gradio.live_tab import QUIET

_SHOWN = "() => ({ __type__: 'update', visible: true })"
_HIDDEN = "() => ({ __type__: 'update', visible: false })"


class Confirmation:
    """A sentence with two buttons, which stands where it is placed and shows once another button is pressed.

    Args:
        sentence: what the act does, in plain text.
        yes: label of the button that acts.
        no: label of the button that does not.
    """

    def __init__(self, sentence: str, yes: str, no: str) -> None:
        with gr.Column(visible=False, elem_classes=["glossator-warning"]) as self._room:
            gr.HTML(f'<p role="alert">{escape(sentence)}</p>')
            with gr.Row(elem_classes=["glossator-actions"]):
                self._yes = gr.Button(yes, scale=0, min_width=160, size="md")
                self._no = gr.Button(no, scale=0, min_width=160, size="md")

    def ask_before(self, button: gr.Button, act: Callable[..., Any], inputs: Any, *, forgotten: Any) -> Any:
        """Ask when a button is pressed, and act when the answer is yes.

        Args:
            button: the button that asks.
            act: what happens after a yes.
            inputs: components whose values `act` takes.
            forgotten: listener of an event that ends the question, as the choice of another project.

        Returns:
            Dependency of the act, whose `then` goes on.
        """
        button.click(None, None, self._room, js=_SHOWN, **QUIET)
        for ends in (self._yes.click, self._no.click, forgotten):
            ends(None, None, self._room, js=_HIDDEN, **QUIET)
        return self._yes.click(act, inputs, None, **QUIET)
