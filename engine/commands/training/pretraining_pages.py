"""What `glossator pretrain` reads before it trains: fillable forms, and documents without labels."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from engine.commands.common import console, fail, here, progress, settings_here
from engine.plurals import count
from engine.projects.projects import project_named

STOPPED = 3  # exit code of a run stopped by --at-most, without weights


def read_forms(forms: Path, out: Path) -> None:
    """Read the forms of a folder for a run; refuses a folder without forms before anything is trained."""
    from engine.training.pretraining.schedule import has_run
    from engine.training.sources.blank_forms import FORMS_FILE, kept_forms

    if not has_run(out):
        (out / FORMS_FILE).unlink(missing_ok=True)  # of another folder, left by a run that never began
    kept_forms(forms, out / FORMS_FILE)


def read_corpus(
    out: Path,
    folders: list[Path],
    project: str | None,
    *,
    cache: Path | None,
    long_side: int,
    first_pages: int | None,
    processes: int | None,
    cancelled: Callable[[], bool],
) -> Path:
    """Return the list of the run's corpus; reads the documents that are not kept yet."""
    from engine.documents.ingest import limits_of
    from engine.training.unlabelled.page_corpus import CORPUS_FILE, PageCorpus
    from engine.training.unlabelled.prepare import prepare_corpus
    from engine.training.unlabelled.reading import Reading

    (out / CORPUS_FILE).unlink(missing_ok=True)  # of other folders, left by a run that never began
    with ExitStack() as opened, progress() as bar:
        task = bar.add_task("reading documents", total=None)

        def show(reading: Reading) -> None:
            """Show the progress."""
            bar.update(task, completed=reading.done, total=reading.files)
            if reading.sentence is not None:
                console.print(reading.sentence)

        workspace = None if project is None else opened.enter_context(here())
        listed = prepare_corpus(
            out,
            folders=folders,
            project=None if workspace is None else (workspace, project_named(workspace, project or "").id),
            cache=cache,
            long_side=long_side,
            limits=limits_of(settings_here()),
            first_pages=first_pages,
            processes=processes,
            on_progress=show,
            cancelled=cancelled,
        )
    if listed is None:
        fail("Stopped while reading documents. Run the same command again to continue.", code=STOPPED)
    corpus = PageCorpus.load(listed)
    console.print(f"Corpus: {count(len(corpus), 'page')} of {count(corpus.documents, 'document')}.")
    return listed
