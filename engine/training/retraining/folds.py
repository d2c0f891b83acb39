"""Folds: every accepted document is judged by weights that have not learned from it (cross-validation).

A challenger is trained FOLDS times, each time without the documents of one fold. On a document of that fold, these
weights answer, and those of the champion that were trained without the same fold. So all accepted documents judge, and
none is kept from the model that people use: that one learns from all of them (refit.py).

Like pages lie in one group, and a group in one fold. A document with pages like those of two groups of one split
belongs to the older group, so its pages may be like pages of another fold; such documents are few.

Stone 1974, "Cross-Validatory Choice and Assessment of Statistical Predictions" (J. R. Statist. Soc. B 36).
"""

from dataclasses import replace

from sqlalchemy import select

from db.tables import ModelVersion, Snapshot
from engine.datasets.manifest import items_of
from engine.models.folds import FOLDS, fold_of
from engine.training.sources.corpus import Corpus
from engine.workspace import Workspace

FEWEST_DOCUMENTS = 5  # documents from which folds are made: fewer could not judge

__all__ = ["FOLDS", "are_made", "known_to", "without"]


def are_made(corpus: Corpus) -> bool:
    """Return whether a corpus has enough documents to be judged by folds, in at least two of them."""
    documents = {corpus.documents[page.page_id] for page in corpus.pages}
    return len(documents) >= FEWEST_DOCUMENTS and len({fold_of(corpus.group(page)) for page in corpus.pages}) > 1


def without(corpus: Corpus, fold: int) -> Corpus:
    """Return the corpus without the documents of a fold, those without labels included."""
    pages = tuple(page for page in corpus.pages if fold_of(corpus.group(page)) != fold)
    unlabelled = tuple(page for page in corpus.unlabelled if fold_of(page.group_id) != fold)
    return replace(corpus, pages=pages, unlabelled=unlabelled)


def known_to(workspace: Workspace, version: ModelVersion) -> set[str]:
    """Return the documents that cannot judge a version, because its weights learned from them.

    Empty for a version with folds and for the shipped one. Otherwise those of its snapshot and of all its parents': it
    began with weights in use, which had learned from all of theirs, also where they have folds.
    """
    if version.fold_sha256s:
        return set()
    known: set[str] = set()
    with workspace.database.read() as session:
        snapshots = []
        ancestor: ModelVersion | None = version
        while ancestor is not None:
            snapshots += [ancestor.snapshot_id] if ancestor.snapshot_id is not None else []
            ancestor = session.get(ModelVersion, ancestor.parent_id) if ancestor.parent_id is not None else None
        manifests = session.scalars(select(Snapshot.sha256).where(Snapshot.id.in_(snapshots))).all()
    for sha256 in manifests:
        known |= {item.document.id for item in items_of(workspace, sha256)}
    return known
