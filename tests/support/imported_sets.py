"""Sets to import: the project that they were exported from, and what an import made of them."""

import json
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select

from db.ids import new_id
from db.tables import Annotation, Document, Page, Question, Revision
from engine.accounts.users import ensure_local_user
from engine.annotation.state import AnnotationState
from engine.errors import Refused
from engine.interchange.bad_entries import BadEntry
from engine.interchange.exports import export
from engine.interchange.import_store import Imported
from engine.interchange.imports import import_set
from engine.workspace import Workspace
from model.boxes import Box
from model.masks import Mask, decode_patch, rasterise
from tests.support.exported_project import HEIGHT, WIDTH, brush
from tests.support.factories import bill, line, make_project

Answered = tuple[Workspace, str]


TOTAL, STAMP = "What is the total due?", "Where is the stamp?"


EXACT = ("coco", "parquet", "png", "grounded", "label-studio")


def words(boxes: list[Box]) -> Mask:
    return rasterise(boxes, (HEIGHT, WIDTH))


EXPECTED = [
    (TOTAL, words([bill(1)[3][1], bill(1)[4][1]])),
    (TOTAL, words([bill(2)[4][1]])),
    (TOTAL, words([line("Total due: 7.00")[2][1]])),
    (STAMP, brush()),
]


def take_in(workspace: Workspace, form: str, path: Path, name: str = "taken in") -> tuple[str, Imported]:
    project = make_project(workspace, name)
    return project.id, import_set(workspace, project.id, form, path, user_id=ensure_local_user(workspace).id)


def documents_of(workspace: Workspace, project: str) -> int:
    with workspace.database.read() as session:
        return session.scalar(select(func.count(Document.id)).where(Document.project_id == project)) or 0


def marked(workspace: Workspace, project: str) -> list[tuple[str, Mask]]:
    """Every question with every mask that answers it."""
    with workspace.database.read() as session:
        sizes = {page.id: (page.height, page.width) for page in session.scalars(select(Page))}
        rows = session.execute(
            select(Question.text, Revision.state)
            .join(Annotation, Annotation.question_id == Question.id)
            .join(Revision, (Revision.annotation_id == Annotation.id) & (Revision.number == Annotation.head))
            .where(Annotation.project_id == project, Annotation.status == "accepted")
        ).all()
    found = []
    for text, stored in rows:
        state = AnnotationState.model_validate(stored)
        found += [(text, decode_patch(mark.mask.model_dump(), sizes[page])) for page, mark in state.pages.items()]
    return found


def values_of(workspace: Workspace, project: str, question: str) -> list[list[Mask]]:
    """The masks of each value of the only answer to a question."""
    with workspace.database.read() as session:
        sizes = {page.id: (page.height, page.width) for page in session.scalars(select(Page))}
        stored = session.scalars(
            select(Revision.state)
            .join(Annotation, (Revision.annotation_id == Annotation.id) & (Revision.number == Annotation.head))
            .join(Question, Annotation.question_id == Question.id)
            .where(Annotation.project_id == project, Question.text == question)
        ).one()
    values = AnnotationState.model_validate(stored).single_values()
    return [
        [decode_patch(mark.mask.model_dump(), sizes[page]) for page, mark in value.pages.items()] for value in values
    ]


def is_there(found: list[tuple[str, Mask]], question: str, mask: Mask) -> bool:
    return any(text == question and np.array_equal(other, mask) for text, other in found)


def counted(workspace: Workspace, project: str) -> tuple[int, int, int]:
    with workspace.database.read() as session:
        rows = (Document, Annotation, Question)
        return tuple(  # type: ignore[return-value]
            session.scalar(select(func.count()).select_from(one).where(one.project_id == project)) for one in rows
        )


class Exported:
    """Exports of one project, each made when it is asked for: exported / "coco"."""

    def __init__(self, workspace: Workspace, project: str, folder: Path) -> None:
        self.workspace, self.project, self.folder = workspace, project, folder

    def __truediv__(self, form: str) -> Path:
        if not (self.folder / form).exists():
            export(self.workspace, self.project, form, self.folder / form)
        return self.folder / form


def edit(file: Path, change: object) -> None:
    stored = json.loads(file.read_text())
    change(stored)  # type: ignore[operator]
    file.write_text(json.dumps(stored))


def refused(workspace: Workspace, form: str, path: Path, sentence: str) -> None:
    project = make_project(workspace, f"bad {new_id()}")
    with pytest.raises(Refused, match=sentence) as caught:
        import_set(workspace, project.id, form, path, user_id=ensure_local_user(workspace).id)
    assert isinstance(caught.value, BadEntry) and "Nothing was imported." in str(caught.value)
    assert counted(workspace, project.id) == (0, 0, 0)
