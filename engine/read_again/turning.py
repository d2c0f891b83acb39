"""Stored pages turned by 90, 180 or 270 degrees: image, words, and what the model has said about the page.

Pixels of answers are never turned, because revisions are never changed. A page that answers mark stays as it is.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sqlalchemy import Text, bindparam, cast, func, or_, select, update
from sqlalchemy.orm import Session

from db.ids import new_id
from db.tables import (
    Annotation,
    AutomaticAnswer,
    Document,
    LabelReview,
    OutsideAnswer,
    Page,
    PageWord,
    Prediction,
    ReplacedImage,
    Revision,
    Task,
    WordEdit,
)
from engine import audit
from engine.accounts.visibility import hidden_questions
from engine.annotation.state import PageGeometry, Patch, raster, to_patch
from engine.documents.form_layer.stored_widgets import turn_widgets
from engine.documents.lists.thumbnails import image_version
from engine.documents.ocr.engine import turn_clockwise
from engine.documents.reading.source_words import turned_box
from engine.errors import Conflict, Forbidden
from engine.plurals import count
from engine.queries import existing
from engine.workspace import Workspace
from model.boxes import Box

TURNS = (90, 180, 270)  # degrees clockwise
TURNED = "turned"  # `op` of the entry in a page's corrections that says so
_PLACE = (
    update(PageWord.__table__)  # type: ignore[arg-type]
    .where(PageWord.page_id == bindparam("of_page"), PageWord.number == bindparam("of_number"))
    .values(x0=bindparam("left"), y0=bindparam("top"), x1=bindparam("right"), y1=bindparam("bottom"))
)


@dataclass(frozen=True, slots=True)
class TurnedImage:
    """Image of a page, turned and stored as a blob. `before`: SHA-256 of the image that was turned."""

    before: str
    sha256: str
    degrees: int
    width: int
    height: int


def turn_by_hand(workspace: Workspace, page_id: str, degrees: int, user_id: str, *, seen: str | None = None) -> str:
    """Turn a page clockwise for a person; returns its document's id. Turning it back undoes that. Audited.

    Args:
        workspace: Open workspace.
        page_id: The page.
        degrees: 90, 180 or 270.
        user_id: The person.
        seen: Version of the image that the person saw; None: not checked.

    Raises:
        NotFound: There is no such page.
        Forbidden: Answers on the document are hidden from the person, so whether the page has marks is, too.
        Conflict: Answers mark the page, or it was turned meanwhile.
    """
    with workspace.database.read() as session:
        page = existing(session, Page, page_id)
        if hidden_questions(session, page.document_id, user_id):
            raise Forbidden("Several people answer this document without seeing each other: ask a reviewer to turn it.")
        if seen is not None and seen != image_version(page.image_sha256):
            raise Conflict(f"Page {page.number} was turned meanwhile; look at it again.")
        check_unmarked(session, page)
    image = turn_image(workspace, page.image_sha256, degrees)
    with workspace.database.write() as session:
        return turn_page(session, page_id, image, user_id, by_hand=True).document_id


def turn_image(workspace: Workspace, sha256: str, degrees: int) -> TurnedImage:
    """Store the image of a page turned clockwise, without loss; takes a second, so not in a transaction."""
    with (
        workspace.blobs.open(sha256) as file,
        Image.open(file) as stored,
        tempfile.TemporaryDirectory(prefix="glossator-") as folder,
    ):
        turned = turn_clockwise(stored, degrees)
        path = Path(folder) / "page.png"
        turned.save(path, "PNG", compress_level=1)
        return TurnedImage(sha256, workspace.blobs.put_file(path), degrees, turned.width, turned.height)


def check_unmarked(session: Session, page: Page) -> None:
    """Check that no revision names a page and no automatic answer on it is in force. Raises Conflict."""
    named = or_(cast(Revision.state, Text).contains(page.id), cast(Revision.edits, Text).contains(page.id))
    people = select(func.count(Annotation.id.distinct())).join(Revision, Revision.annotation_id == Annotation.id)
    answers = session.scalar(people.where(Annotation.document_id == page.document_id, named)) or 0
    automatic = select(func.count(AutomaticAnswer.id)).join(Task, Task.id == AutomaticAnswer.task_id)
    answers += (
        session.scalar(
            automatic.where(
                Task.document_id == page.document_id,
                AutomaticAnswer.page_id == page.id,
                AutomaticAnswer.withdrawn_at.is_(None),
            )
        )
        or 0
    )
    if answers:
        raise Conflict(f"Page {page.number} stays as it is: {count(answers, 'answer')} marked it, in its pixels.")


def turn_page(session: Session, page_id: str, image: TurnedImage, user_id: str, *, by_hand: bool) -> Page:
    """Give a page its turned image, and turn its words, widgets and the model's answers, in the caller's unit of work.

    `by_hand`: it stays as it is when OCR reads it again.

    Raises:
        NotFound: There is no such page.
        Conflict: Answers mark the page, or its image is no longer the one that was turned.
    """
    page = existing(session, Page, page_id, with_for_update=True, populate_existing=True)
    if page.image_sha256 != image.before:
        raise Conflict(f"Page {page.number} was turned meanwhile; look at it again.")
    # Locked: a save that has begun is seen below; one that begins now waits, and finds the page turned.
    session.execute(select(Annotation.id).where(Annotation.document_id == page.document_id).with_for_update()).all()
    check_unmarked(session, page)
    size = page.width, page.height

    def turn_box(box: Box) -> Box:
        x0, y0, x1, y1 = turned_box(box, image.degrees, size)
        return int(x0), int(y0), int(x1), int(y1)

    _turn_words(session, page, turn_box)
    turn_widgets(session, page.id, turn_box)
    _turn_predictions(session, page, image.degrees, turn_box)
    session.merge(ReplacedImage(page_id=page.id, image_sha256=image.before))
    page.image_sha256, page.image_media_type = image.sha256, "image/png"
    page.width, page.height = image.width, image.height
    page.rotation = (page.rotation + image.degrees) % 360
    page.words_version += 1
    if by_hand:
        page.turned_by = user_id
    session.add(
        WordEdit(
            page_id=page.id,
            version=page.words_version,
            author_id=user_id,
            idempotency_key=f"turn-{new_id()}",
            edits=[{"op": TURNED, "degrees": image.degrees}],
            before=[],
        )
    )
    document = session.get_one(Document, page.document_id)
    details = {"document": document.name, "page": page.number, "degrees": image.degrees}
    audit.record(session, user_id if by_hand else None, "pages.turn", page.id, document.project_id, **details)
    session.flush()
    return page


def _turn_words(session: Session, page: Page, turn_box: Callable[[Box], Box]) -> None:
    """Turn the boxes of all words that the page has ever had; numbers, order and lines stay."""
    columns = PageWord.number, PageWord.x0, PageWord.y0, PageWord.x1, PageWord.y1
    moved = []
    for number, *box in session.execute(select(*columns).where(PageWord.page_id == page.id)):
        left, top, right, bottom = turn_box((box[0], box[1], box[2], box[3]))
        place = {"left": left, "top": top, "right": right, "bottom": bottom}
        moved.append({"of_page": page.id, "of_number": number, **place})
    if moved:
        session.connection().execute(_PLACE, moved)
    for edit in session.scalars(select(WordEdit).where(WordEdit.page_id == page.id)):
        edit.before = [{**word, "box": list(turn_box(tuple(word["box"])))} for word in edit.before]


def _turn_predictions(session: Session, page: Page, degrees: int, turn_box: Callable[[Box], Box]) -> None:
    """Turn what the model has said about a page; no answer is built on it yet."""
    geometry = PageGeometry((page.height, page.width), {})

    def turn_mask(patch: dict[str, Any]) -> dict[str, Any]:
        mask = raster(Patch.model_validate(patch), geometry)
        return to_patch(np.rot90(mask, -degrees // 90)).model_dump(mode="json")

    def turn_answer(answer: dict[str, Any]) -> dict[str, Any]:
        if "mask" not in answer:  # the text of gone words
            return answer
        turned = {**answer, "mask": turn_mask(answer["mask"])}
        if "candidates" in answer:
            turned["candidates"] = [
                {**candidate, "mask": turn_mask(candidate["mask"])} for candidate in answer["candidates"]
            ]
        return turned

    of_document = select(Annotation.id).where(Annotation.document_id == page.document_id)
    predictions = select(Prediction).where(Prediction.annotation_id.in_(of_document), Prediction.page_id == page.id)
    for prediction in session.scalars(predictions):
        prediction.answer = turn_answer(prediction.answer)
        prompts = dict(prediction.prompts)
        if prompts.get("points"):
            prompts["points"] = [
                [*turned_box((x, y, x, y), degrees, (page.width, page.height))[:2], inside]
                for x, y, inside in prompts["points"]
            ]
        if prompts.get("box"):
            prompts["box"] = list(turn_box(tuple(prompts["box"])))
        if prompts.get("mask"):
            prompts["mask"] = turn_mask(prompts["mask"])
        prediction.prompts = prompts
    for outside in session.scalars(select(OutsideAnswer).where(OutsideAnswer.page_id == page.id)):
        outside.answer = turn_answer(outside.answer)
    looks = select(LabelReview).where(LabelReview.annotation_id.in_(of_document), LabelReview.page_id == page.id)
    for look in session.scalars(looks):
        look.answer = turn_answer(look.answer)
    tasks = select(Task.id).where(Task.document_id == page.document_id)
    automatic = select(AutomaticAnswer).where(AutomaticAnswer.task_id.in_(tasks), AutomaticAnswer.page_id == page.id)
    for automatic_answer in session.scalars(automatic):
        automatic_answer.answer = turn_answer(automatic_answer.answer)
