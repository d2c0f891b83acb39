"""`glossator documents rename`: another name for a document."""

from typing import Annotated

import typer

from engine.accounts.users import ensure_local_user
from engine.commands.common import here, output
from engine.commands.lookups import document_called, project_to_change
from engine.documents.renaming import rename_document
from engine.projects.projects import DEFAULT_NAME


def rename(
    document: Annotated[str, typer.Argument(help="Name or id of a document.")],
    new: Annotated[str, typer.Argument(help="New name.")],
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
) -> None:
    """Rename a document. Searches, lists and later exports have the new name."""
    with here() as workspace:
        stored = document_called(workspace, project_to_change(workspace, project).id, document)
        rename_document(workspace, stored.id, new, ensure_local_user(workspace).id, before=stored.name)
    output.print(f"{stored.name} is now named {new}.", soft_wrap=True)
