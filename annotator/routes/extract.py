"""Routes for programs that want the values of papers: a file in, JSON with citations out."""

import json
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, ConfigDict, Field

from annotator.access import MEMBERS, check_member
from annotator.deps import CurrentUser, TheAnswerService, TheWorkers, required_user, workspace_of
from annotator.rate_limit import RateLimit
from annotator.scopes import needs_scope
from annotator.uploads import asked_early, copy_upload, place_of, sent_name
from annotator.work_queues import Place, WorkQueue, end_of, run_in_thread
from engine.annotation.answer_service import AnswerService
from engine.documents.incoming import place_in_line, take_early
from engine.errors import Refused
from engine.extraction.callbacks import add_callback, check_wanted
from engine.extraction.extract import extract_document, extract_file, load_wanted
from engine.extraction.view import Extraction, ExtractionBegun
from engine.fields.definition import FieldDefinition
from engine.fields.field_files import parse_fields
from engine.jobs.in_process_worker import InProcessWorker
from engine.projects.projects import project_by_id
from engine.text import file_name
from engine.webhooks import LONGEST_ADDRESS

# Two files are read at a time (engine.documents.reading.page_stream). The limit per person leaves places for others.
EXTRACTIONS = WorkQueue("extractions", at_work=4, waiting=96, come_back=10, of_one=50)
RATE = RateLimit("extractions")
_LONGEST_VERSION = 32
Callback = Annotated[
    str | None,
    Query(
        max_length=LONGEST_ADDRESS,
        examples=["https://erp.example.org/glossator"],
        description="Address that gets the values of the stored paper as a signed message: once it is read, and again "
        "once people have decided on its unsure fields. Reviewers only.",
    ),
]
Version = Annotated[
    str | None,
    Query(
        max_length=_LONGEST_VERSION,
        examples=["v3"],
        description='Id or name of the model version that answers, such as "v3"; without it, the version in use.',
    ),
]


class WantedValues(BaseModel):
    """What to extract from a document that is there."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    wanted: dict[str, Any] | None = Field(
        None, alias="schema", description="JSON Schema of the wanted object, in place of the project's fields."
    )


def _place(request: Request) -> Place:
    """Count a request and give it a place in the queue, before its body is read."""
    user = required_user(request)
    RATE.take(user.id, workspace_of(request).settings.extractions_per_minute)
    return EXTRACTIONS.place(user.id)


router = APIRouter(tags=["extraction"], dependencies=[MEMBERS], route_class=asked_early(check_member, _place))


@router.post("/projects/{project_id}/extract", responses={202: {"model": ExtractionBegun}})
@needs_scope("extract")
async def extract_from_file(
    request: Request,
    project_id: str,
    file: Annotated[UploadFile, File(description="The paper; the same kinds as in uploads.")],
    service: TheAnswerService,
    workers: TheWorkers,
    user: CurrentUser,
    response: Response,
    wanted: Annotated[
        str,
        Form(
            alias="schema",
            max_length=200_000,
            description="JSON Schema of the wanted object, or a file of fields, in place of the project's fields.",
        ),
    ] = "",
    keep: Annotated[
        bool, Query(description="Whether the paper becomes a document of the project. With false, nothing is stored.")
    ] = True,
    version: Version = None,
    callback: Callback = None,
) -> Extraction | ExtractionBegun:
    """Return the values of a paper with their places.

    With `keep=false` nothing is left behind: no document, no picture, no word, no answer. Otherwise the paper becomes a
    document; fields in `unsure` are for people, who find it in their queue. Of a long paper whose pages are still being
    read, the answer is 202 with the id of the document: ask that document again. 422 for a file that cannot be read.
    """
    fields = parse_fields(wanted, "The schema") if wanted.strip() else None
    if callback is not None and (not keep or fields is not None or version is not None):
        raise Refused("A callback needs a stored paper, the project's fields and the version in use. Leave it out.")
    name = file_name(sent_name(file), "document")
    copy = await run_in_threadpool(copy_upload, file)
    wish = _Wish(user.id, fields, version, keep, callback)
    work = partial(_extract_file, service, workers.reading, project_id, copy, name, wish)
    answer = await end_of(run_in_thread(partial(_in_turn, place_of(request), work), "extract"))
    if isinstance(answer, ExtractionBegun):
        response.status_code = 202
    return answer


@router.post("/documents/{document_id}/extract", responses={202: {"model": ExtractionBegun}})
@needs_scope("extract")
async def extract_from_document(
    request: Request,
    document_id: str,
    asked: WantedValues,
    service: TheAnswerService,
    user: CurrentUser,
    response: Response,
    version: Version = None,
) -> Extraction | ExtractionBegun:
    """Return the values of a document as they stand.

    A person's answer counts where there is one and the caller is a reviewer, else an automatic answer, else what the
    model says. 202 while its pages are being read.
    """
    fields = parse_fields(json.dumps(asked.wanted), "The schema") if asked.wanted is not None else None
    work = partial(extract_document, service, document_id, user.id, fields=fields, version=version)
    answer = await end_of(run_in_thread(partial(_in_turn, place_of(request), work), "extract"))
    if isinstance(answer, ExtractionBegun):
        response.status_code = 202
    return answer


def _in_turn(place: Place, work: Any) -> Extraction | ExtractionBegun:
    with place.turn():
        answer: Extraction | ExtractionBegun = work()
        return answer


@dataclass(frozen=True, slots=True)
class _Wish:
    """What a request wants of a file."""

    user_id: str
    fields: list[FieldDefinition] | None
    version: str | None
    keep: bool
    callback: str | None


def _extract_file(
    service: AnswerService, worker: InProcessWorker, project_id: str, copy: Path, name: str, wish: _Wish
) -> Extraction | ExtractionBegun:
    with ExitStack() as ending:
        ending.callback(partial(copy.unlink, missing_ok=True))
        project_by_id(service.workspace, project_id)
        if not wish.keep:
            return extract_file(service, project_id, copy, name, fields=wish.fields, version=wish.version)
        if wish.callback is not None:
            check_wanted(service.workspace, project_id, wish.user_id, wish.callback)
        with service.workspace.database.read() as session:
            load_wanted(session, project_id, wish.fields)  # refuses before anything is stored
        service.predictors.pinned(project_id, wish.version)
        with place_in_line():
            ending.pop_all()  # a long paper is read on behind its first page
            taken = take_early(
                service.workspace,
                copy,
                name=name,
                project_id=project_id,
                user_id=wish.user_id,
                worker=worker,
                done=partial(copy.unlink, missing_ok=True),
            )
    if wish.callback is not None:
        add_callback(service.workspace, taken.document_id, wish.user_id, wish.callback)
    return extract_document(service, taken.document_id, wish.user_id, fields=wish.fields, version=wish.version)
