"""`glossator answers`: list, mark, refine, accept, submit, reopen, remove and restore answers."""

import uuid
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from engine.accounts.users import ensure_local_user
from engine.annotation.edits import Edit, EditClear, EditMask, EditNoAnswer, EditPrompts, EditWords
from engine.annotation.removal import remove, restore
from engine.annotation.revisions import Action, RevisionRequest, Saved, append_revision
from engine.annotation.state import Point
from engine.annotation.views import annotation_lines, annotation_view, removed_lines
from engine.commands.common import emit, fail, here, list_table, output, print_list
from engine.commands.lookups import acting, document_called, page_numbered
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.workspace import Workspace

answers = typer.Typer(help="List, mark, accept and remove answers.", no_args_is_help=True)

Answer = Annotated[str, typer.Argument(help="Id of the answer, from glossator answers list.")]
Page = Annotated[int, typer.Option(min=1, help="Page number.")]
Person = Annotated[str | None, typer.Option("--as", help="Name of the acting user; default: the local user.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(answers, name="answers")


@answers.command("list")
def list_(
    document: Annotated[str, typer.Argument(help="Name or id of a document.")],
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    removed: Annotated[bool, typer.Option("--removed", help="List the removed answers instead.")] = False,
    as_json: Json = False,
) -> None:
    """List the questions and answers of a document."""
    with here() as workspace:
        stored = document_called(workspace, project_named(workspace, project).id, document)
        if removed:
            lines = removed_lines(workspace, stored.id, ensure_local_user(workspace).id)
        else:
            lines = annotation_lines(workspace, stored.id)
    if as_json:
        emit({"document_id": stored.id, "answers": [line.model_dump(mode="json") for line in lines]})
        return
    table = list_table("answer", "question", "text", "status", "by")
    for line in lines:
        text = "(no answer)" if line.no_answer else line.text
        table.add_row(line.id, line.question.text, text, line.status, line.author.name)
    print_list(table, "No answers of this document.")


@answers.command()
def show(answer: Answer, as_json: Json = False) -> None:
    """Show an answer and the model's proposal."""
    with here() as workspace:
        view = annotation_view(workspace, answer)
    if as_json:
        emit(view.model_dump(mode="json"))
        return
    output.print(view.question.text)
    output.print("(no answer)" if view.state.no_answer else view.text or "(no words are marked)")
    output.print(f"{view.status}, revision {view.head}, by {view.author.name}", style="dim")
    if view.proposal is not None:
        proposed = f"proposed by {view.proposal.model.label}: {view.proposal.text or '(nothing)'}"
        output.print(f"{proposed}, confidence {view.proposal.score:.2f}", style="dim")


@answers.command()
def mark(
    answer: Answer,
    text: Annotated[str | None, typer.Option(help="Consecutive words of the page.")] = None,
    words: Annotated[str | None, typer.Option(help="Word numbers, separated by commas.")] = None,
    page: Page = 1,
    person: Person = None,
    as_json: Json = False,
) -> None:
    """Mark words of a page, replacing its mark."""
    if (text is None) == (words is None):
        fail("No words are given. Use either --text WORDS or --words NUMBERS.")
    with here() as workspace:
        place = page_numbered(workspace, annotation_view(workspace, answer).document_id, page)
        numbers = _find_text(workspace, place.id, text) if text is not None else _numbers(words or "")
        edits: list[Edit] = [EditClear(op="clear", page=place.id), EditWords(op="words", page=place.id, add=numbers)]
        _print_saved(*_save(workspace, answer, "edit", edits, person), as_json)


@answers.command()
def refine(
    answer: Answer,
    point: Annotated[
        list[str] | None,
        typer.Option(help="X,Y in page pixels inside the answer; X,Y- (with a minus) for a point outside."),
    ] = None,
    box: Annotated[str | None, typer.Option(help="X0,Y0,X1,Y1 in page pixels.")] = None,
    page: Page = 1,
    person: Person = None,
    as_json: Json = False,
) -> None:
    """Refine an answer with points and a box, and save the result."""
    points = [_point(text) for text in point or ()]
    if not points and box is None:
        fail("No point or box is given. Use --point X,Y or --box X0,Y0,X1,Y1.")
    corners = _numbers(box) if box is not None else []
    if box is not None and len(corners) != 4:
        fail(f"The box {box!r} is invalid. Give four whole numbers: X0,Y0,X1,Y1.")
    edges = (corners[0], corners[1], corners[2], corners[3]) if corners else None
    with here() as workspace:
        from engine.annotation.answer_service import AnswerService

        place = page_numbered(workspace, annotation_view(workspace, answer).document_id, page)
        user = acting(workspace, person, "annotation_id", answer)
        refined = AnswerService(workspace).refine(answer, place.id, user.id, points=points, box=edges, mask=None)
        edits: list[Edit] = [
            EditPrompts(op="prompts", page=place.id, points=points, boxes=[edges] if edges else []),
            EditMask(op="mask", page=place.id, words=refined.words, mask=refined.mask),
        ]
        _print_saved(*_save(workspace, answer, "edit", edits, person, refined.prediction_id), as_json)


@answers.command()
def accept(answer: Answer, person: Person = None, as_json: Json = False) -> None:
    """Accept an answer; with required reviews, this submits it."""
    _decide(answer, "accept", [], person, as_json)


@answers.command()
def submit(answer: Answer, person: Person = None, as_json: Json = False) -> None:
    """Submit an answer for review."""
    _decide(answer, "submit", [], person, as_json)


@answers.command()
def reopen(answer: Answer, person: Person = None, as_json: Json = False) -> None:
    """Reopen an accepted answer for editing."""
    _decide(answer, "reopen", [], person, as_json)


@answers.command("remove")
def remove_(answer: Answer, person: Person = None, as_json: Json = False) -> None:
    """Remove an answer with its question from its document; restore brings it back."""
    with here() as workspace:
        remove(workspace, answer, None, acting(workspace, person, "annotation_id", answer).id)
    if as_json:
        emit({"annotation_id": answer, "removed": True})
    else:
        output.print(f"Removed. To bring it back: glossator answers restore {answer}", soft_wrap=True)


@answers.command("restore")
def restore_(answer: Answer, person: Person = None, as_json: Json = False) -> None:
    """Restore a removed answer as it was."""
    with here() as workspace:
        restore(workspace, answer, acting(workspace, person, "annotation_id", answer).id)
        view = annotation_view(workspace, answer)
    if as_json:
        emit({"annotation_id": answer, "revision": view.head, "status": view.status})
    else:
        output.print(f"{view.question.text}: {view.status}, revision {view.head}", soft_wrap=True)


@answers.command("none")
def no_answer(answer: Answer, person: Person = None, as_json: Json = False) -> None:
    """Mark a question as not answered in the document, and accept that."""
    _decide(answer, "accept", [EditNoAnswer(op="no_answer", value=True)], person, as_json)


def _decide(answer: str, action: Action, edits: Sequence[Edit], person: str | None, as_json: bool) -> None:
    with here() as workspace:
        _print_saved(*_save(workspace, answer, action, edits, person), as_json)


def _save(
    workspace: Workspace,
    answer: str,
    action: Action,
    edits: Sequence[Edit],
    person: str | None,
    prediction_id: str | None = None,
) -> tuple[str, Saved]:
    user = acting(workspace, person, "annotation_id", answer)
    request = RevisionRequest(
        idempotency_key=uuid.uuid4().hex,
        base=annotation_view(workspace, answer).head,
        action=action,
        edits=list(edits),
        prediction_id=prediction_id,
    )
    return answer, append_revision(workspace, answer, request, user.id)


def _print_saved(answer: str, saved: Saved, as_json: bool) -> None:
    if as_json:
        fields: dict[str, Any] = {"annotation_id": answer, "revision": saved.revision, "status": saved.status}
        emit({**fields, "no_answer": saved.state.no_answer, "text": saved.text})
    else:
        what = "(no answer)" if saved.state.no_answer else saved.text or "(no words are marked)"
        output.print(f"{what}: {saved.status}, revision {saved.revision}", soft_wrap=True)


def _find_text(workspace: Workspace, page_id: str, text: str) -> list[int]:
    """Return the numbers of consecutive words; ends the command unless they occur exactly once."""
    from engine.annotation.page_cache import words_of

    page_words, wanted = words_of(workspace, page_id), text.split()
    texts = [word.text for word in page_words.words]
    places = [at for at in range(len(texts)) if wanted and texts[at : at + len(wanted)] == wanted]
    if len(places) != 1:
        reason = "do not occur on this page" if not places else f"occur {len(places)} times on this page; use --words"
        fail(f"The words {text!r} {reason}.")
    return list(page_words.numbers[places[0] : places[0] + len(wanted)])


def _numbers(text: str) -> list[int]:
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        fail(f"{text!r} is invalid. Give whole numbers separated by commas, as in 41,42.")


def _point(text: str) -> Point:
    try:
        x, y = text.rstrip("+-").split(",")
        return float(x), float(y), not text.endswith("-")
    except ValueError:
        fail(f"The point {text!r} is invalid. Give X,Y, or X,Y- for a point outside the answer.")
