"""What the REST interface answers where no part of the engine has a type of its own for it. Unknown fields are ignored."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel

from engine.accounts.invitations import InvitationView
from engine.annotation.views import AnnotationLine
from engine.documents.views import DocumentView


class Person(BaseModel):
    """A user."""

    id: str
    name: str
    role: str


class Project(BaseModel):
    """A project with its counts and settings."""

    id: str
    name: str
    description: str = ""
    documents: int
    accepted: int
    settings: dict[str, Any]


class TakenFile(BaseModel):
    """A file that is a document now. `created` is false when the project had it already."""

    name: str
    document_id: str
    created: bool
    pages: int
    words: int
    warnings: list[str]


class RefusedFile(BaseModel):
    """A file that was not taken, and why."""

    name: str
    reason: str
    sentence: str


class Uploaded(BaseModel):
    """What became of each file."""

    documents: list[TakenFile]
    refused: list[RefusedFile]


class ExportFormat(BaseModel):
    """A format of datasets. `lossy`: what it cannot hold; empty where it holds everything."""

    name: str
    title: str
    lossy: str


class ImportedSet(BaseModel):
    """What came in with a dataset. `known`: documents that were there before; `read`: pages without words that were read; `lost`: what was left out, by name."""

    format: str
    documents: int
    known: int
    pages: int
    read: int
    answers: int
    no_answer: int
    lost: dict[str, int]


class ImportUnderWay(BaseModel):
    """An import that has not ended. `of`: 0 while nobody knows how much there is; `stopping`: it ends at its next step."""

    id: str
    name: str
    by: str
    began_at: datetime
    doing: str
    done: int
    of: int
    stopping: bool


class Document(DocumentView):
    """A document with its pages and the questions asked about it."""

    annotations: list[AnnotationLine]


class NextAnswer(BaseModel):
    """Where to go on, or one sentence why there is nothing left."""

    annotation_id: str | None
    document_id: str | None = None
    reason: str | None = None


class Invited(InvitationView):
    """An invitation with its link, which is told this once."""

    url: str
