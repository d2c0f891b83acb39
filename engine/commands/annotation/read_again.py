"""`glossator documents read-again` and `documents turn`: read stored pages again by OCR, and turn them."""

from typing import Annotated

import typer

from engine.commands.common import console, emit, fail, here, output, progress
from engine.commands.lookups import acting, document_called, page_numbered
from engine.documents.lists.listing import document_lines
from engine.documents.lists.views import document_view
from engine.documents.refusal import DocumentRefused
from engine.errors import Refused
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.read_again.jobs import BY_OCR, read_page, sentence
from engine.read_again.turning import TURNS, turn_by_hand


def register(documents: typer.Typer) -> None:
    """Add the commands to those of documents."""
    documents.command("read-again")(read_documents_again)
    documents.command("turn")(turn_document_page)


def read_documents_again(
    document: Annotated[
        str | None, typer.Argument(help="Name or id of a document; without one, all of the project.")
    ] = None,
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    page: Annotated[int | None, typer.Option(min=1, help="Only the page with this number, from 1.")] = None,
    user: Annotated[str | None, typer.Option("--as", help="Act as this user; the local user by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Read pages again by OCR, as when their text layer was not what is printed.

    Words that people added or fixed stay. Accepted answers whose words are gone go to review. Exits with 1 when no page
    could be read.
    """
    if page is not None and document is None:
        fail("Name the document of this page.")
    with here() as workspace, progress() as bar:
        project_id = project_named(workspace, project).id
        by = acting(workspace, user, "project_id", project_id, "reviewer")
        if document is None:
            chosen = [line.id for line in document_lines(workspace, project_id)]
        else:
            chosen = [document_called(workspace, project_id, document).id]
        if page is not None:
            pages = [page_numbered(workspace, chosen[0], page)]
        else:
            pages = [listed_page for key in chosen for listed_page in document_view(workspace, key).pages]
        task = bar.add_task("Reading", total=len(pages))
        done, refusals = [], []
        for listed_page in pages:
            try:
                done.append(read_page(workspace, listed_page.id, by.id))
            except (Refused, DocumentRefused) as error:
                refusals.append(str(error))
            bar.advance(task)
    looks = sorted({answer.annotation_id for words_read in done for answer in words_read.shaken})
    if json:
        counts = {
            "pages": len(done),
            "new": sum(words_read.new for words_read in done),
            "gone": sum(words_read.gone for words_read in done),
        }
        emit({**counts, "answers": looks, "not_read": refusals})
    else:
        output.print(sentence(done), soft_wrap=True)
        for refusal in refusals:
            console.print(refusal, soft_wrap=True)
    if pages and not done:
        raise typer.Exit(1)


def turn_document_page(
    document: Annotated[str, typer.Argument(help="Name or id of a document.")],
    page: Annotated[int, typer.Option(min=1, help="Number of the page, from 1.")],
    degrees: Annotated[int, typer.Option(help="90, 180 or 270, clockwise; turning back undoes a turn.")] = 90,
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    user: Annotated[str | None, typer.Option("--as", help="Act as this user; the local user by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Turn a page, with its words and the model's proposals, and read words by OCR anew.

    Fails when answers mark the page, because marks are kept in its pixels.
    """
    if degrees not in TURNS:
        fail("Turn a page by 90, 180 or 270 degrees.")
    with here() as workspace:
        project_id = project_named(workspace, project).id
        by = acting(workspace, user, "project_id", project_id, "annotator")
        document_id = document_called(workspace, project_id, document).id
        chosen = page_numbered(workspace, document_id, page)
        turn_by_hand(workspace, chosen.id, degrees, by.id)
        said = f"Turned page {page} by {degrees} degrees."
        if chosen.text_source in BY_OCR:
            try:
                said += f" {sentence([read_page(workspace, chosen.id, by.id)])}"
            except (Refused, DocumentRefused) as error:
                said += f" {error}"
    if json:
        emit({"page": page, "degrees": degrees, "sentence": said})
    else:
        output.print(said, soft_wrap=True)
