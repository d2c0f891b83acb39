"""Tabs that fetch their content when they come into sight, and again after changes that concern it.

Nothing runs at page load, and nothing by the clock. `annotator/static/gradio/tabs.js` knows what a tab shows; it fires
one event of the tab's heading, one at a time, while the tab is in sight.
"""

from collections.abc import Callable, Sequence
from functools import wraps
from html import escape
from typing import Any

import gradio as gr

from annotator.gradio.event_user import current_user
from annotator.gradio.hidden_value import place_hidden_value
from annotator.gradio.project_choice import list_choices, place_project_choice
from engine.annotation.answer_service import AnswerService

# How events of tabs run: without a spinner over what is being read, and not in the page's public API.
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}

# No ${...} in here: Gradio renders the template again with every property.
_HEADING = '<h1 class="glossator-title">{title}</h1>'
_ON_LOAD = """
const start = () => window.Glossator.followTab(element, '{name}', () => trigger('apply'));
if (window.Glossator) start(); else window.addEventListener('glossator:ready', start, {{ once: true }});
"""
# Scripts of events, as functions of annotator/static/gradio/tabs.js.
_WITH_VALUES = "(...values) => window.Glossator.{function}({name!r}, ...values)"
_WITHOUT_VALUES = "() => {{ window.Glossator.{function}({name!r}); return []; }}"
_CHANGE_PROJECT = "(project) => {{ window.Glossator.changeProject({name!r}, project); return []; }}"


class LiveTab:
    """One tab: its heading, its choice of a project, and the event that fetches its content.

    Args:
        service: answer service with the workspace.
        name: name of the tab, as annotator/static/gradio/tabs.js knows it.
        title: heading of the tab.
    """

    def __init__(self, service: AnswerService, name: str, title: str) -> None:
        self._service = service
        self.name = name
        self._heading = place_heading(title, _ON_LOAD.format(name=name))
        self._choices = place_hidden_value()
        self.project: gr.Dropdown

    def place_project_choice(self) -> gr.Dropdown:
        """Place the choice of a project."""
        self.project = place_project_choice()
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
        def show_with_choices(request: gr.Request, wanted: str | None, *values: Any) -> list[Any]:
            choices = list_choices(service, current_user(service, request), wanted)
            return [choices, *show(request, choices["value"], *values)]

        prepare = _WITH_VALUES.format(function="prepareFormInputs" if form else "prepareInputs", name=self.name)
        fill = _WITH_VALUES.format(function="fillForm" if form else "showProjects", name=self.name)
        event = self._heading.apply(
            show_with_choices,
            [self.project, *form, *inputs],
            [self._choices, *outputs],
            js=prepare,
            trigger_mode="always_last",
            **QUIET,
        )
        event.success(None, [self._choices, self.project, *newer, *form], [self.project, *form], js=fill, **QUIET)
        event.failure(None, None, None, js=self._call("endFetch"), **QUIET)
        self.project.input(None, self.project, None, js=_CHANGE_PROJECT.format(name=self.name), **QUIET)

    def fetch_again_on(self, *events: Any) -> None:
        """Fetch the content again after events that change what is shown, as the `input` of a filter."""
        for event in events:
            event(None, None, None, js=self._call("refreshTab"), **QUIET)

    def show_result_of(self, *acts: Any) -> None:
        """Show what came of acts, as the `then` of a button's event. The stream of changes tells of most."""
        for act in acts:
            act(None, None, None, js=self._call("refreshAfterAct"), **QUIET)

    def _call(self, function: str) -> str:
        return _WITHOUT_VALUES.format(function=function, name=self.name)


def place_heading(title: str, on_load: str | None = None) -> gr.HTML:
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
