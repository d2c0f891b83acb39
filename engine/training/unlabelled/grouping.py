"""Group documents with like pages, so that near-duplicates are never parted between training and held-out documents.

Two documents belong together when a page of one is like a page of the other (page_signature.alike). Pages are compared
where they share a band of their signatures. Takes about a kilobyte of memory a page.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from engine.documents.duplicates.page_signature import Signature, alike, bands_of

_COMPARED = 8  # earlier pages of one band that a page is compared with: thousands of pages may share a letterhead


def groups_of(signatures: Mapping[str, Sequence[Signature]]) -> dict[str, str]:
    """Return the group of each document: the smallest id of the documents that belong together.

    `signatures`: of the pages of each document, by its id. Empty pages are like no other.
    """
    documents = sorted(signatures)
    pages = [(document, signature) for document in documents for signature in signatures[document]]
    parents = {document: document for document in documents}

    def root(document: str) -> str:
        """Return the group of a document so far."""
        while parents[document] != document:
            parents[document] = parents[parents[document]]
            document = parents[document]
        return document

    bands = [(band, place) for place, (_, signature) in enumerate(pages) for band in bands_of(signature, "")]
    if not bands:  # only empty pages
        return parents
    keys = np.array([band for band, _ in bands], np.int64)
    places = np.array([place for _, place in bands], np.int64)
    order = np.argsort(keys, kind="stable")
    keys, places = keys[order], places[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(keys)], strict=True):
        met = places[start:end].tolist()
        for at, place in enumerate(met):
            for earlier in met[max(0, at - _COMPARED) : at]:
                group, earlier_group = root(pages[place][0]), root(pages[earlier][0])
                if group != earlier_group and alike(pages[place][1], pages[earlier][1]):
                    parents[max(group, earlier_group)] = min(group, earlier_group)
    return {document: root(document) for document in documents}
