"""Prepare the corpus of a run of pretraining: folders and a project are kept, and their pages are listed for good."""

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.documents.limits import ReadLimits
from engine.training.unlabelled.page_corpus import CORPUS_FILE, PageCorpus
from engine.training.unlabelled.project_documents import keep_project
from engine.training.unlabelled.reading import Reading, folder_for, read_folders
from engine.workspace import Workspace

KEPT_FOLDER = "documents"  # in the folder of a run, unless another one is named


def prepare_corpus(
    run: Path,
    *,
    folders: Sequence[Path] = (),
    project: tuple[Workspace, str] | None = None,
    cache: Path | None = None,
    long_side: int,
    limits: ReadLimits,
    first_pages: int | None = None,
    processes: int | None = None,
    on_progress: Callable[[Reading], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Path | None:
    """Return the list of a run's corpus, made at first and read from `run` afterwards; None when cancelled.

    Args:
        run: Folder of the run.
        folders: Folders of documents.
        project: Open workspace, and the id of a project.
        cache: Folder of kept documents, which several runs may share; `run`/KEPT_FOLDER by default.
        long_side: Long side of the kept images, in pixels.
        limits: Limits on the reading of a file.
        first_pages: Pages taken of each document; None takes all.
        processes: Number of files read at once; by default the number of cores.
        on_progress: Called after each file.
        cancelled: Asked after each file.

    Raises:
        ValueError: A folder is missing, or no document is left.
        Refused: The project has no document to learn from.
        OSError: The disk is full.
    """
    listed = run / CORPUS_FILE
    if listed.is_file():
        return listed
    documents_folder = folder_for(cache or run / KEPT_FOLDER, limits, long_side=long_side, first_pages=first_pages)
    documents: set[str] = set()
    if folders:
        read = read_folders(
            folders,
            documents_folder,
            long_side=long_side,
            limits=limits,
            first_pages=first_pages,
            processes=processes,
            on_progress=on_progress,
            cancelled=cancelled,
        )
        if read is None:
            return None
        documents.update(read)
    if project is not None:
        own = keep_project(
            *project,
            documents_folder,
            long_side=long_side,
            first_pages=first_pages,
            on_progress=on_progress,
            cancelled=cancelled,
        )
        if own is None:
            return None
        documents.update(own)
    run.mkdir(parents=True, exist_ok=True)
    PageCorpus.of(documents_folder, documents).save(listed)
    return listed
