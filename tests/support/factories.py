"""Rows and blobs for tests, made directly where reading a file would only cost time."""

import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont
from sqlalchemy import func, insert, select

from db.base import now
from db.ids import new_id
from db.tables import Annotation, Document, DocumentGroup, Page, PageWord, Project, Question, Revision, User
from engine.accounts.users import local_user
from engine.annotation.state import AnnotationState, PageMark, dump_state, to_patch
from engine.projects.projects import create_project
from engine.workspace import Workspace
from model.boxes import Box
from model.masks import Mask, rasterise

if TYPE_CHECKING:
    from model.network import GroundingNetwork

SIZE = (400, 300)  # width, height of a page, in pixels
Placed = tuple[str, Box]


def line(text: str, x: int = 20, y: int = 20) -> list[Placed]:
    """Words of a line in a fixed-width face: 8 pixels a character, 14 high."""
    words = []
    for word in text.split():
        words.append((word, (x, y, x + 8 * len(word), y + 14)))
        x += 8 * len(word) + 8
    return words


def bill(number: int) -> list[Placed]:
    """A small bill; words 1, 4 and 6 are its number, its total and its customer."""
    return [
        *line(f"Bill: B{1000 + number}", 20, 20),
        *line(f"Total due: {10 + number}.50", 20, 60),
        *line(f"Customer: Nr{number}", 20, 100),
    ]


BILL_QUESTIONS = {"What is the bill number?": [1], "What is the total due?": [4], "Who is the customer?": [6]}


def make_project(workspace: Workspace, name: str = "bills") -> Project:
    """A project that anything may be put into."""
    return create_project(workspace, name)


def make_document(
    workspace: Workspace,
    project_id: str,
    pages: Sequence[Sequence[Placed]],
    *,
    split: str = "train",
    name: str = "bill.png",
    quarantined: bool = False,
    size: tuple[int, int] = SIZE,
) -> Document:
    """A document of rendered pages, (width, height) in pixels, in a group of its own with the given split."""
    images = [_render(words, size) for words in pages]
    with workspace.database.write() as session:
        groups = select(func.count()).select_from(DocumentGroup).where(DocumentGroup.project_id == project_id)
        sequence = session.scalar(groups) or 0
        group = DocumentGroup(
            project_id=project_id, sequence=sequence, split=split, quarantined_at=now() if quarantined else None
        )
        session.add(group)
        session.flush()
        content = b"".join(images) + f"{name} {sequence}".encode()
        document = Document(
            project_id=project_id,
            group_id=group.id,
            sha256=workspace.blobs.put(content),
            name=name,
            media_type="image/png",
            byte_count=len(content),
            licence="CC0-1.0",
        )
        session.add(document)
        session.flush()
        for number, (words, image) in enumerate(zip(pages, images, strict=True), 1):
            page = Page(
                document_id=document.id,
                number=number,
                width=size[0],
                height=size[1],
                image_sha256=workspace.blobs.put(image),
                image_media_type="image/png",
                text_source="given",
                word_count=len(words),
            )
            session.add(page)
            session.flush()
            session.execute(
                insert(PageWord),
                [
                    {
                        "page_id": page.id,
                        "number": at,
                        "position": at,
                        "line": box[1],
                        "text": text,
                        "x0": box[0],
                        "y0": box[1],
                        "x1": box[2],
                        "y1": box[3],
                    }
                    for at, (text, box) in enumerate(words)
                ],
            )
        return document


def pages_of(workspace: Workspace, document_id: str) -> list[Page]:
    """The pages of a document in order."""
    with workspace.database.read() as session:
        return list(session.scalars(select(Page).where(Page.document_id == document_id).order_by(Page.number)))


def accept(
    workspace: Workspace,
    document: Document,
    question: str,
    words: Sequence[int] = (),
    *,
    page: int = 1,
    mask: Mask | None = None,
    status: str = "accepted",
    author: str | None = None,
    state: AnnotationState | None = None,
) -> Annotation:
    """Add an annotation with one revision; without words and mask, the document does not answer."""
    if state is None:
        state = AnnotationState(no_answer=not words and mask is None)
        if words or mask is not None:
            on = pages_of(workspace, document.id)[page - 1]
            boxes = boxes_of(workspace, on.id)
            pixels = mask if mask is not None else rasterise([boxes[at] for at in words], (on.height, on.width))
            state.pages[on.id] = PageMark(words=list(words), mask=to_patch(pixels))
    with workspace.database.write() as session:
        person = local_user(session) if author is None else _person(session, author)
        asked = session.scalar(
            select(Question).where(Question.project_id == document.project_id, Question.text == question)
        )
        if asked is None:
            asked = Question(project_id=document.project_id, text=question)
            session.add(asked)
            session.flush()
        annotation = Annotation(
            project_id=document.project_id,
            document_id=document.id,
            question_id=asked.id,
            author_id=person.id,
            status=status,
            head=1,
        )
        session.add(annotation)
        session.flush()
        session.add(_revision(annotation, state))
        return annotation


def accept_several(workspace: Workspace, document: Document, answers: Mapping[str, Sequence[int]]) -> None:
    """Answers by words of the first page, in one commit: for sets of many."""
    [page, *_] = pages_of(workspace, document.id)
    boxes = boxes_of(workspace, page.id)
    with workspace.database.write() as session:
        person = local_user(session)
        asked = {
            one.text: one for one in session.scalars(select(Question).where(Question.project_id == document.project_id))
        }
        for question in answers:
            if question not in asked:
                asked[question] = Question(project_id=document.project_id, text=question)
                session.add(asked[question])
        session.flush()
        for question, words in answers.items():
            pixels = rasterise([boxes[at] for at in words], (page.height, page.width))
            state = AnnotationState(pages={page.id: PageMark(words=list(words), mask=to_patch(pixels))})
            annotation = Annotation(
                id=new_id(),
                project_id=document.project_id,
                document_id=document.id,
                question_id=asked[question].id,
                author_id=person.id,
                status="accepted",
                head=1,
            )
            session.add_all([annotation, _revision(annotation, state)])


def revise(workspace: Workspace, annotation: Annotation, state: AnnotationState, status: str = "accepted") -> Revision:
    """One more revision of an annotation."""
    with workspace.database.write() as session:
        there = session.get_one(Annotation, annotation.id)
        there.head, there.status = there.head + 1, status
        revision = _revision(there, state)
        session.add(revision)
        session.flush()
        return revision


def make_bills(
    workspace: Workspace, project_id: str, splits: Mapping[str, int], questions: int = 3
) -> list[Annotation]:
    """Bills with accepted answers: so many documents of each split, so many questions of each."""
    made, number = [], 0
    for split, count in splits.items():
        for _ in range(count):
            document = make_document(workspace, project_id, [bill(number)], split=split, name=f"bill {number}.png")
            for question, words in list(BILL_QUESTIONS.items())[:questions]:
                made.append(accept(workspace, document, question, words))
            number += 1
    return made


def _revision(annotation: Annotation, state: AnnotationState) -> Revision:
    return Revision(
        annotation_id=annotation.id,
        number=annotation.head,
        base=annotation.head - 1,
        author_id=annotation.author_id,
        action="accept",
        status=annotation.status,
        state=dump_state(state),
        idempotency_key=hashlib.sha256(f"{annotation.id} {annotation.head}".encode()).hexdigest(),
    )


def _person(session, name: str) -> User:  # type: ignore[no-untyped-def]
    person = session.scalar(select(User).where(User.name == name))
    if person is None:
        person = User(name=name, role="annotator")
        session.add(person)
        session.flush()
    return person


def boxes_of(workspace: Workspace, page_id: str) -> dict[int, Box]:
    """The boxes of a page's words, by their numbers."""
    with workspace.database.read() as session:
        rows = session.scalars(select(PageWord).where(PageWord.page_id == page_id))
        return {row.number: (row.x0, row.y0, row.x1, row.y1) for row in rows}


def _render(words: Sequence[Placed], size: tuple[int, int]) -> bytes:
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    for text, (x0, y0, _, y1) in words:
        letter = ImageFont.load_default(y1 - y0) if y1 - y0 > 14 else None
        draw.text((x0, y0), text, fill="black", font=letter)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def tiny_network(seed: int = 0) -> "GroundingNetwork":
    """An untrained network with all its parts, of the smallest size that still runs."""
    import torch

    from model.network import GroundingNetwork
    from model.presets import ImageConfig, NetworkConfig, TextConfig

    config = NetworkConfig(
        name="tiny",
        width=32,
        heads=2,
        image=ImageConfig(long_side=128, embed_dim=16, stages=(1, 1, 2, 1), global_attention=(3,)),
        text=TextConfig(buckets=256, vector_width=8, layers=1),
        fusion_layers=1,
        word_layers=1,
        mask_layers=1,
    )
    torch.manual_seed(seed)
    return GroundingNetwork(config)


def save_tiny_model(path: Path, seed: int = 0) -> str:
    """Save a tiny network and return its version."""
    from model import checkpoint

    network = tiny_network(seed)
    return checkpoint.save(path, network, network.config.to_dict())
