"""Deleting the weights of one model version that nothing needs; its row, figures and runs stay, as after pruning."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from db.tables import User
from engine import blob_turns
from engine.errors import Conflict, NotFound
from engine.models import promotions, pruning, registry
from engine.models.pruning import PrunedVersion
from engine.workspace import Workspace


def removable_version(workspace: Workspace, project_id: str, name: str, *, by: User) -> PrunedVersion:
    """Return what `remove_version` would delete. Raises as it does."""
    with workspace.database.read() as session:
        version, _ = _removable(workspace, session, project_id, name, by)
    return version


def remove_version(workspace: Workspace, project_id: str, name: str, *, by: User) -> PrunedVersion:
    """Delete the weights of a version of a project for good. Audited.

    It can neither answer, nor be promoted, judged or trained from any more, and runs that made it or began with it
    cannot be reproduced.

    Args:
        workspace: Open workspace.
        project_id: Project of the version.
        name: Id of the version, or its name, such as "v3".
        by: Acting admin.

    Raises:
        NotFound: The project has no such version, or its weights are gone already.
        Conflict: Something needs the weights, as the sentence says; or a backup copies the files.
        Forbidden: The user is not an admin of the project.
        OSError: A file cannot be deleted.
    """
    holder = blob_turns.holder_of("deletion of a model")
    with workspace.database.write() as session:
        blob_turns.take(session, holder)
        registry.take_turn(session, project_id)  # as a promotion does, so none can choose the version meanwhile
        version, files = _removable(workspace, session, project_id, name, by)
        pruning.delete_weights(workspace, session, project_id, version, files, by)
        blob_turns.give_back(session, holder)
    return version


def _removable(
    workspace: Workspace, session: Session, project_id: str, name: str, by: User
) -> tuple[PrunedVersion, Sequence[str]]:
    pruning.check_allowed(session, project_id, by)
    version = registry.named(session, project_id, name)
    label = registry.label(version)
    if version.project_id is None:
        raise Conflict(f"{label} is the model that all projects begin with; it stays.")
    if version.id == registry.champion(session, project_id).id:
        raise Conflict(f"{label} is the model in use. Promote another model first.")
    if version.id == promotions.previous_champion(session, project_id):
        raise Conflict(f"{label} stays, because a rollback would return to it.")
    weights, files = pruning.weights_of(workspace, session, project_id, version)
    if not files:
        raise NotFound(f"The weights of {label} are deleted already.")
    return weights, files
