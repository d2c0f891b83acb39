"""The user of a Gradio event, and their role: Gradio checks neither, and a project's id comes from the browser."""

from typing import Any

import gradio as gr

from engine.accounts import permissions, users
from engine.annotation.answer_service import AnswerService
from engine.errors import Forbidden, Refused


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
    """Return the user of a Gradio event that changes something, after checking their role.

    Args:
        service: answer service with the workspace.
        request: request of the event.
        project_id: project; it comes from the browser and may be anything.
        role: least role in the project.

    Raises:
        Refused: no project is chosen, the role is too low, or the project is archived.
    """
    user = current_user(service, request)
    if not project_id:
        raise Refused("Choose a project first.")
    permissions.require(service.workspace, user, project_id, role, changes=True)
    return user


def role_of(service: AnswerService, request: gr.Request, project_id: str | None) -> str | None:
    """Return the user's role in a project; None when they may not see it."""
    if not project_id:
        return None
    try:
        return permissions.require(service.workspace, current_user(service, request), project_id)
    except Refused:
        return None
