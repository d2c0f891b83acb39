"""Pages of a table on a tab: two buttons, and the trail of the pages before the one that is shown."""

from typing import Any

import gradio as gr

from annotator.gradio.hidden_value import place_hidden_value
from annotator.gradio.live_tab import QUIET, LiveTab

# The page's script keeps the turn until the tab asks for its content: annotator/static/gradio/table_turns.js.
_TURN = "(place) => {{ window.Glossator.turnPage({tab!r}, {step!r}, place); return []; }}"


class TablePages:
    """The place of a table in its list: cursors of the pages before it, and of the one behind.

    The page keeps it, so that it outlives the server. Places the buttons below the table, each hidden and shown by
    itself: not inside a part that an event hides or shows (annotator.gradio.hidden_value).

    Args:
        table: name of the table; no other table of its tab has it.
        previous: text of the button to the page before.
        following: text of the button to the page behind.
    """

    def __init__(self, table: str, previous: str = "Previous", following: str = "Next") -> None:
        self._table = table
        width = 110 if max(len(previous), len(following)) < 12 else 190  # pixels
        self.place = place_hidden_value({})
        with gr.Row(elem_classes=["glossator-actions"]):
            self._previous = gr.Button(previous, scale=0, min_width=width, size="md", visible=False)
            self._following = gr.Button(following, scale=0, min_width=width, size="md", visible=False)
        self.outputs = [self.place, self._previous, self._following]

    def fetch_when_turned(self, tab: LiveTab) -> None:
        """Fetch the tab's content again when a page is turned."""
        for button, step in ((self._previous, "previous"), (self._following, "next")):
            button.click(None, self.place, None, js=_TURN.format(tab=tab.name, step=step), **QUIET)

    @staticmethod
    def read_trail(place: Any, **listed: Any) -> list[str]:
        """Return the cursors of the pages up to the one that is shown; none after another choice or search.

        Args:
            place: what the page sends, which may be anything.
            listed: what the list is of, and how it is sorted.
        """
        if not isinstance(place, dict) or any(place.get(key) != value for key, value in listed.items()):
            return []
        return [cursor for cursor in place.get("trail", []) if isinstance(cursor, str)]

    def show(self, trail: list[str], following: str | None, **listed: Any) -> list[Any]:
        """Return the values of `outputs`. `following`: cursor of the page behind; None on the last page."""
        several = bool(trail or following)
        return [
            {**listed, "table": self._table, "trail": trail, "next": following},
            gr.update(visible=several, interactive=bool(trail)),
            gr.update(visible=several, interactive=following is not None),
        ]

    @staticmethod
    def hide() -> list[Any]:
        """Return the values of `outputs` where there is no table."""
        return [{}, gr.update(visible=False), gr.update(visible=False)]
