"""The choice of a project on a tab."""

from typing import Any

import gradio as gr

from engine.annotation.answer_service import AnswerService
from engine.projects import projects


def place_project_choice() -> gr.Dropdown:
    """Place an empty dropdown of projects; the page is built once for all users, and each tab fills its own."""
    choice = gr.Dropdown(choices=[], value=None, label="Project", interactive=True, min_width=200, scale=1)
    # Gradio checks a value against its choices, which are lost at a restart of the server: an open page would then show
    # errors for ever. Each event checks the user's role itself. (A subclass would need a frontend of its own.)
    choice.preprocess = lambda payload: payload if isinstance(payload, str) else None
    return choice


def list_choices(service: AnswerService, user: Any, current: str | None) -> dict[str, Any]:
    """Return the user's projects as choices of a dropdown, and the one to select.

    Args:
        service: answer service with the workspace.
        user: whose projects.
        current: project to select if it is among them, else the first one.
    """
    choices = [(project.name, project.id) for project in projects.visible_to(service.workspace, user)]
    ids = [project_id for _, project_id in choices]
    return {"choices": choices, "value": current if current in ids else next(iter(ids), None)}
