"""What a tab tells a person in a corner of the page. Gradio draws such a message as HTML, so all of them pass through here.

A message names what people have named: documents, questions, projects, other people. Here it becomes text; no tab calls
Gradio's own `gr.Info`, `gr.Warning` and `gr.Error`.
"""

import logging
from collections.abc import Callable
from functools import wraps
from html import escape
from typing import Any

import gradio as gr

from engine.documents.refusal import DocumentRefused
from engine.errors import Refused

FAILED = "The server failed at this; its log says where."
_log = logging.getLogger(__name__)


def inform(sentence: str, seconds: float | None = 4) -> None:
    """Show that something was done, for so many seconds; None: until it is closed."""
    gr.Info(escape(sentence), duration=seconds)


def warn(sentence: str) -> None:
    """Show what a person must know before they go on, until it is closed."""
    gr.Warning(escape(sentence), duration=None)


def told(act: Callable[..., Any]) -> Callable[..., Any]:
    """Return an event that fails with one sentence: a refusal's own; for all else, that the server failed and has logged it."""

    @wraps(act)
    def acting(*arguments: Any) -> Any:
        try:
            return act(*arguments)
        except (Refused, DocumentRefused) as refused:
            raise gr.Error(escape(str(refused)), print_exception=False) from None
        except Exception:
            _log.exception("the event %s of a tab failed", getattr(act, "__name__", act))
            raise gr.Error(FAILED, print_exception=False) from None

    return acting


def tell_failures(page: gr.Blocks) -> None:
    """Let every event of a page fail so, whichever tab it belongs to."""
    for event in page.fns.values():
        if event.fn is not None:
            event.fn = told(event.fn)
