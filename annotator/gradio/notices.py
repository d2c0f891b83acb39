"""Messages in a corner of the page. Gradio draws them as HTML, so all of them pass through here.

Messages contain names given by people: documents, questions, projects, other people. Here they are escaped; no tab
calls Gradio's own `gr.Info`, `gr.Warning` and `gr.Error`.
"""

import logging
from collections.abc import Callable
from functools import wraps
from html import escape
from typing import Any

import gradio as gr

from engine.documents.refusal import DocumentRefused
from engine.errors import Refused
from engine.logs import new_error_id, with_error_id

FAILED = "The server failed to do this. Try again; if it still fails, tell the administrator."
_log = logging.getLogger(__name__)


def inform(sentence: str, seconds: float | None = 4) -> None:
    """Show that something was done.

    Args:
        sentence: plain text.
        seconds: display time; None: until the message is closed.
    """
    gr.Info(escape(sentence), duration=seconds)


def warn(sentence: str) -> None:
    """Show a warning until it is closed.

    Args:
        sentence: plain text.
    """
    gr.Warning(escape(sentence), duration=None)


def wrap_handler(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an event so that it fails with one sentence.

    A refusal keeps its own sentence. Any other exception is logged, and shown as FAILED with an id of the log.

    Args:
        handler: event handler of a tab.
    """

    @wraps(handler)
    def handle(*arguments: Any) -> Any:
        try:
            return handler(*arguments)
        except (Refused, DocumentRefused) as refused:
            raise gr.Error(escape(str(refused)), print_exception=False) from None
        except Exception:
            error_id = new_error_id()
            _log.exception(
                "the event %s of a tab failed (error id %s)", getattr(handler, "__name__", handler), error_id
            )
            raise gr.Error(with_error_id(FAILED, error_id), print_exception=False) from None

    return handle


def wrap_handlers(page: gr.Blocks) -> None:
    """Wrap every event of a page with `wrap_handler`, on all tabs."""
    for event in page.fns.values():
        if event.fn is not None:
            event.fn = wrap_handler(event.fn)
