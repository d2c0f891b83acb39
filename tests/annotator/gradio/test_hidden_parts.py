"""Hidden parts of the page stay hidden: Gradio gives the new properties of a part to all that is in it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block, BlockContext

from annotator.ui.page import build_page
from engine.annotation.answer_service import AnswerService
from engine.settings import Settings
from engine.workspace import open_workspace


def walk(part: Any) -> Iterator[Block]:
    """All that is in a part."""
    for child in getattr(part, "children", ()):
        yield child
        yield from walk(child)


def find_hidden_in_changed(page: gr.Blocks) -> list[str]:
    """Name the parts that are hidden by themselves, inside parts that an event changes."""
    changed = {block for event in page.fns.values() for block in event.outputs if isinstance(block, BlockContext)}
    assert changed
    return [
        f"{type(inner).__name__} in {type(part).__name__} {getattr(part, 'label', None) or part.elem_classes}"
        for part in changed
        for inner in walk(part)
        if inner.visible is not True
    ]


def test_no_part_that_an_event_changes_holds_a_hidden_one(tmp_path: Path) -> None:
    workspace = open_workspace(Settings(data_dir=tmp_path, _env_file=None))
    assert find_hidden_in_changed(build_page(AnswerService(workspace))) == []
    workspace.close()


def test_a_hidden_part_in_a_changed_one_is_named() -> None:
    with gr.Blocks() as page:
        button = gr.Button("Show")
        with gr.Accordion("All") as part, gr.Row():
            gr.JSON(visible="hidden")
        button.click(lambda: gr.update(visible=True), None, part)
    assert find_hidden_in_changed(page) == ["JSON in Accordion All"]
