"""glossator ask: one question of one document, from a shell."""

from typing import Annotated

import typer
from sqlalchemy import or_, select

from db.tables import Document
from engine.commands.common import emit, fail, here, output
from engine.projects import DEFAULT_NAME, project_named


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ask)


def ask(
    document: Annotated[str, typer.Argument(help="Name or id of a document of the project.")],
    question: Annotated[str, typer.Argument(help="What to ask it.")],
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on the last line.")] = False,
) -> None:
    """Ask a document. The answer is kept, and waits on the page to be corrected or accepted."""
    with here() as workspace:
        from engine.annotation.ask import Desk
        from engine.annotation.views import annotation_view
        from engine.people import ensure_local_user
        from engine.training.registry import ensure_shipped

        there = project_named(workspace, project)
        with workspace.database.read() as session:
            found = session.scalars(
                select(Document).where(
                    Document.project_id == there.id, or_(Document.id == document, Document.name == document)
                )
            ).all()
        if not found:
            fail(f"The project {project!r} has no document {document!r}; glossator ingest puts one there.")
        if len(found) > 1:
            fail(
                f"{len(found)} documents are called {document!r}; name one by its id: {', '.join(d.id for d in found)}"
            )
        ensure_shipped(workspace)
        annotation_id, _ = Desk(workspace).ask(found[0].id, question, None, ensure_local_user(workspace).id)
        view = annotation_view(workspace, annotation_id)
    if as_json:
        emit(view.model_dump(mode="json"))
        return
    output.print(view.text or "(no words are marked)", markup=False)
    if view.proposal is not None:
        sure = f"confidence {view.proposal.score:.2f}, answered here {view.proposal.answered:.2f}"
        output.print(f"{sure}, by {view.proposal.model.label}", style="dim", markup=False)
