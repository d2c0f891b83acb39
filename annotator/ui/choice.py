"""What the tabs share: choosing a project, and turning a refusal into a notice."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import gradio as gr

from engine import people, projects
from engine.annotation.ask import Desk
from engine.errors import Refused

# How events of these tabs run: without a spinner over what is being read, and not in the page's public API.
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}


def project_choice(desk: Desk) -> gr.Dropdown:
    """Place a dropdown of projects; its choices are read anew at every page load."""
    return gr.Dropdown(
        choices=choices(desk), value=first_choice(desk), label="Project", interactive=True, min_width=200, scale=1
    )


def choices(desk: Desk) -> list[tuple[str, str]]:
    """Return (name, id) of all projects."""
    return [(summary.project.name, summary.project.id) for summary in projects.summaries(desk.workspace)]


def first_choice(desk: Desk) -> str | None:
    """Return the default project's id, else the first one's."""
    offered = choices(desk)
    return next(
        (project_id for name, project_id in offered if name == projects.DEFAULT_NAME),
        offered[0][1] if offered else None,
    )


def current_user(desk: Desk, request: gr.Request) -> Any:
    """Return the user behind a Gradio event; the same person as the cookie's."""
    return people.user_named(desk.workspace, request.username or people.LOCAL_NAME)


def told(act: Callable[..., Any]) -> Callable[..., Any]:
    """Let a refusal inside an event reach the person as one sentence."""

    @wraps(act)
    def acting(*arguments: Any) -> Any:
        try:
            return act(*arguments)
        except Refused as refused:
            raise gr.Error(str(refused), print_exception=False) from None

    return acting
