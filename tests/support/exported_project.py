"""A project whose answers no box or polygon could stand for, to be exported."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from engine.annotation.state import AnnotationState, PageMark, to_patch
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.factories import SIZE, accept, bill, line, make_document, make_project, pages_of

HEIGHT, WIDTH = SIZE[1], SIZE[0]


def brush() -> np.ndarray:
    """A ring and, apart from it, a slanted stroke with a hole: nothing that a box or a polygon could stand for."""
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    distance = np.hypot(rows - 150, columns - 100)
    ring = (distance < 40) & (distance > 25)
    stroke = (np.abs(rows - columns + 100) < 6) & (columns > 250) & (columns < 380)
    stroke[columns % 17 == 0] = False
    return ring | stroke


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file of a folder, by its path in it."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture
def answered(workspace: Workspace) -> tuple[Workspace, str]:
    """A project with answers by words, by brush, on two pages, none at all, and a draft."""
    return workspace, _filled(workspace)


@pytest.fixture
def answered_on_file(sqlite_workspace: Workspace) -> tuple[Workspace, str]:
    """The same on SQLite alone, for what has nothing to do with the database."""
    return sqlite_workspace, _filled(sqlite_workspace)


def _filled(workspace: Workspace) -> str:
    project = make_project(workspace)
    first = make_document(workspace, project.id, [bill(1)], split="train")
    accept(workspace, first, "What is the total due?", [3, 4])
    accept(workspace, first, "Where is the stamp?", mask=brush(), author="anna")
    accept(workspace, first, "Is it paid?")
    accept(workspace, first, "A draft?", [1], status="draft")
    second = make_document(workspace, project.id, [bill(2), line("Total due: 7.00"), line("The end")], split="frozen")
    pages = pages_of(workspace, second.id)
    on_both = AnnotationState(
        pages={
            pages[0].id: PageMark(words=[4], mask=to_patch(rasterise([bill(2)[4][1]], (HEIGHT, WIDTH)))),
            pages[1].id: PageMark(
                words=[2], mask=to_patch(rasterise([line("Total due: 7.00")[2][1]], (HEIGHT, WIDTH)))
            ),
        }
    )
    accept(workspace, second, "What is the total due?", state=on_both)
    return project.id
