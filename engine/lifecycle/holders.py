"""What holds documents: what was frozen stays as it is, so such a document cannot be deleted for good."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import select

from db.tables import Run, Snapshot
from engine.datasets.manifest import canonical, documents_of, files_naming_people, left_out_of, parts_of, whole
from engine.errors import NotFound, Refused
from engine.training.retraining.run_settings import UNLABELLED_LIST
from engine.workspace import Workspace


def find_holders(
    workspace: Workspace, project_id: str, ids: Collection[str], since: datetime | None = None
) -> dict[str, list[str]]:
    """Return what holds some documents of a project, by document, oldest first, each as a sentence names it.

    Holders are snapshots, and the lists of pages without labels of runs. Reads their files: seconds in a large project.

    Args:
        workspace: Open workspace.
        project_id: The project.
        ids: Ids of the documents.
        since: Only look at what was frozen from then on.
    """
    wanted = set(ids)
    holders: dict[str, list[str]] = defaultdict(list)
    if not wanted:
        return holders
    of_snapshots = select(Snapshot).where(Snapshot.project_id == project_id)
    of_runs = select(Run).where(Run.project_id == project_id)
    if since is not None:
        of_snapshots = of_snapshots.where(Snapshot.created_at >= since)
        of_runs = of_runs.where(Run.created_at >= since)
    with workspace.database.read() as session:
        snapshots = session.scalars(of_snapshots.order_by(Snapshot.created_at, Snapshot.id)).all()
        runs = session.scalars(of_runs.order_by(Run.created_at, Run.id)).all()
    of_files: dict[str, set[str]] = {}
    for snapshot in snapshots:
        try:
            named = documents_of(workspace, snapshot.sha256, of_files, wanted)
        except NotFound:  # a file of it is missing: it holds nothing that could be read
            continue
        for document_id in named:
            holders[document_id].append(f"the snapshot {snapshot.sha256[:12]} of {snapshot.created_at:%Y-%m-%d}")
    for run in runs:
        for document_id in documents_listed_by(workspace, run.settings.get(UNLABELLED_LIST)) & wanted:
            holders[document_id].append(f"the list of pages without labels of the run of {run.created_at:%Y-%m-%d}")
    return holders


def find_answers_kept(workspace: Workspace, project_id: str, questions: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the snapshots of a project that keep answers to some questions, by question, oldest first.

    Each is named as in `find_holders`. Reads their files.

    Args:
        workspace: Open workspace.
        project_id: The project.
        questions: Texts by id.
    """
    with workspace.database.read() as session:
        of_project = select(Snapshot).where(Snapshot.project_id == project_id)
        snapshots = session.scalars(of_project.order_by(Snapshot.created_at, Snapshot.id)).all() if questions else []
    keeping: dict[str, list[str]] = defaultdict(list)
    for snapshot in snapshots:
        try:
            asked = {str(row["question_id"]) for part in parts_of(workspace, snapshot.sha256) for row in part["items"]}
            texts = {row.question for row in left_out_of(workspace, snapshot.sha256)}
        except NotFound:  # a file of it is missing: it keeps nothing that could be read
            continue
        for question_id, text in questions.items():
            if question_id in asked or text in texts:
                keeping[question_id].append(f"the snapshot {snapshot.sha256[:12]} of {snapshot.created_at:%Y-%m-%d}")
    return keeping


def snapshots_naming(workspace: Workspace, name: str) -> list[str]:
    """Return the snapshots that name a person, oldest first, each as a sentence names it. Reads their files."""
    written = canonical(name)
    with workspace.database.read() as session:
        snapshots = session.scalars(select(Snapshot).order_by(Snapshot.created_at, Snapshot.id)).all()
    files: dict[str, bool] = {}  # whether it names the person, by file: snapshots share them
    naming = []
    for snapshot in snapshots:
        try:
            of_snapshot = files_naming_people(workspace, snapshot.sha256)
            for sha256 in of_snapshot - files.keys():
                files[sha256] = written in whole(workspace, sha256)
        except (NotFound, Refused):  # a file of it is missing or was changed: it names nobody that could be read
            continue
        if any(files[sha256] for sha256 in of_snapshot):
            naming.append(f"the snapshot {snapshot.sha256[:12]} of {snapshot.created_at:%Y-%m-%d}")
    return naming


def documents_listed_by(workspace: Workspace, sha256: str | None) -> set[str]:
    """Return the ids of the documents of a list of pages without labels (engine.training.unlabelled.frozen_pages)."""
    if sha256 is None:
        return set()
    try:
        content = json.loads(whole(workspace, sha256, of="the list of pages without labels"))
    except (NotFound, Refused):
        return set()
    return {str(page["document_id"]) for page in content["pages"]}
