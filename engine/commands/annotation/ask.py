"""`glossator ask`: ask a question about a document."""

from typing import Annotated

import typer

from engine.commands.common import emit, here, output
from engine.commands.lookups import acting, document_called
from engine.projects.projects import DEFAULT_NAME, project_named


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ask)


def ask(
    document: Annotated[str, typer.Argument(help="Name or id of a document.")],
    question: Annotated[str, typer.Argument(help="The question.")],
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    person: Annotated[
        str | None, typer.Option("--as", help="Name of the acting user; default: the local user.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Ask a question about a document. The answer is saved as a draft."""
    with here() as workspace:
        from engine.annotation.answer_service import AnswerService
        from engine.annotation.views import annotation_view
        from engine.models.registry import ensure_shipped

        stored = document_called(workspace, project_named(workspace, project).id, document)
        user = acting(workspace, person, "document_id", stored.id)
        ensure_shipped(workspace)
        annotation_id, _ = AnswerService(workspace).ask(stored.id, question, None, user.id)
        view = annotation_view(workspace, annotation_id)
    if as_json:
        emit(view.model_dump(mode="json"))
        return
    output.print(view.text or "(no words are marked)")
    if view.proposal is not None:
        sure = f"confidence {view.proposal.score:.2f}, probability of an answer {view.proposal.answered:.2f}"
        output.print(f"{sure}, by {view.proposal.model.label}", style="dim")
