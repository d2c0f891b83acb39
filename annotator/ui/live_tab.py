"""Tabs that fetch their content when they come into sight, and again after changes that concern it.

Nothing runs at page load, and nothing by the clock. `annotator/static/tabs/live_tab.js` knows what a tab shows; it
fires one event of the tab's heading, one at a time, while the tab is in sight.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from html import escape
from typing import Any

import gradio as gr

from annotator.ui.choice import QUIET, current_user, offered, project_choice
from engine.annotation.answer_service import AnswerService

# No ${...} in here: Gradio renders the template again with every property.
_HEADING = '<h1 class="glossator-title">{title}</h1>'
_ON_LOAD = """
const start = () => window.Glossator.followTab(element, '{name}', () => trigger('apply'));
if (window.Glossator) start(); else window.addEventListener('glossator:ready', start, {{ once: true }});
"""
_ASKED = "(...given) => window.Glossator.{asked}({name!r}, ...given)"
_PLACED = "(...given) => window.Glossator.{placed}({name!r}, ...given)"
_NOT_FETCHED = "() => {{ window.Glossator.notFetched({name!r}); return []; }}"
_AGAIN = "() => {{ window.Glossator.refreshTab({name!r}); return []; }}"
_ACTED = "() => {{ window.Glossator.actedOn({name!r}); return []; }}"
_CHOSEN = "(project) => {{ window.Glossator.projectChosen({name!r}, project); return []; }}"


class LiveTab:
    """One tab: its heading, its choice of a project, and the event that fetches its content.

    Args:
        service: answer service with the workspace.
        name: name of the tab, as annotator/static/tabs/live_tab.js knows it.
        title: heading of the tab.
    """

    def __init__(self, service: AnswerService, name: str, title: str) -> None:
        self._service = service
        self.name = name
        self._heading = heading(title, _ON_LOAD.format(name=name))
        self._offered = gr.JSON(visible="hidden")
        self.project: gr.Dropdown

    def project_choice(self) -> gr.Dropdown:
        """Place the choice of a project."""
        self.project = project_choice()
        return self.project

    def follow(
        self,
        show: Callable[..., Sequence[Any]],
        inputs: Sequence[Any] = (),
        outputs: Sequence[Any] = (),
        *,
        newer: Sequence[Any] = (),
        form: Sequence[Any] = (),
    ) -> None:
        """Fetch the content whenever the page asks for it, and whenever the person chooses another project.

        Args:
            show: handler of (request, project id or None, values of `form`, values of `inputs`); returns the values of
                `outputs`.
            inputs: components whose values `show` receives.
            outputs: components that `show` fills.
            newer: those of `outputs` that the page's script reads to fill `form`.
            form: components with unsaved input, which the page's script fills.
        """
        service = self._service

        @wraps(show)
        def shown(request: gr.Request, wanted: str | None, *given: Any) -> list[Any]:
            there = offered(service, current_user(service, request), wanted)
            return [there, *show(request, there["value"], *given)]

        ask = _ASKED.format(asked="askedByForm" if form else "asked", name=self.name)
        place = _PLACED.format(placed="placedInForm" if form else "placed", name=self.name)
        given, filled = [self.project, *form, *inputs], [self._offered, *outputs]
        event = self._heading.apply(shown, given, filled, js=ask, trigger_mode="always_last", **QUIET)
        event.success(None, [self._offered, self.project, *newer, *form], [self.project, *form], js=place, **QUIET)
        event.failure(None, None, None, js=_NOT_FETCHED.format(name=self.name), **QUIET)
        self.project.input(None, self.project, None, js=_CHOSEN.format(name=self.name), **QUIET)

    def again(self, *events: Any) -> None:
        """Fetch the content again after events that change what is shown, as the `input` of a filter."""
        for event in events:
            event(None, None, None, js=_AGAIN.format(name=self.name), **QUIET)

    def acted(self, *events: Any) -> None:
        """Show what came of acts, as the `then` of a button's event. The stream of changes tells of most."""
        for event in events:
            event(None, None, None, js=_ACTED.format(name=self.name), **QUIET)


def heading(title: str, on_load: str | None = None) -> gr.HTML:
    """Place the heading of a tab. The row of tabs shows its name already, so it is for screen readers.

    Args:
        title: text of the heading.
        on_load: script that runs once the tab is opened for the first time.
    """
    return gr.HTML(
        value=None,
        html_template=_HEADING.format(title=escape(title)),
        css_template="",
        js_on_load=on_load,
        apply_default_css=False,
        elem_classes=["glossator-heading"],
    )
