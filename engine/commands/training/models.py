"""`glossator models`: list, promote, roll back, prune and remove model versions."""

import sys
from typing import Annotated, Any

import typer

from engine.commands.common import emit, here, list_table, output
from engine.commands.lookups import acting
from engine.errors import NotFound
from engine.lifecycle.version_removal import removable_version, remove_version
from engine.models import promotions, pruning, registry
from engine.paging import every
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.text import join_names
from engine.workspace import Workspace

models = typer.Typer(help="List, promote, roll back, prune and remove model versions.", no_args_is_help=True)

Project = Annotated[str, typer.Option("--project", help="Name of the project.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]
Person = Annotated[str | None, typer.Option("--as", help="Name of the acting user; default: the local user.")]


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(models, name="models")


@models.command("list")
def list_(
    project: Project = DEFAULT_NAME,
    limit: Annotated[
        int, typer.Option(min=1, max=registry.MOST_LISTED, help="Number of models, newest first.")
    ] = registry.MOST_LISTED,
    as_json: Json = False,
) -> None:
    """List model versions with their figures, newest first; "equal": share of equal values on held-out documents."""
    with here() as workspace:
        registry.ensure_shipped(workspace)
        versions = registry.versions(workspace, project_named(workspace, project).id, limit=limit)
    if as_json:
        emit({"models": [_as_json(version) for version in versions]})
        return
    labels = {version.id: version.label for version in versions}
    table = list_table("", "model", "parent", "snapshot", "held out: IoU", "equal", "generated: IoU", "created")
    for version in versions:
        state = ["champion"] * version.champion + ["missing"] * version.missing
        table.add_row(
            ", ".join(state),
            version.label,
            labels.get(version.parent_id or "", ""),
            (version.snapshot_sha256 or "")[:12],
            _figure(version.figures, "own"),
            _figure(version.figures, "own", "value_equal"),
            _figure(version.figures, "generated"),
            f"{version.created_at:%Y-%m-%d %H:%M}",
        )
    output.print(table)
    for version in versions:
        if version.missing and version.champion:
            output.print(
                f"{version.label} is missing from disk. Restore its file, or use another model.", soft_wrap=True
            )
    if without := [version.label for version in versions if version.missing and not version.champion]:
        output.print(f"Pruned or lost, so without weights: {join_names(without)}.", soft_wrap=True)


@models.command()
def promote(
    model: Annotated[str, typer.Argument(help="Label, as v3, or id.")],
    project: Project = DEFAULT_NAME,
    force: Annotated[
        bool, typer.Option("--force", help="Promote despite a failed or missing verdict; audited.")
    ] = False,
    reason: Annotated[str, typer.Option(help="Reason, kept with the promotion.")] = "",
    person: Person = None,
    as_json: Json = False,
) -> None:
    """Promote a version to champion, the model in use. A running server uses it within seconds."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        by = acting(workspace, person, "project_id", project_id, "admin")
        version = _find_version(workspace, project_id, model)
        promotion = promotions.promote(workspace, project_id, version.id, by=by, force=force, reason=reason)
    if as_json:
        emit({"model_id": version.id, "label": version.label, "promotion_id": promotion.id, "kind": promotion.kind})
    else:
        output.print(f"{version.label} is now the champion of {project}.")


@models.command()
def rollback(
    project: Project = DEFAULT_NAME,
    reason: Annotated[str, typer.Option(help="Reason, kept with the promotion.")] = "",
    person: Person = None,
    as_json: Json = False,
) -> None:
    """Roll back to the previous champion."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        by = acting(workspace, person, "project_id", project_id, "admin")
        promotion = promotions.rollback(workspace, project_id, by=by, reason=reason)
        version = _find_version(workspace, project_id, promotion.version_id)
    if as_json:
        emit({"model_id": version.id, "label": version.label, "promotion_id": promotion.id})
    else:
        output.print(f"{version.label} is the champion of {project} again.")


@models.command()
def prune(
    project: Project = DEFAULT_NAME,
    keep: Annotated[int, typer.Option(min=0, help="Number of newest versions whose weights stay.")] = pruning.KEPT,
    yes: Annotated[bool, typer.Option("--yes", help="Delete; without it, only list what would be deleted.")] = False,
    person: Person = None,
    as_json: Json = False,
) -> None:
    """Delete the weights of old versions; figures, runs and answers stay.

    The champion, the version that a rollback would return to, versions that passed against the champion, and the newest
    versions keep theirs. A version without weights cannot answer, be promoted or be trained from any more, and runs
    that made it or began with it cannot be reproduced.
    """
    with here() as workspace:
        project_id = project_named(workspace, project).id
        by = acting(workspace, person, "project_id", project_id, "admin")
        choose = pruning.prune if yes else pruning.prunable
        pruned: list[pruning.PrunedVersion] = []
        try:
            for version in choose(workspace, project_id, by=by, keep=keep):
                pruned.append(version)
                if not as_json:  # as it goes, so that those before an error are named
                    output.print(f"{version.label}: {count(version.files, 'file')}, {version.bytes / 1e6:.1f} MB")
        finally:
            if as_json and (pruned or not sys.exception()):
                emit({"deleted": yes, "models": [version.model_dump() for version in pruned]})
    if as_json:
        return
    if not pruned:
        output.print(f"No weights of {project} can be deleted.")
        return
    total = f"{count(len(pruned), 'model')}, {sum(version.bytes for version in pruned) / 1e6:.1f} MB"
    sentence = f"Deleted the weights of {total}." if yes else f"Would delete the weights of {total}. Delete with --yes."
    output.print(sentence)


@models.command()
def remove(
    model: Annotated[str, typer.Argument(help="Label, as v3, or id.")],
    project: Project = DEFAULT_NAME,
    yes: Annotated[bool, typer.Option("--yes", help="Delete; without it, only say what would be deleted.")] = False,
    person: Person = None,
    as_json: Json = False,
) -> None:
    """Delete the weights of one version that nothing needs, for good; its figures, runs and answers stay.

    The model in use and the one that a rollback would return to stay, as do weights that another version shares.
    While a retraining waits or runs, nothing is deleted.
    """
    with here() as workspace:
        project_id = project_named(workspace, project).id
        by = acting(workspace, person, "project_id", project_id, "admin", changes=False)
        choose = remove_version if yes else removable_version
        version = choose(workspace, project_id, model, by=by)
    if as_json:
        emit({"deleted": yes, "model": version.model_dump()})
        return
    weights = f"{version.label}: {count(version.files, 'file')}, {version.bytes / 1e6:.1f} MB"
    ending = "Deleted for good." if yes else "Would be deleted for good. Delete with --yes."
    output.print(f"Weights of {weights}. {ending}", soft_wrap=True)


def _find_version(workspace: Workspace, project_id: str, name: str) -> registry.VersionView:
    labels = []
    for version in every(lambda cursor: registry.versions(workspace, project_id, cursor=cursor)):
        if name in (version.id, version.label):
            return version
        labels.append(version.label)
    raise NotFound(f"The project has no model {name!r}. Choose from {', '.join(labels[:20])}.")


def _as_json(one: registry.VersionView) -> dict[str, Any]:
    return {
        "id": one.id,
        "label": one.label,
        "number": one.number,
        "parent_id": one.parent_id,
        "champion": one.champion,
        "created_at": one.created_at.isoformat(),
        "figures": one.figures,
        "snapshot_sha256": one.snapshot_sha256,
        "optimizer": one.optimizer,
        "missing": one.missing,
    }


def _figure(figures: dict[str, Any], holdout: str, name: str = "mean_iou") -> str:
    value = figures.get(holdout, {}).get(name)
    return "" if value is None else f"{value:.3f}"
