"""Prefilter of long documents: the pages that share words with the question."""

from collections.abc import Mapping, Sequence

from rapidfuzz import fuzz, utils
from sqlalchemy import select

from db.tables import Page, PageWord
from engine.workspace import Workspace

PAGES_ASKED = 8  # pages asked of a long document


def by_likelihood(workspace: Workspace, pages: Sequence[Page], question: str) -> list[str]:
    """Return page ids, likeliest first: by shared words when the document has more than PAGES_ASKED pages."""
    return rank_pages(workspace, pages, [question])[0]


def rank_pages(workspace: Workspace, pages: Sequence[Page], questions: Sequence[str]) -> list[list[str]]:
    """Return the page ids for each of several questions, as `by_likelihood` does; the words are read once."""
    if len(pages) <= PAGES_ASKED:
        return [[page.id for page in pages] for _ in questions]
    with workspace.database.read() as session:
        words = session.execute(
            select(PageWord.page_id, PageWord.text).where(
                PageWord.page_id.in_([page.id for page in pages]), PageWord.retired_at.is_(None)
            )
        ).all()
    texts: dict[str, list[str]] = {page.id: [] for page in pages}
    for page_id, text in words:
        texts[page_id].append(text)
    return rank_texts({page_id: " ".join(text) for page_id, text in texts.items()}, questions)


def rank_texts(texts: Mapping[str, str], questions: Sequence[str]) -> list[list[str]]:
    """Return the keys of the texts of pages for each question, likeliest first: by the words that they share."""
    printed = {page_id: utils.default_process(text) for page_id, text in texts.items()}
    ranked = []
    for question in questions:
        asked = utils.default_process(question)
        share = {page_id: fuzz.token_set_ratio(asked, text) for page_id, text in printed.items()}
        ranked.append(sorted(share, key=lambda page_id, share=share: -share[page_id]))  # type: ignore[misc]
    return ranked
