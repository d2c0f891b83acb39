"""Pages of a table on a tab: two buttons, and the trail of the pages before the one that is shown."""

from typing import Any

import gradio as gr

from annotator.ui.choice import QUIET
from annotator.ui.live_tab import LiveTab

# The page's script keeps the turn until the tab asks for its content: annotator/static/tabs/table_turns.js.
_TURN = "(place) => {{ window.Glossator.turnPage({tab!r}, {step!r}, place); return []; }}"


class TablePages:
    """The place of a table in its list: cursors of the pages before it, and of the one behind.

    The page keeps it, so that it outlives the server. Makes the buttons below the table.

    Args:
        table: name of the table; no other table of its tab has it.
        previous: text of the button to the page before.
        following: text of the button to the page behind.
    """

    def __init__(self, table: str, previous: str = "Previous", following: str = "Next") -> None:
        self._table = table
        width = 110 if max(len(previous), len(following)) < 12 else 190  # pixels
        self.place = gr.JSON({}, visible="hidden")
        with gr.Row(elem_classes=["glossator-actions"]):
            self._previous = gr.Button(previous, scale=0, min_width=width, size="md", visible=False)
            self._following = gr.Button(following, scale=0, min_width=width, size="md", visible=False)
        self.outputs = [self.place, self._previous, self._following]

    def turn(self, tab: LiveTab) -> None:
        """Fetch the tab's content again when a page is turned."""
        for button, step in ((self._previous, "previous"), (self._following, "next")):
            button.click(None, self.place, None, js=_TURN.format(tab=tab.name, step=step), **QUIET)

    @staticmethod
    def trail(place: Any, **asked: Any) -> list[str]:
        """Return the cursors of the pages up to the one that is shown; none after another choice or search.

        Args:
            place: what the page sends, which may be anything.
            asked: what the list is of, and how it is sorted.
        """
        if not isinstance(place, dict) or any(place.get(key) != value for key, value in asked.items()):
            return []
        return [each for each in place.get("trail", []) if isinstance(each, str)]

    def shown(self, trail: list[str], following: str | None, **asked: Any) -> list[Any]:
        """Return the values of `outputs`. `following`: cursor of the page behind; None on the last page."""
        several = bool(trail or following)
        return [
            {**asked, "table": self._table, "trail": trail, "next": following},
            gr.update(visible=several, interactive=bool(trail)),
            gr.update(visible=several, interactive=following is not None),
        ]

    @staticmethod
    def hidden() -> list[Any]:
        """Return the values of `outputs` where there is no table."""
        return [{}, gr.update(visible=False), gr.update(visible=False)]
