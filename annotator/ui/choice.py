"""What the tabs share: choosing a project, and asking whether the person may."""

from collections.abc import Sequence
from typing import Any

import gradio as gr

from annotator.ui.table import empty
from engine.accounts import permissions, users
from engine.annotation.answer_service import AnswerService
from engine.errors import Forbidden, Refused
from engine.projects import projects

# How events of these tabs run: without a spinner over what is being read, and not in the page's public API.
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}

NO_PROJECT = empty(
    "You are in no project yet.",
    "Ask an admin of a project for an invitation: a link that makes you a member.",
)


def project_choice() -> gr.Dropdown:
    """Place a dropdown of projects, empty: the page is built once for everybody. See `offer`."""
    choice = gr.Dropdown(choices=[], value=None, label="Project", interactive=True, min_width=200, scale=1)
    # Gradio holds an answer against its list of choices, which is gone after a restart of the server: a page of before would
    # be told of errors for ever. Each event looks itself whether the person may. (A subclass would need a frontend of its own.)
    choice.preprocess = lambda payload: payload if isinstance(payload, str) else None
    return choice


# annotator/static/chosen_project.js: in the workspace, or on whichever tab. Before the page's scripts are there, none is known.
_CHOSEN = "(current) => window.Glossator?.chosenProject() ?? current"
CHOOSE = "(project) => { window.Glossator?.chooseProject(project); return []; }"


def offer(
    service: AnswerService, project: gr.Dropdown, tab: gr.Tab, held: Sequence[Any] = (), chosen: str = _CHOSEN
) -> Any:
    """Fill the dropdown with the projects that this person may see, at every page load and whenever the tab comes into sight: the project
    that was chosen last on the page is the one. Return the event of the load, for what comes then.

    `chosen`: a function of JavaScript that says which project it should be, by the dropdown's value and what is `held`. It is asked when
    the list is there, so that what somebody chooses or writes meanwhile counts.
    """
    offered = gr.JSON(visible="hidden")
    place = f"""({{ choices, value }}, ...now) => {{
      const wanted = ({chosen})(...now);
      return {{ __type__: 'update', choices, value: choices.some(([, id]) => id === wanted) ? wanted : value }};
    }}"""

    def placed(event: Any) -> Any:
        return event.success(None, [offered, project, *held], project, js=place, **QUIET)

    def filled(current: str | None, request: gr.Request) -> dict[str, Any]:
        return _offered(service, current_user(service, request), current)

    placed(tab.select(filled, project, offered, trigger_mode="always_last", **QUIET))
    project.input(None, project, None, js=CHOOSE, **QUIET)
    return placed(gr.on(None, filled, project, offered, **QUIET))


def choices(service: AnswerService, user: Any, current: str | None) -> Any:
    """Return an update of the dropdown: this person's projects; the current one if it is among them, else the first."""
    return gr.update(**_offered(service, user, current))


def _offered(service: AnswerService, user: Any, current: str | None) -> dict[str, Any]:
    offered = [(summary.project.name, summary.project.id) for summary in projects.summaries(service.workspace, user)]
    ids = [each for _, each in offered]
    return {"choices": offered, "value": current if current in ids else next(iter(ids), None)}


def current_user(service: AnswerService, request: gr.Request) -> Any:
    """Return the user behind a Gradio event; the same person as the cookie's."""
    if request.username:
        return users.user_named(service.workspace, request.username)
    if service.workspace.settings.auth == "local":
        return users.user_named(service.workspace, users.LOCAL_NAME)
    raise Forbidden("You are not logged in any more. Log in again, then reload this page.")


def require(service: AnswerService, request: gr.Request, project_id: str | None, role: Any = "annotator") -> Any:
    """Return the user behind a Gradio event; Refused unless they are at least `role` in the project. Ids come as they please."""
    user = current_user(service, request)
    if not project_id:
        raise Refused("Choose a project first.")
    permissions.require(service.workspace, user, project_id, role)
    return user


def role_of(service: AnswerService, request: gr.Request, project_id: str | None) -> str | None:
    """Return what the person is in a project; None where there is nothing for them to see."""
    if not project_id:
        return None
    try:
        return permissions.require(service.workspace, current_user(service, request), project_id)
    except Refused:
        return None
