"""Answers of real forms that an import keeps, and that come back from an export as COCO.

    python -m tests.benchmarks.imported_answers FOLDER [--pages 5]

FOLDER is a set in the grounded format (pages.jsonl). A question that a page asks again, or that has several acceptable
answers, has several values. Prints how many answers the set has, how many the import kept, and how many masks come back
to the pixel after an export as COCO and an import of that.
"""

import argparse
import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from sqlalchemy import select

from db.tables import Annotation, Document, Page, Question, Revision
from engine.accounts.users import ensure_local_user
from engine.annotation.state import AnnotationState
from engine.interchange.exports import export
from engine.interchange.imports import import_set
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from model.masks import Mask, decode_patch
from tests.support.factories import make_project


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=5)
    chosen = parser.parse_args()
    with TemporaryDirectory() as temporary:
        compare(chosen.folder, chosen.pages, Path(temporary))


def compare(folder: Path, pages: int, work: Path) -> None:
    """Print the figures of the first pages of a set."""
    some = work / "some"
    (some / "images").mkdir(parents=True)
    lines = (folder / "pages.jsonl").read_text().splitlines()[:pages]
    for line in lines:
        image = json.loads(line)["image"]
        shutil.copy(folder / image, some / image)
    (some / "pages.jsonl").write_text("\n".join(lines) + "\n")
    asked = [question for line in lines for question in json.loads(line)["questions"]]
    answers = sum(len(question["answers"]) + len(question.get("masks", [])) for question in asked)
    with closing(open_workspace(Settings(data_dir=work / "data"))) as workspace:
        source, target = make_project(workspace, "source"), make_project(workspace, "target")
        person = ensure_local_user(workspace).id
        first = import_set(workspace, source.id, "grounded", some, user_id=person)
        export(workspace, source.id, "coco", work / "coco")
        second = import_set(workspace, target.id, "coco", work / "coco", user_id=person)
        before, after = list(masks_of(workspace, source.id)), list(masks_of(workspace, target.id))
    same = sum(any(key == other and np.array_equal(mask, there) for other, there in after) for key, mask in before)
    print(f"{len(lines)} pages: {answers} answers; the import kept {first.answers}, that of COCO {second.answers}; ")
    print(f"{same} of {len(before)} masks came back to the pixel; left out: {first.lost or second.lost or 'none'}")


def masks_of(workspace: Workspace, project: str) -> Iterator[tuple[tuple[str, str, int], Mask]]:
    """Yield the mask of each value of a project's answers, by page image, question and number."""
    with workspace.database.read() as session:
        pages = {
            page.id: page
            for page in session.scalars(
                select(Page).join(Document, Document.id == Page.document_id).where(Document.project_id == project)
            )
        }
        rows = session.execute(
            select(Question.text, Revision.state)
            .join(Annotation, Annotation.question_id == Question.id)
            .join(Revision, (Revision.annotation_id == Annotation.id) & (Revision.number == Annotation.head))
            .where(Annotation.project_id == project)
        ).all()
    for text, stored in rows:
        for number, value in enumerate(AnnotationState.model_validate(stored).single_values()):
            for page_id, mark in value.pages.items():
                page = pages[page_id]
                yield (
                    (page.image_sha256, text, number),
                    decode_patch(mark.mask.model_dump(), (page.height, page.width)),
                )


if __name__ == "__main__":
    main()
