"""`glossator check`: check database and files; compare what is stored twice, and correct it."""

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import typer
from sqlalchemy import select

from db.tables import Project
from engine.commands.common import console, emit, here, list_files, progress
from engine.documents.lists import search_texts as kept_texts
from engine.followers import checks as figures
from engine.lifecycle.stored_check import StoredCheck, check_stored
from engine.plurals import count
from engine.projects.projects import project_named
from engine.queries import is_project
from engine.tasks import kept_states
from engine.workspace import Workspace


@dataclass(slots=True)
class Differences:
    """What differs: states of tasks, figures, and entries of the search.

    Attributes:
        states: See `kept_states.Drift`.
        figures: Names of tables with ids of documents, questions or projects.
        skipped: Changes that a follower could not follow: its name, id of the change, error.
        texts: Documents with other search entries than names and words say.
        index: Whether the index over the search entries is whole.
    """

    states: kept_states.Drift
    figures: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, int, str]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    index: bool = True

    def __bool__(self) -> bool:
        return bool(self.states or self.figures or self.skipped or self.texts or not self.index)

    def sentences(self) -> list[str]:
        """Return one sentence for each kind of difference."""
        numbers = (
            (len(self.states.tasks), "state of a task", "states of tasks"),
            (len(self.states.counts), "count of tasks", "counts of tasks"),
            (len(self.states.editors), "editor of an answer", "editors of answers"),
            (len(self.states.parts), "shared task", "shared tasks"),
            (len(self.figures), "figure", "figures"),
            (len(self.texts), "search entry", "search entries"),
        )
        parts = [count(number, singular, plural) for number, singular, plural in numbers if number]
        sentences = [f"Differing: {', '.join(parts)}."] if parts else []
        sentences += [] if self.index else ["The search index is damaged."]
        names = sorted({f"{name} at change {change}: {error}" for name, change, error in self.skipped})
        return sentences + [f"A change could not be followed: {name}." for name in names]

    def as_json(self) -> dict[str, Any]:
        """Return what differs, for programs."""
        texts = {"documents": self.texts, "index": self.index}
        return {**asdict(self.states), "figures": self.figures, "skipped": self.skipped, **texts}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("check")(check)


def check(
    project: Annotated[
        str | None, typer.Option("--project", help="Name of the project: its states and figures alone, without files.")
    ] = None,
    read_files: Annotated[
        bool, typer.Option("--read-files", help="Read all files, and compare each with its SHA-256.")
    ] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Correct states, figures and search entries.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Check database, files, states of tasks, figures and search entries. Exits with 1 if anything is wrong.

    The database: SQLite's integrity check, and references between rows. Files: those that rows name and that are
    missing, and those that nothing names. States, figures and search entries are compared with answers and words.
    """
    with here() as workspace:
        chosen = project_named(workspace, project).id if project is not None else None
        stored = _check_stored(workspace, read_files) if chosen is None else None
        differences = _find(workspace, chosen)
        left = differences
        if rebuild and differences:
            if differences.states:
                kept_states.rebuild(workspace, chosen)
            if differences.texts or not differences.index:
                kept_texts.rebuild(workspace, chosen)
            for project_id in _projects(workspace, chosen):
                figures.rebuild(workspace, project_id)
            left = _find(workspace, chosen)
        address = workspace.blobs.address
    if as_json:
        files: dict[str, Any] = {"database": stored.database, "followers": stored.followers} if stored else {}
        files |= {"files": {"address": address, **asdict(stored.files)}} if stored else {}
        emit({**differences.as_json(), "left": left.as_json(), **files})
    else:
        sentence = " ".join(differences.sentences()) or "All states, figures and search entries are right."
        advice = " Corrected." if not left else " Run it again with --rebuild to correct this."
        console.print(sentence + (advice if differences else ""))
        if stored:
            _report(stored, address, read_files)
    if left or (stored is not None and stored.has_faults):
        raise typer.Exit(1)


def _check_stored(workspace: Workspace, read: bool) -> StoredCheck:
    with progress() as bar:
        task = bar.add_task("Reading files" if read else "Comparing names of files", total=None)
        return check_stored(workspace, read=read, on_blob=lambda _: bar.advance(task))


def _report(stored: StoredCheck, address: str, read: bool) -> None:
    for fault in stored.database:
        console.print(f"The database is damaged: {fault}. Restore a backup.", soft_wrap=True)
    for sentence in stored.followers:
        console.print(sentence, soft_wrap=True)
    files = stored.files
    console.print(
        f"{'Read' if read else 'Compared the names of'} {count(files.blobs, 'file')}, {files.bytes / 1e6:,.1f} MB, in "
        f"{address}. Nothing names {files.unnamed:,} of them ({files.unnamed_bytes / 1e6:,.1f} MB).",
        soft_wrap=True,
    )
    list_files(files.damaged, "damaged; restore it from a backup")
    list_files(files.missing, "missing; restore it from a backup")


def _find(workspace: Workspace, project_id: str | None) -> Differences:
    differences = Differences(kept_states.check(workspace, project_id))
    for each_id in _projects(workspace, project_id):
        differences.figures += figures.find_mismatches(workspace, each_id)
        differences.skipped += figures.skipped_changes(workspace, each_id)
    differences.texts = kept_texts.check(workspace, project_id)
    differences.index = kept_texts.index_is_whole(workspace)
    return differences


def _projects(workspace: Workspace, project_id: str | None) -> list[str]:
    if project_id is not None:
        return [project_id]
    with workspace.database.read() as session:
        return list(session.scalars(select(Project.id).where(is_project()).order_by(Project.id)))
