"""Serve the Gradio page under /app, with the gate before it."""

from pathlib import Path

import gradio as gr
from fastapi import FastAPI, Request
from gradio.route_utils import BUILD_PATH_LIB

from annotator import auth, source_offer
from annotator.front_end_files import DIGEST, STATIC
from annotator.gradio.gate import GradioGate
from annotator.gradio.head import HeadInPage, front_end
from annotator.gradio.theme import theme
from annotator.immutable_assets import ImmutableAssets
from engine.workspace import Workspace

QUEUE_SLEEPS, PROGRESS_SLEEPS = 0.05, 0.1  # seconds between two looks of Gradio's queue, as it has on Windows


def mount_page(app: FastAPI, page: gr.Blocks, workspace: Workspace) -> None:
    """Serve a page under /app, and put the gate before its routes.

    Args:
        app: application without other middleware; what is added later comes before the gate.
        page: the Gradio page.
        workspace: workspace with settings and sessions.
    """
    app.mount("/app/assets", ImmutableAssets(Path(BUILD_PATH_LIB)), name="gradio-assets")  # before the page's own
    root = workspace.settings.root_path

    def id_of(request: Request) -> str | None:
        user = auth.user_of(request, workspace)
        return user.id if user else None

    def name_of(request: Request) -> str | None:
        user = auth.user_of(request, workspace)
        return user.name if user else None

    gate = {"page": page, "owner_of": id_of, "connections": workspace.settings.max_connections}
    app.add_middleware(GradioGate, **gate, root=root)  # type: ignore[arg-type]
    head = {"path": "/app/", "lines": f"{front_end(root)}\n{source_offer.head(workspace.settings)}"}
    app.add_middleware(HeadInPage, **head)  # type: ignore[arg-type]
    gr.mount_gradio_app(
        app,
        page,
        path="/app",
        auth_dependency=name_of,
        theme=theme(),
        css_paths=[STATIC / "css/tabs.css", STATIC / "css/quality.css"],
        ssr_mode=False,
        show_error=False,  # messages pass through annotator.gradio.notices; other errors go to the log
        footer_links=[],
        run_history=False,  # it would keep content in the browser after a logout
    )
    # Gradio checks paths only on a launched page, and a mounted page is never launched; see annotator.gradio.gate.
    page.has_launched = True
    # A number of chance otherwise; the page is the same from every web process.
    page.app_id = page.config["app_id"] = int(DIGEST, 16)  # type: ignore[typeddict-item]
    # Gradio's queue looks for events a thousand times a second, 3.5 % of a core. The tabs do not need a millisecond,
    # and neither Blocks.queue() nor a setting offers another pause.
    page._queue.sleep_when_free = QUEUE_SLEEPS
    page._queue.progress_update_sleep_when_free = PROGRESS_SLEEPS
