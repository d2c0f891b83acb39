"""Messages of the tabs: what somebody is called is text in them, and no tab goes past the one place that sees to it."""

import ast
import logging
from pathlib import Path

import gradio as gr
import pytest

from annotator import app
from annotator.gradio import notices
from engine.documents.refusal import DocumentRefused, Reason
from engine.errors import Conflict, Refused

NAME = '<img src=x onerror="window.hacked=1">'
TEXT = "&lt;img src=x onerror=&quot;window.hacked=1&quot;&gt;"


def test_no_tab_calls_gradio_s_own_messages() -> None:
    folder = Path(app.__file__).parent
    wrong = []
    for path in sorted(folder.rglob("*.py")):
        if path == folder / "gradio" / "notices.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            named = node.attr if isinstance(node, ast.Attribute) else node.name if isinstance(node, ast.alias) else ""
            if named not in ("Info", "Warning", "Error", "Success", "Markdown"):
                continue
            of_gradio = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "gr"
            if isinstance(node, ast.alias) or (isinstance(node, ast.Attribute) and of_gradio):
                wrong.append(f"{path.relative_to(folder)}:{node.lineno}: gr.{named}; use annotator.gradio.notices")
    assert not wrong, "\n".join(wrong)


def test_names_in_messages_are_text(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    for kind in ("Info", "Warning"):
        monkeypatch.setattr(gr, kind, lambda sentence, **_: shown.append(sentence))
    notices.inform(f"{NAME} is saved.")
    notices.warn(f"{NAME} is gone.")
    assert shown == [f"{TEXT} is saved.", f"{TEXT} is gone."]


@pytest.mark.parametrize("failure", [Refused(NAME), Conflict(NAME), DocumentRefused(Reason.EMPTY, NAME, "is empty.")])
def test_names_in_refusals_are_text(failure: Exception) -> None:
    def act() -> None:
        raise failure

    with pytest.raises(gr.Error) as told:
        notices.wrap_handler(act)()
    assert "<" not in told.value.message and "&lt;img src=x" in told.value.message


def test_what_nobody_thought_of_says_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    def act() -> None:
        raise ValueError(f"/secret/path {NAME}")

    with caplog.at_level(logging.ERROR), pytest.raises(gr.Error) as told:
        notices.wrap_handler(act)()
    error_id = told.value.message.removeprefix(f"{notices.FAILED} Error id for the administrator: ").removesuffix(".")
    assert error_id.isalnum() and f"the event act of a tab failed (error id {error_id})" in caplog.text
    assert "/secret/path" in caplog.text and "/secret/path" not in told.value.message
