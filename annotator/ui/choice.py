"""Shared by the tabs: the choice of a project, and checks of the user's role."""

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
    "You are not a member of any project.",
    "Ask an admin of a project for an invitation link.",
)


def project_choice() -> gr.Dropdown:
    """Place an empty dropdown of projects; the page is built once for all users, and each tab fills its own."""
    choice = gr.Dropdown(choices=[], value=None, label="Project", interactive=True, min_width=200, scale=1)
    # Gradio checks a value against its choices, which are lost at a restart of the server: an open page would then show
    # errors for ever. Each event checks the user's role itself. (A subclass would need a frontend of its own.)
    choice.preprocess = lambda payload: payload if isinstance(payload, str) else None
    return choice


def offered(service: AnswerService, user: Any, current: str | None) -> dict[str, Any]:
    """Return the user's projects as choices of a dropdown, and the one to select.

    Args:
        service: answer service with the workspace.
        user: whose projects.
        current: project to select if it is among them, else the first one.
    """
    found = [(project.name, project.id) for project in projects.visible_to(service.workspace, user)]
    ids = [each for _, each in found]
    return {"choices": found, "value": current if current in ids else next(iter(ids), None)}


def current_user(service: AnswerService, request: gr.Request) -> Any:
    """Return the user of a Gradio event, as the login cookie names them.

    Raises:
        Forbidden: nobody is logged in.
    """
    if request.username:
        return users.user_named(service.workspace, request.username)
    if service.workspace.settings.auth == "local":
        return users.user_named(service.workspace, users.LOCAL_NAME)
    raise Forbidden("Your session has ended. Log in again, then reload this page.")


def require(service: AnswerService, request: gr.Request, project_id: str | None, role: Any = "annotator") -> Any:
    """Return the user of a Gradio event after checking their role.

    Args:
        service: answer service with the workspace.
        request: request of the event.
        project_id: project; it comes from the browser and may be anything.
        role: least role in the project.

    Raises:
        Refused: no project is chosen, or the role is too low.
    """
    user = current_user(service, request)
    if not project_id:
        raise Refused("Choose a project first.")
    permissions.require(service.workspace, user, project_id, role)
    return user


def role_of(service: AnswerService, request: gr.Request, project_id: str | None) -> str | None:
    """Return the user's role in a project; None when they may not see it."""
    if not project_id:
        return None
    try:
        return permissions.require(service.workspace, current_user(service, request), project_id)
    except Refused:
        return None
